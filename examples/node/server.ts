/**
 * The gateway as a library in Node, with a policy and a filter of its own, behind srvx's HTTP server:
 *
 *     npm run example:node -- set.binpb http://127.0.0.1:8080
 *
 * In a project of yours, import from "isthmus".
 */
import { readFile } from "node:fs/promises";
import { serve } from "srvx";
import { createGateway } from "../../src/gateway.ts";
import { createAccessLog } from "../policy/access-log.ts";
import { createRequireKey } from "../policy/require-key.ts";

const [set, upstream] = process.argv.slice(2);
if (!set || !upstream) throw new Error("give a descriptor set and the URL of a backend");

const gateway = createGateway({
  schema: await readFile(set),
  backends: { "*": { url: upstream } },
  policies: [createRequireKey({ keys: new Map([["secret", "demo"]]) })],
  filters: [createAccessLog((line) => console.log(line))],
});

const server = serve({ fetch: gateway.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT ?? 8787) });
await server.ready();
