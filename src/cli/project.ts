/** The files of a new project, as text. */

export interface ProjectSettings {
  /** Of the npm package and of the Worker. */
  readonly name: string;
  /** What package.json says for "isthmus". */
  readonly isthmus: string;
  /** Versions. */
  readonly wrangler: string;
  readonly typescript: string;
  /** Packages that bring Node's program, for those whose own is too old; version by name. */
  readonly node: Readonly<Record<string, string>>;
}

/** @returns text by path. */
export function projectFiles(settings: ProjectSettings): Readonly<Record<string, string>> {
  return {
    "README.md": readme(settings),
    "package.json": manifest(settings),
    "wrangler.toml": wranglerConfig(settings),
    "tsconfig.json": TSCONFIG,
    // The tools ask for Node >= 22; npm scripts run on the Node that optionalDependencies bring.
    ".npmrc": "loglevel=error\n",
    ".gitignore": "node_modules/\ngen/\n.wrangler/\n.dev.vars\n",
    "proto/greeting/v1/greeting.proto": PROTO,
    "src/index.ts": WORKER,
    "src/bin.d.ts": IMAGE,
  };
}

function manifest({ name, isthmus, wrangler, typescript, node }: ProjectSettings): string {
  const content = {
    name,
    private: true,
    type: "module",
    scripts: {
      start: "wrangler dev",
      check: "isthmus check --schema proto && tsc",
      deploy: "isthmus check --schema proto && wrangler deploy",
    },
    dependencies: { isthmus },
    devDependencies: { typescript, wrangler },
    optionalDependencies: node,
    allowScripts: { esbuild: true, workerd: true },
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

function readme({ name }: ProjectSettings): string {
  return `# ${name}

A gateway: REST/JSON in, Connect out, from the annotations in \`proto/\`.

\`\`\`sh
npm install
npm start                  # http://localhost:8787, and again whenever a file of proto/ or src/ changes
npm run check              # the http rules of proto/, and the types of src/
npm run deploy -- --dry-run
npm run deploy             # to your account at Cloudflare
\`\`\`

Replace \`proto/greeting\` with your own .proto files, and write where your backend is into \`wrangler.toml\`. Until a
backend listens there, calls are answered with 503. Of a gRPC backend, here, that is the URL of
\`npx isthmus bridge --to http://127.0.0.1:50051\`, and the protocol is \`grpc\`.

\`\`\`sh
curl -s http://localhost:8787/healthz
curl -s http://localhost:8787/v1/greetings/ada
curl -s http://localhost:8787/v1/greetings -d '{"name": "ada", "text": "Good morning"}' -H 'content-type: application/json'
\`\`\`

\`npx isthmus routes --schema proto\` lists what is served, \`npx isthmus dev --help\` every option. Each can be set in
\`wrangler.toml\`.
`;
}

function wranglerConfig({ name }: ProjectSettings): string {
  return `name = "${name}"
main = "src/index.ts"
compatibility_date = "2026-10-01"
compatibility_flags = ["enable_request_signal"]
send_metrics = false
minify = true
keep_names = false

# proto/ is compiled to gen/schema.bin, and again whenever a file in it changes under \`wrangler dev\`.
[build]
command = "npx isthmus compile --schema proto --out gen/schema.bin"
watch_dir = ["proto", "src"]

# A library behind our errors asks for it, and looking it up costs an isolate of workerd 5 ms of its start.
[define]
process = "undefined"

# Your backend, and any option of the gateway: emitDefaults is ISTHMUS_EMIT_DEFAULTS.
[vars]
ISTHMUS_UPSTREAM = "http://127.0.0.1:8080"
ISTHMUS_UPSTREAM_PROTOCOL = "connect"

[observability]
enabled = true
`;
}

const TSCONFIG = `{
  "compilerOptions": {
    "target": "ES2024",
    "lib": ["ES2024", "DOM", "DOM.Iterable"],
    "types": [],
    "module": "ESNext",
    "moduleResolution": "Bundler",
    "strict": true,
    "skipLibCheck": true,
    "noEmit": true
  },
  "include": ["src"]
}
`;

const PROTO = `syntax = "proto3";

package greeting.v1;

import "google/api/annotations.proto";

service GreetingService {
  // GET /v1/greetings/ada: what the path holds becomes the field \`name\`.
  rpc GetGreeting(GetGreetingRequest) returns (Greeting) {
    option idempotency_level = NO_SIDE_EFFECTS;
    option (google.api.http) = {get: "/v1/greetings/{name}"};
  }

  // POST /v1/greetings with {"name": …, "text": …}: the body is the field \`greeting\`.
  rpc CreateGreeting(CreateGreetingRequest) returns (Greeting) {
    option (google.api.http) = {
      post: "/v1/greetings"
      body: "greeting"
    };
  }
}

message Greeting {
  string name = 1;
  string text = 2;
}

message GetGreetingRequest {
  string name = 1;
  // Whatever is in neither path nor body comes by the query: ?language=fr
  string language = 2;
}

message CreateGreetingRequest {
  Greeting greeting = 1;
}
`;

const WORKER = `import { createGateway, type Gateway, readVariables } from "isthmus/image";
import schema from "../gen/schema.bin";

/** One per isolate, made by its first request. */
let gateway: Gateway | undefined;

export default {
  async fetch(request: Request, env: Record<string, unknown>): Promise<Response> {
    if (/^https?:\\/\\/[^/]+\\/healthz$/.test(request.url)) return new Response("ok\\n");
    // Options that are no plain values, such as policies and filters, stand here beside those of wrangler.toml.
    gateway ??= createGateway({ schema, ...readVariables(env) });
    return gateway.fetch(request);
  },
};
`;

const IMAGE = `/** What \`isthmus compile\` writes; wrangler bundles files of this name as they are. */
declare module "*.bin" {
  const bytes: ArrayBuffer;
  export default bytes;
}
`;
