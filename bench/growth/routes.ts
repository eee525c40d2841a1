/** A schema with as many routes as one likes. */
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { compileProtos } from "../../src/node/protos.ts";
import { layProtos } from "../peers/toolchain.ts";

/** Routes that peers.proto has itself. */
const OWN = 5;

/** @returns a FileDescriptorSet of peers.proto, and of a service beside it that nobody calls. */
export async function compileRoutes(count: number, scratch: string): Promise<Uint8Array> {
  const folder = join(scratch, `routes-${count}`);
  await cp(await layProtos(), folder, { recursive: true });
  await writeFile(join(folder, "routes.proto"), formatProto(count - OWN));
  return compileProtos(folder);
}

function formatProto(count: number): string {
  const methods = Array.from({ length: count }, (_, i) => {
    const path = i % 2 === 0 ? `/v1/items/{id}/part${i}` : `/v1/other${i}/{id}`;
    return `  rpc Method${i}(peers.GetItemRequest) returns (peers.Item) {
    option (google.api.http) = {get: "${path}"};
  }
`;
  });
  return `syntax = "proto3";
package isthmus.bench.routes;
import "google/api/annotations.proto";
import "peers.proto";
service Routes {
${methods.join("")}}
`;
}
