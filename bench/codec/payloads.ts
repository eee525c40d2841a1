/** What the codec is measured on: classes of messages, each of many different ones of one shape. */
import { type Order, oneofFirst, shuffled } from "./wire-order.ts";

export interface PayloadClass {
  /** Shape and rough size of the JSON. */
  readonly name: string;
  readonly message: string;
  /** How many different ones take turns: one alone would flatter number caches and branch predictors. */
  readonly variants: number;
  /** Of the fields in the wire; such a class is decoded only. Default: that of their numbers. */
  readonly order?: Order;
  /** @param random the next number of 0 to 1. */
  create(random: () => number): unknown;
}

type Random = () => number;

const int = (random: Random, min: number, max: number): number => min + Math.floor(random() * (max - min + 1));
const pick = <T>(random: Random, values: readonly T[]): T => values[int(random, 0, values.length - 1)] as T;
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));

const NAMES = ["Ada Lovelace", "Grace Hopper", "Alan Turing", "Edsger Dijkstra", "Barbara Liskov", "Tony Hoare"];
const STREETS = ["Analytical Engine Way", "Compiler Lane", "Halting Street", "Structured Row", "Abstraction Road"];
const CITIES = ["London", "New York", "Manchester", "Rotterdam", "Los Angeles", "Oxford"];
const TAGS = ["mathematics", "computing", "poetry", "languages", "proofs", "navy", "logic"];

function user(random: Random, addresses: number): unknown {
  const name = pick(random, NAMES);
  return {
    id: String(int(random, 1e12, 9e12)),
    name,
    email: `${name.split(" ")[0]?.toLowerCase()}@example.com`,
    verified: true,
    status: pick(random, ["STATUS_ACTIVE", "STATUS_SUSPENDED"]),
    age: int(random, 18, 99),
    score: rounded(random() * 99 + 0.5, 1),
    addresses: times(addresses, (i) => ({
      street: `${i} ${pick(random, STREETS)}`,
      city: pick(random, CITIES),
      country: pick(random, ["GB", "US", "NL"]),
      zip: int(random, 10000, 99999),
      lat: rounded(40 + random() * 15, 4),
      lng: rounded(-random() * 2 - 0.1, 4),
    })),
    tags: times(3, () => pick(random, TAGS)),
    attributes: { theme: pick(random, ["dark", "light"]), locale: "en-GB", plan: pick(random, ["free", "enterprise"]) },
    avatarHash: btoa(String.fromCharCode(...times(19, () => int(random, 0, 255)))),
    createdAtMs: String(int(random, 1.6e12, 1.8e12)),
    bio: "Enchantress of numbers. ".repeat(addresses),
    scores: [int(random, 1, 9), 2, int(random, 1, 99), int(random, 200, 999), int(random, 1e4, 9e4)],
  };
}

const SENTENCES = [
  'Augusta Ada King était une mathématicienne \u2014 "the first programmer".\n',
  "\tШироко известна работой над аналитической машиной Бэббиджа.\r\n",
  "「エイダ・ラブレス」は19世紀のイギリスの数学者。",
  'Path: C:\\engine\\notes "G" \u2014 πίνακας Bernoulli.\u0001 ',
  "Ünïcödé façade naïve coöperate résumé piñata. ",
  "她被认为是第一位程序员。 😀🚀 ",
];

function foreignUser(random: Random): unknown {
  return {
    id: String(int(random, 1, 99)),
    name: pick(random, ["Ada Lovelace née Byron", "Kurt Gödel", "Андрей Ершов"]),
    email: "ada@exämple.com",
    tags: ["数学", "вычисления", "ποίηση", '"quoted"\\path\\', pick(random, ["emoji 😀🚀", "👩‍💻", "naïve"])],
    attributes: { тема: "тёмная", línea: "a\tb\nc" },
    bio: times(6, () => pick(random, SENTENCES)).join(""),
  };
}

/** @param number one sample, of as many digits as the class has. */
function track(random: Random, length: number, number: (min: number, span: number) => number): unknown {
  return {
    id: `trk-${int(random, 1, 9)}`,
    points: times(length, () => ({ lat: number(51, 1), lng: number(-0.5, 1), t: int(random, 1, 100_000) })),
    samples: times(length, () => number(-100, 200)),
    counts: times(length, () => int(random, -1_000_000, 1_000_000)),
  };
}

export const payloadClasses: readonly PayloadClass[] = [
  { name: "user 500 B", message: "bench.v1.User", variants: 64, create: (random) => user(random, 1) },
  { name: "user 764 B", message: "bench.v1.User", variants: 64, create: (random) => user(random, 3) },
  { name: "user 7 kB", message: "bench.v1.User", variants: 64, create: (random) => user(random, 50) },
  { name: "utf8 and escapes", message: "bench.v1.User", variants: 64, create: foreignUser },
  {
    name: "doubles, 6 digits",
    message: "bench.v1.Track",
    variants: 64,
    create: (random) => track(random, 60, (min, span) => rounded(min + random() * span, 6)),
  },
  {
    name: "doubles, 17 digits",
    message: "bench.v1.Track",
    variants: 64,
    create: (random) => track(random, 60, (min, span) => min + random() * span),
  },
  {
    name: "list 1 MB",
    message: "bench.v1.UserList",
    variants: 3,
    create: (random) => ({ users: times(1310, () => user(random, 3)) }),
  },
  {
    name: "user 764 B, fields shuffled",
    message: "bench.v1.User",
    variants: 64,
    order: shuffled,
    create: (random) => user(random, 3),
  },
  {
    name: "event 1 kB, oneof as Go has it",
    message: "bench.v1.Event",
    variants: 64,
    order: oneofFirst,
    create: (random) => ({
      id: `evt-${int(random, 1e6, 9e6)}`,
      source: pick(random, TAGS),
      sequence: int(random, 1, 1e6),
      signedUp: user(random, 3),
    }),
  },
];
