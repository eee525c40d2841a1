/** Where measurements are made: workerd, or this Node. */
import type { Core, Figures, HostileFigures } from "./core.ts";
import { heapPerCall } from "./heap.ts";
import { payloadClasses } from "./payloads.ts";

/** What a runtime tells of a payload class. */
export interface RuntimeFigures extends Figures {
  /** JavaScript heap taken by one call of ours, where it can be told; the bytes of the output lie outside of it. */
  readonly heapB?: number;
  /** The same by byte of JSON. */
  readonly heapBPerJsonByte?: number;
}

export interface Runtime {
  readonly name: "workerd" | "node";
  readonly version: string;
  payload(...args: Parameters<Core["payload"]>): Promise<RuntimeFigures>;
  hostile(...args: Parameters<Core["hostile"]>): Promise<HostileFigures>;
  stop(): Promise<void>;
}

/** Time of the processor, all threads of this process: what else the machine does stays out. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

export function nodeRuntime(core: Core): Runtime {
  return {
    name: "node",
    version: process.version,
    async payload(operation, name) {
      const figures = core.payload(operation, name);
      const payload = payloadClasses.find((each) => each.name === name);
      if (payload === undefined) return figures;
      const { runs, jsonBytes } = core.subjects(operation, payload);
      const heapB = heapPerCall(runs.ours, payload.variants);
      return { ...figures, heapB, heapBPerJsonByte: heapB / jsonBytes };
    },
    async hostile(operation, name) {
      return core.hostile(operation, name);
    },
    stop: async () => undefined,
  };
}
