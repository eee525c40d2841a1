/** The dev server: the Worker in workerd, in front of any backend, serving any schema. */
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { createGateway } from "../image-gateway.ts";
import { markChecked } from "../route/mark-checked.ts";
import { writeImage } from "../schema/image-write.ts";
import { readSchema } from "../schema/read.ts";
import { readVariables } from "../variables.ts";
import { createOutbound, type Outbound } from "./outbound.ts";
import { explainPort } from "./port.ts";
import { type BackendWatch, watchBackends } from "./watch-backends.ts";
import { ENGINE, loadEngine, loadWorker, SCHEMA_IMAGE } from "./worker.ts";

/** Also in wrangler.toml. */
export const COMPATIBILITY_DATE = "2026-10-01";
export const COMPATIBILITY_FLAGS = ["enable_request_signal"];

/** Where the Worker stands among its modules; SCHEMA_IMAGE is seen from here. */
const ENTRY = "/src/index.js";

/** Name of the Worker through which fetches go where a backend speaks gRPC. */
const OUTBOUND = "outbound";

/** How workerd tells of an answer's body that failed; up to the error itself it speaks of its own source. */
const UNCAUGHT = /^Uncaught exception: \S+: failed: remote\.jsg\.Error: /;

export interface DevOptions {
  /** Bytes of a google.protobuf.FileDescriptorSet, or what `isthmus compile` makes of it. */
  readonly schema: Uint8Array;
  /** Variables of the Worker, `ISTHMUS_UPSTREAM` among them. Faults in rules are skipped unless they say otherwise. */
  readonly variables: Readonly<Record<string, string>>;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Told before anything is served: faults, services left out. */
  readonly warn: (message: string) => void;
  /** What the Worker logs while it serves, and why a backend does not answer. */
  readonly log: (message: string) => void;
}

export interface DevServer {
  /** `http://127.0.0.1:8787` */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * @returns when requests are answered.
 * @throws ConnectError invalid_argument for a schema or variables that cannot be served; PortTakenError.
 */
export async function startDevServer({ schema, host, port, warn, log, ...rest }: DevOptions): Promise<DevServer> {
  const variables = { ISTHMUS_ON_FAULT: "skip", ...rest.variables };
  // The Worker's own gateway is made by the first request: what it would refuse or warn of is told here and now.
  const image = writeImage(markChecked(readSchema(schema)));
  const options = readVariables(variables);
  createGateway({ ...options, schema: image, warn });
  const backends = Object.values(options.backends);
  const [worker, engine] = await Promise.all([loadWorker(), loadEngine()]);
  const outbound = await createOutbound(backends, log);
  let watch: BackendWatch | undefined;
  const runtime = { compatibilityDate: COMPATIBILITY_DATE, compatibilityFlags: COMPATIBILITY_FLAGS };
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      workers: [
        {
          name: "isthmus",
          modulesRoot: "/",
          modules: [
            { type: "ESModule", path: ENTRY, contents: worker },
            { type: "Data", path: new URL(SCHEMA_IMAGE, `file://${ENTRY}`).pathname, contents: image },
            { type: "CompiledWasm", path: new URL(ENGINE, `file://${ENTRY}`).pathname, contents: engine },
          ],
          bindings: variables,
          ...(outbound && { outboundService: OUTBOUND }),
          ...runtime,
        },
        ...(outbound ? [{ ...outboundWorker(outbound), ...runtime }] : []),
      ],
      host,
      port,
      cf: false,
      log: new Log(LogLevel.NONE),
      handleStructuredLogs: ({ level, message }) => {
        if (level === "warn") return;
        log(message.replace(UNCAUGHT, "an answer broke off: "));
        watch?.hear(message);
      },
      telemetry: { enabled: false },
    }),
  );
  const close = async () => {
    try {
      await miniflare.dispose();
    } finally {
      await outbound?.close();
    }
  };
  try {
    const { port: bound } = await miniflare.ready;
    const url = `http://${host.includes(":") ? `[${host}]` : host}:${bound}`;
    const health = await miniflare.dispatchFetch(`${url}/healthz`);
    if (!health.ok) throw new Error(`the Worker does not answer: ${health.status} ${await health.text()}`);
    watch = watchBackends(backends, log);
    return { url, close };
  } catch (error) {
    // Miniflare rejects with the same error once more.
    await close().catch(() => undefined);
    throw explainPort(error, port);
  }
}

function outboundWorker({ script, bindings }: Outbound) {
  return {
    name: OUTBOUND,
    modulesRoot: "/",
    modules: [{ type: "ESModule" as const, path: "/outbound.js", contents: script }],
    bindings,
  };
}
