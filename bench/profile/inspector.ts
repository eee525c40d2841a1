/** V8's inspector in workerd, over its WebSocket (chromedevtools.github.io/devtools-protocol). */

export interface CallFrame {
  readonly functionName: string;
  /** Empty for what is no script. */
  readonly url: string;
  /** Both from 0; −1 for what is no script. */
  readonly lineNumber: number;
  readonly columnNumber: number;
}

export interface CpuNode {
  readonly id: number;
  readonly callFrame: CallFrame;
  readonly children?: readonly number[];
}

/** Profiler.Profile. The first node is the root. */
export interface CpuProfile {
  readonly nodes: readonly CpuNode[];
  /** Id of the node on top, sample by sample. */
  readonly samples: readonly number[];
  /** µs before each sample. */
  readonly timeDeltas: readonly number[];
}

/** HeapProfiler.SamplingHeapProfileNode. Sizes are bytes, scaled up from the samples. */
export interface HeapNode {
  readonly callFrame: CallFrame;
  readonly selfSize: number;
  readonly children: readonly HeapNode[];
}

export interface Inspector {
  /** @param during what is profiled. */
  cpu(during: () => Promise<void>): Promise<CpuProfile>;
  /** All that is allocated, with what the collector takes back meanwhile. */
  heap(during: () => Promise<void>): Promise<HeapNode>;
  close(): void;
}

const CPU_INTERVAL_US = 200;
const HEAP_INTERVAL_BYTES = 4096;

/** @throws Error when nobody listens, or the inspector refuses a command. */
export async function openInspector(port: number): Promise<Inspector> {
  const [target] = await (await fetch(`http://127.0.0.1:${port}/json`)).json();
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("the inspector cannot be reached"));
  });
  const pending = new Map<number, (message: { result?: unknown; error?: { message: string } }) => void>();
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(String(data));
    pending.get(message.id)?.(message);
    pending.delete(message.id);
  };
  let last = 0;
  const send = async (method: string, params: object = {}): Promise<unknown> => {
    const id = ++last;
    const answer = new Promise<{ result?: unknown; error?: { message: string } }>((resolve) =>
      pending.set(id, resolve),
    );
    socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await answer;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  await send("Profiler.enable");
  await send("Profiler.setSamplingInterval", { interval: CPU_INTERVAL_US });
  await send("HeapProfiler.enable");
  return {
    async cpu(during) {
      await send("Profiler.start");
      await during();
      return ((await send("Profiler.stop")) as { profile: CpuProfile }).profile;
    },
    async heap(during) {
      await send("HeapProfiler.startSampling", {
        samplingInterval: HEAP_INTERVAL_BYTES,
        includeObjectsCollectedByMajorGC: true,
        includeObjectsCollectedByMinorGC: true,
      });
      await during();
      return ((await send("HeapProfiler.stopSampling")) as { profile: { head: HeapNode } }).profile.head;
    },
    close: () => socket.close(),
  };
}
