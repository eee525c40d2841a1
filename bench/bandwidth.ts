/**
 * `npm run bench -- bandwidth`: the bytes of the same calls in each of the languages that callers speak, heads apart. Bodies
 * weigh the same in every run; the framing of chunks does not. `--write` puts the report into bench/results.
 */
import { gunzipSync, gzipSync } from "node:zlib";
import { type Bytes, exchange } from "./bandwidth/exchange.ts";
import { variedItems } from "./bandwidth/items.ts";
import { writeResults } from "./figures/results.ts";
import { formatTable } from "./figures/table.ts";
import { type Bed, withBed } from "./peers/bed.ts";
import { checkAnswer, type Dialect, formatCall, type HttpCall } from "./peers/dialect.ts";
import { type Ask, echo, FAIL, GET, watch } from "./peers/load.ts";
import { createWorkers, REST, startWorker } from "./peers/subject.ts";

interface Way {
  readonly name: string;
  readonly dialect: Dialect;
  readonly gzip: boolean;
}

const WAYS: readonly Way[] = [
  { name: "REST JSON", dialect: "rest", gzip: false },
  { name: "REST JSON, gzip", dialect: "rest", gzip: true },
  { name: "Connect binary", dialect: "connect-binary", gzip: false },
  { name: "gRPC-Web", dialect: "grpc-web", gzip: false },
];

/** Of the gateway that compresses. */
const COMPRESS_MIN_BYTES = 256;

const STREAM_MESSAGES = 1000;

const ASKS: Readonly<Record<string, Ask>> = {
  GET,
  "1 kB both ways": echo(variedItems(1)),
  "64 kB both ways": echo(variedItems(64)),
  "1 MB both ways": echo(variedItems(1000)),
  error: FAIL,
  "stream of 1,000 × 1 kB": watch(STREAM_MESSAGES),
};

export async function run({ write }: { readonly write: boolean }): Promise<void> {
  await withBed(async (bed) => {
    const worker = createWorkers(bed.backendPort, bed.set).find(({ name }) => name === REST);
    if (!worker) throw new Error(`there is no ${REST}`);
    const { entry, options } = worker;
    const plain = bed.keep(await startWorker(entry, bed.set, options));
    const compressing = { ...options, compressMinBytes: COMPRESS_MIN_BYTES };
    const compresses = bed.keep(await startWorker(entry, bed.set, compressing));
    const parts = [INTRO];
    for (const [name, ask] of Object.entries(ASKS)) {
      const rows: string[][] = [];
      for (const way of WAYS) {
        rows.push([way.name, ...format(await count(bed, (way.gzip ? compresses : plain).port, way, ask))]);
      }
      const head = ["", "body up", "head up", "body down", "head down", "all"];
      parts.push(`## ${name}\n`, formatTable([head, ...rows]));
    }
    const report = parts.join("\n");
    console.log(report);
    if (write) await writeResults({ "bandwidth.md": report });
  });
}

const INTRO =
  "# What calls weigh\n\n`npm run bench -- bandwidth`: bytes between caller and gateway, counted at the caller's socket; HTTP/1.1, a " +
  "connection for each call. Heads are the lines and fields of HTTP as Node's client and workerd write them, and the " +
  "framing of chunks. With gzip, requests with a body are compressed by zlib's default level, and answers by the gateway " +
  `(\`compressMinBytes: ${COMPRESS_MIN_BYTES}\`). An answer that the gateway left as it was is marked “not compressed”. ` +
  "The items of a batch have texts and numbers of their own, drawn from a small vocabulary, so gzip finds more in them than in " +
  "most real lists; those of the stream are all the same.\n";

/** @throws Error when the answer is not the one that was asked for. */
async function count(bed: Bed, port: number, { name, dialect, gzip }: Way, ask: Ask): Promise<[Bytes, boolean]> {
  const plain = formatCall(bed.shop, dialect, ask);
  const call = gzip ? compressCall(plain) : plain;
  const { status, encoding, body, bytes } = await exchange(port, call);
  if (status !== call.status) throw new Error(`${name}: status ${status} instead of ${call.status}`);
  checkAnswer(bed.shop, dialect, ask, encoding === "gzip" ? gunzipSync(body) : body);
  return [bytes, gzip && encoding !== "gzip"];
}

function compressCall(call: HttpCall): HttpCall {
  const header = { ...call.header, "accept-encoding": "gzip" };
  if (!call.body) return { ...call, header };
  return { ...call, body: gzipSync(call.body), header: { ...header, "content-encoding": "gzip" } };
}

function format([{ bodyUp, headUp, bodyDown, headDown }, leftAsItWas]: readonly [Bytes, boolean]): string[] {
  const numbers = [bodyUp, headUp, bodyDown, headDown, bodyUp + headUp + bodyDown + headDown].map(String);
  return numbers.map((text, i) => (i === 2 && leftAsItWas ? `${text}, not compressed` : text));
}
