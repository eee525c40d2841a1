/**
 * The measurements themselves, for every runtime.
 *
 * Ratios are taken within a round, where all subjects meet the same neighbours; the median over the rounds counts.
 */
import { createFileRegistry, type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createCodec } from "../../src/codec-api.ts";
import type { HostileInput } from "./hostile.ts";
import { hostileJson } from "./hostile-json.ts";
import { hostileWire } from "./hostile-wire.ts";
import { type Clock, median, usPerCall, warmUp } from "./pace.ts";
import { type PayloadClass, payloadClasses } from "./payloads.ts";
import { createRandom } from "./random.ts";
import { createSubjects, type Operation, type Run, SUBJECTS, type Subject, type Subjects } from "./subjects.ts";

const ROUNDS = 15;
const HOSTILE_ROUNDS = 5;
/** Users of the list that hostile bodies are held against: about 4 MiB of JSON. */
const ORDINARY_USERS = 5500;

export interface Figures {
  readonly operation: Operation;
  readonly payload: string;
  /** One call of ours, median. */
  readonly us: number;
  /** How many times faster than ours without WebAssembly. */
  readonly timesScript: number;
  /** How many times faster than @bufbuild/protobuf. */
  readonly timesProtobufEs: number;
  /** Time of ours over that of bare JSON. */
  readonly ofBare: number;
}

export interface HostileFigures {
  readonly operation: Operation;
  readonly payload: string;
  readonly refused: boolean;
  /** A byte of the input or of the output, whichever is longer. */
  readonly nsPerByte: number;
  /** Over that of an ordinary body as large. */
  readonly timesOrdinary: number;
}

/** What hostile bodies are compared by. */
interface Body {
  readonly run: Run;
  /** Of the input or the output, whichever is longer. */
  readonly bytes: number;
}

export class Core {
  readonly #registry: ReturnType<typeof createFileRegistry>;
  readonly #clock: Clock;

  /** @param set a FileDescriptorSet of the protos beside this file. */
  constructor(set: Uint8Array, clock: Clock) {
    this.#clock = clock;
    this.#registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, set));
  }

  /** @throws Error when ours and protobuf-es differ: then the time would mean nothing. */
  subjects(operation: Operation, payload: PayloadClass): Subjects {
    const random = createRandom(1);
    const values = Array.from({ length: payload.variants }, () => payload.create(random));
    return createSubjects(operation, this.#message(payload.message), values, payload.order);
  }

  payload(operation: Operation, name: string): Figures {
    const payload = payloadClasses.find((each) => each.name === name) as PayloadClass;
    const { runs } = this.subjects(operation, payload);
    const { variants } = payload;
    const calls = {} as Record<Subject, number>;
    for (const subject of SUBJECTS) calls[subject] = warmUp(this.#clock, runs[subject], variants);
    const times = Array.from({ length: ROUNDS }, (_, round) => {
      const time = {} as Record<Subject, number>;
      for (let i = 0; i < SUBJECTS.length; i++) {
        const subject = SUBJECTS[(i + round) % SUBJECTS.length] as Subject;
        time[subject] = usPerCall(this.#clock, runs[subject], calls[subject], variants);
      }
      return time;
    });
    return {
      operation,
      payload: name,
      us: median(times.map(({ ours }) => ours)),
      timesScript: median(times.map(({ ours, script }) => script / ours)),
      timesProtobufEs: median(times.map(({ ours, protobufEs }) => protobufEs / ours)),
      ofBare: median(times.map(({ ours, bare }) => ours / bare)),
    };
  }

  /** @throws Error when the input is not refused or taken as it should be: then the time would mean nothing. */
  hostile(operation: Operation, name: string): HostileFigures {
    const inputs = operation === "encode" ? hostileJson : hostileWire;
    const input = inputs.find((each) => each.name === name) as HostileInput;
    const hostile = this.#hostile(operation, input);
    const ordinary = this.#ordinary(operation);
    const [calls, ordinaryCalls] = [warmUp(this.#clock, hostile.run, 1), warmUp(this.#clock, ordinary.run, 1)];
    const times = Array.from({ length: HOSTILE_ROUNDS }, () => ({
      ns: (usPerCall(this.#clock, hostile.run, calls, 1) * 1000) / hostile.bytes,
      ordinaryNs: (usPerCall(this.#clock, ordinary.run, ordinaryCalls, 1) * 1000) / ordinary.bytes,
    }));
    return {
      operation,
      payload: name,
      refused: input.refused ?? false,
      nsPerByte: median(times.map(({ ns }) => ns)),
      timesOrdinary: median(times.map(({ ns, ordinaryNs }) => ns / ordinaryNs)),
    };
  }

  #hostile(operation: Operation, { name, create, refused = false, options }: HostileInput): Body {
    const codec = createCodec(this.#message("bench.v1.Tree"), options);
    const input = create();
    /** @returns nothing when it was refused. */
    function run(): Uint8Array | undefined {
      try {
        return codec[operation](input);
      } catch {
        return undefined;
      }
    }
    const output = run();
    if ((output === undefined) !== refused) throw new Error(`${operation} ${name} was ${refused ? "not " : ""}refused`);
    return { run, bytes: Math.max(input.length, output?.length ?? 0) };
  }

  #ordinary(operation: Operation): Body {
    const list = payloadClasses.find((each) => each.message === "bench.v1.UserList") as PayloadClass;
    const random = createRandom(1);
    const codec = createCodec(this.#message(list.message));
    const parts = Array.from({ length: 5 }, () => list.create(random) as { users: unknown[] });
    const users = parts.flatMap((part) => part.users).slice(0, ORDINARY_USERS);
    const json = new TextEncoder().encode(JSON.stringify({ users }));
    const input = operation === "encode" ? json : codec.encode(json);
    return { run: () => codec[operation](input), bytes: json.length };
  }

  #message(name: string): DescMessage {
    const desc = this.#registry.getMessage(name);
    if (!desc) throw new Error(`no message ${name}`);
    return desc;
  }
}
