/** Whose time it is: the self time of every frame, by room of the source. */
import type { CallFrame, CpuProfile } from "./inspector.ts";
import type { FindFile } from "./sources.ts";

export const ROOMS = [
  "codec",
  "protocol",
  "headers",
  "client",
  "upstream",
  "route",
  "gateway",
  "other JavaScript",
  "runtime, called from JavaScript",
  "runtime outside JavaScript",
  "garbage collection",
] as const;

export type Room = (typeof ROOMS)[number];

export interface Frame {
  readonly name: string;
  readonly room: Room;
  /** µs in itself, and with all that it calls. */
  readonly self: number;
  readonly total: number;
  readonly children: readonly Frame[];
}

const HEADERS = "src/protocol/metadata.ts";
/** V8's own words for what is no function. */
const NOBODYS: Readonly<Record<string, Room>> = {
  "(program)": "runtime outside JavaScript",
  "(garbage collector)": "garbage collection",
};
const IDLE = "(idle)";

/** The tree of calls, with equal frames of one caller put together, and without the time in which nothing was done. */
export function readFrames({ nodes, samples, timeDeltas }: CpuProfile, findFile: FindFile): Frame {
  const own = new Map<number, number>();
  for (const [i, id] of samples.entries()) own.set(id, (own.get(id) ?? 0) + (timeDeltas[i] ?? 0));
  const byId = new Map(nodes.map((node) => [node.id, node]));

  const read = (ids: readonly number[], callerFile: string | undefined): Frame => {
    const first = byId.get(ids[0] ?? 0)?.callFrame;
    if (!first) throw new Error("the profile names a node that it does not have");
    const file = findFile(first) ?? callerFile;
    const groups = new Map<string, number[]>();
    let self = 0;
    for (const id of ids) {
      self += own.get(id) ?? 0;
      for (const child of byId.get(id)?.children ?? []) {
        const frame = byId.get(child)?.callFrame;
        if (!frame || frame.functionName === IDLE) continue;
        const key = `${frame.functionName} ${frame.url}:${frame.lineNumber}:${frame.columnNumber}`;
        groups.set(key, [...(groups.get(key) ?? []), child]);
      }
    }
    const children = [...groups.values()].map((group) => read(group, file));
    const total = children.reduce((sum, child) => sum + child.total, self);
    return {
      name: first.functionName || "(anonymous)",
      room: roomOf(first, findFile, callerFile),
      self,
      total,
      children,
    };
  };
  return read(
    nodes.slice(0, 1).map(({ id }) => id),
    undefined,
  );
}

/** Room → its part of all time, 0 to 1. */
export function sharesOf(root: Frame): ReadonlyMap<Room, number> {
  const times = new Map<Room, number>(ROOMS.map((room) => [room, 0]));
  const add = (frame: Frame): void => {
    times.set(frame.room, (times.get(frame.room) ?? 0) + frame.self);
    for (const child of frame.children) add(child);
  };
  add(root);
  return new Map([...times].map(([room, time]) => [room, time / root.total]));
}

/** What metadata.ts calls of the runtime is the work on headers too: Headers is the runtime's. */
function roomOf(frame: CallFrame, findFile: FindFile, callerFile: string | undefined): Room {
  const nobodys = NOBODYS[frame.functionName];
  if (nobodys && frame.url === "") return nobodys;
  const file = findFile(frame);
  if (!file) return callerFile === HEADERS ? "headers" : "runtime, called from JavaScript";
  if (file === HEADERS) return "headers";
  if (file.startsWith("src/wasm/")) return "codec";
  const room = ROOMS.find((name) => file.startsWith(`src/${name}/`));
  if (room) return room;
  return file.startsWith("src/") || file.startsWith("test/cases/") ? "gateway" : "other JavaScript";
}
