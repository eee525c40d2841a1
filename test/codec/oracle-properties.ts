/** What is asked of the codec for any message of any schema: by the test in short, by `npm run fuzz` at length. */
import { type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import fc, { type Arbitrary } from "fast-check";
import type { Message } from "../../src/schema/model.ts";
import { jsonDamage, wireDamage } from "./damage.ts";
import { jsonOf } from "./json-arbitrary.ts";
import type { Oracle, Subject, Verdict } from "./oracle.ts";
import { order, reordered } from "./reordered.ts";
import { messageWire } from "./wire-arbitrary.ts";

export const PROPERTIES = [
  "encode",
  "decode",
  "count what is unknown",
  "encode what is damaged",
  "decode what is damaged",
] as const;
export type PropertyName = (typeof PROPERTIES)[number];

/** How often each verdict was given. */
export type Tally = Map<Verdict, number>;

const WELL_KNOWN = ["Duration", "Value", "Empty", "Int64Value", "Struct"].map((name) => `google.protobuf.${name}`);
const JSON_ANYS: readonly unknown[] = [
  {},
  { "@type": "type.googleapis.com/google.protobuf.Duration", value: "1.5s" },
  { value: { a: [null, 1] }, "@type": "type.googleapis.com/google.protobuf.Struct" },
  { "@type": "type.googleapis.com/google.protobuf.Int64Value", value: "7" },
];

const print = fc.record({
  emitDefaults: fc.boolean(),
  useProtoFieldName: fc.boolean(),
  enumAsInteger: fc.boolean(),
  int64AsNumber: fc.boolean(),
});
const unknownFields = fc.constantFrom("error" as const, "ignore" as const);

/** JSON text, with and without space, characters as they are or escaped. */
function spelt(json: Arbitrary<unknown>): Arbitrary<string> {
  return fc.tuple(json, fc.constantFrom(0, 0, 1), fc.boolean()).map(([json, indent, escapes]) => {
    const text = JSON.stringify(json, undefined, indent);
    if (!escapes) return text;
    return text.replace(/[^\n -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  });
}

/** As if they were no members, but independent of one another. */
function membersOf(message: Message): Message {
  const members = message.oneofs.flatMap(({ fields }) => fields);
  return { name: message.name, fields: members.map(({ oneof, ...field }) => field), oneofs: [] };
}

/** As backends write it: fields in order, each message in one record. */
function tidied(desc: DescMessage, wire: Uint8Array): Uint8Array {
  const message = fromBinary(desc, wire);
  try {
    return toBinary(desc, message);
  } catch {
    // A required field is missing.
    return wire;
  }
}

/** Asks about so many random inputs. @returns what is wrong, shrunk; undefined when nothing is. */
export type Question = (seed: number, numRuns: number) => string | undefined;

function question<T>(inputs: Arbitrary<T>, predicate: (input: T) => boolean): Question {
  return (seed, numRuns) =>
    fc.defaultReportMessage(fc.check(fc.property(inputs, predicate), { seed, numRuns, includeErrorInReport: true }));
}

/**
 * @param descs the messages to draw from.
 * @param tally gets the verdicts.
 */
export function questions(
  oracle: Oracle,
  descs: readonly DescMessage[],
  tally: Tally,
): Readonly<Record<PropertyName, Question>> {
  const subjects = descs.map(oracle.subject);
  const subject = fc.nat(subjects.length - 1).map((i) => subjects[i] as Subject);
  const anyTypes = [...descs, ...WELL_KNOWN.map((name) => oracle.registry.getMessage(name)).filter((desc) => !!desc)];

  const jsonAny = fc.oneof(
    fc.constantFrom(...JSON_ANYS),
    subject.chain(({ message }) =>
      jsonOf(message, 1, fc.constant({})).map((json) => ({
        ...(json as object),
        "@type": `type.googleapis.com/${message.name}`,
      })),
    ),
  );
  const jsonText = ({ message }: Subject) => spelt(jsonOf(message, 3, jsonAny));
  /** Members of oneofs, several of one too. */
  const clashText = ({ message }: Subject) => spelt(jsonOf(membersOf(message), 2, jsonAny));
  const wireOf = ({ desc }: Subject) => {
    const wire = messageWire(desc, 3, anyTypes);
    const tidy = wire.map((wire) => tidied(desc, wire));
    return fc.oneof(
      wire,
      tidy,
      fc.tuple(tidy, order).map(([wire, order]) => reordered(desc, wire, order)),
    );
  };

  function note(verdict: Verdict): Verdict {
    tally.set(verdict, (tally.get(verdict) ?? 0) + 1);
    return verdict;
  }

  return {
    encode: question(
      subject.chain((subject) => fc.tuple(fc.constant(subject), jsonText(subject))),
      ([subject, json]) => note(subject.encode(json)) === "same",
    ),
    decode: question(
      subject.chain((subject) => fc.tuple(fc.constant(subject), wireOf(subject), print)),
      ([subject, wire, print]) => ["same", "incomparable"].includes(note(subject.decode(wire, print))),
    ),
    "count what is unknown": question(
      subject.chain((subject) => fc.tuple(fc.constant(subject), wireOf(subject))),
      ([subject, wire]) => ["same", "incomparable"].includes(note(subject.countUnknown(wire))),
    ),
    "encode what is damaged": question(
      subject.chain((subject) => {
        const [json, clash] = [jsonText(subject), clashText(subject)];
        const damaged = fc.tuple(json, jsonDamage(fc.oneof(json, clash))).map(([json, damage]) => damage(json));
        return fc.tuple(fc.constant(subject), fc.oneof({ arbitrary: damaged, weight: 9 }, clash), unknownFields);
      }),
      ([subject, json, unknownFields]) => !note(subject.encode(json, unknownFields)).startsWith("only"),
    ),
    "decode what is damaged": question(
      subject.chain((subject) => {
        const damaged = fc.tuple(wireOf(subject), wireDamage).map(([wire, damage]) => damage(wire));
        return fc.tuple(fc.constant(subject), damaged, print);
      }),
      // The peer looks at text that a later record replaces, too.
      ([subject, wire, print]) => note(subject.decode(wire, print)) !== "only we refuse",
    ),
  };
}
