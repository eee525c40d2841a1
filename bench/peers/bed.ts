/** What every bench over the network stands on: the programs, the schema, a backend that runs, and an end to all of it. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileProtos } from "../../src/node/protos.ts";
import { CORE, type Started, start } from "./process.ts";
import { ITEM, readShop, type Shop } from "./shop.ts";
import { buildGo, type GoPrograms, layProtos } from "./toolchain.ts";

export interface Bed {
  readonly go: GoPrograms;
  /** A FileDescriptorSet with peers.proto. */
  readonly set: Uint8Array;
  readonly shop: Shop;
  /** A folder that goes away afterwards. */
  readonly scratch: string;
  /** A file with an Item in binary. */
  readonly item: string;
  readonly backendPort: number;
  /** What is started is ended with the bed. */
  keep(started: Started): Started;
}

export async function withBed(use: (bed: Bed) => Promise<void>): Promise<void> {
  const protos = await layProtos();
  const go = await buildGo(protos);
  const set = await compileProtos(protos);
  const shop = readShop(set);
  const scratch = await mkdtemp(join(tmpdir(), "isthmus-peers-"));
  const running: Started[] = [];
  const keep = (started: Started): Started => {
    running.push(started);
    return started;
  };
  // Each of the processes is ended when this one is.
  process.setMaxListeners(30);
  try {
    const item = join(scratch, "item.bin");
    await writeFile(item, shop.toWire("Item", ITEM));
    const backend = keep(await start(CORE.others, go.program.backend, [item]));
    await use({ go, set, shop, scratch, item, backendPort: backend.port, keep });
  } finally {
    for (const { stop } of running) await stop();
    await rm(scratch, { recursive: true, force: true });
  }
}
