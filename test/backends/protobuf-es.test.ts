/** protobuf-es behind connect-node. */
import http from "node:http";
import {
  create,
  createFileRegistry,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { battery } from "./battery.ts";
import { listen } from "./http-backend.ts";
import { FAILURE, REASON, shopSet } from "./shop.ts";

const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, shopSet));
const Reason = registry.getMessage("shop.v1.Reason") as DescMessage;

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

const adapter = connectNodeAdapter({
  grpc: false,
  grpcWeb: false,
  routes: (router) => {
    for (const method of registry.getService("shop.v1.Shop")?.methods.filter(isUnary) ?? []) {
      router.rpc(method, (message, { requestHeader, responseHeader, responseTrailer }) => {
        if (requestHeader.has("x-fail")) {
          const value = create(Reason, REASON as MessageInitShape<DescMessage>);
          throw new ConnectError(FAILURE.message, Code.ResourceExhausted, { "x-cost": "9" }, [{ desc: Reason, value }]);
        }
        for (const name of ["", "-bin"]) {
          const value = requestHeader.get(`x-ask${name}`);
          if (value !== null) responseHeader.set(`x-answer${name}`, value);
        }
        responseTrailer.set("x-end", "done");
        return message;
      });
    }
  },
});

battery(await listen(http.createServer(adapter)));
