/** protobufjs 7 through @grpc/proto-loader, as grpc-js uses it. */
import { loadFileDescriptorSetFromBuffer, type MethodDefinition, type ServiceDefinition } from "@grpc/proto-loader";
import { battery } from "./battery.ts";
import { startHttpBackend } from "./http-backend.ts";
import { itReplacesSplitRecords } from "./replaces.ts";
import { REASON, shopSet } from "./shop.ts";

const shop = loadFileDescriptorSetFromBuffer(Buffer.from(shopSet))["shop.v1.Shop"] as ServiceDefinition;
const methods: readonly MethodDefinition<object, object>[] = Object.values(shop);

function methodOf(name: string): MethodDefinition<object, object> {
  const method = methods.find(({ originalName }) => originalName === name);
  if (!method) throw new Error(`no method ${name}`);
  return method;
}

itReplacesSplitRecords((wire) => methodOf("updateBook").requestDeserialize(Buffer.from(wire)));

battery(
  await startHttpBackend({
    echo: new Map(
      methods.map((method) => [
        method.path,
        (wire) => method.responseSerialize(method.requestDeserialize(Buffer.from(wire))),
      ]),
    ),
    reason: methodOf("explain").responseSerialize({ why: REASON.why, limit: String(REASON.limit) }),
  }),
);
