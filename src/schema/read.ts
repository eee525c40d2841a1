/** Reads the model from wherever it may come: a schema image, a google.protobuf.FileDescriptorSet, or generated files. */
import {
  createFileRegistry,
  createRegistry,
  type DescFile,
  type DescMethod,
  type Registry as DescRegistry,
  type DescService,
  fromBinary,
} from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import {
  type FileDescriptorProto,
  FileDescriptorSetSchema,
  MethodOptions_IdempotencyLevel,
} from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { builtinMessage } from "./builtin.ts";
import { checkSet } from "./check-set.ts";
import { isImage, readImage } from "./image-read.ts";
import type { Message, Method, Schema, Service } from "./model.ts";
import { createMessageReader } from "./read-message.ts";
import { createRuleReader, type RuleReader } from "./read-rule.ts";

/**
 * Where a schema comes from: bytes that `isthmus compile` has written; bytes of a FileDescriptorSet or a buf image, with
 * every import; or files as @bufbuild/protobuf generates them, whose imports are known to them.
 */
export type SchemaSource = Uint8Array | ArrayBuffer | DescFile | readonly DescFile[];

/** @throws ConnectError invalid_argument when bytes are neither a whole image nor a complete set. */
export function readSchema(source: SchemaSource): Schema {
  const bytes = source instanceof ArrayBuffer ? new Uint8Array(source) : source;
  if (bytes instanceof Uint8Array && isImage(bytes)) return readImage(bytes);
  try {
    if (bytes instanceof Uint8Array) return readSet(bytes);
    return readFiles("kind" in bytes ? [bytes] : bytes);
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : String(error));
  }
}

function readSet(bytes: Uint8Array): Schema {
  const set = fromBinary(FileDescriptorSetSchema, bytes);
  checkSet(set);
  const registry = createFileRegistry(set);
  const files = [...registry.files];
  return buildSchema(files, registry, importedFiles(files.map((file) => file.proto)));
}

function readFiles(named: readonly DescFile[]): Schema {
  const files = new Set<DescFile>();
  const add = (file: DescFile): void => {
    if (files.has(file)) return;
    file.dependencies.forEach(add);
    files.add(file);
  };
  named.forEach(add);
  const imports = [...files].filter((file) => !named.includes(file)).map((file) => file.proto.name);
  return buildSchema([...files], createRegistry(...files), new Set(imports));
}

function buildSchema(files: readonly DescFile[], registry: DescRegistry, imports: ReadonlySet<string>): Schema {
  const messages = createMessageReader(registry);
  const rules = createRuleReader(registry);
  const services = files.flatMap((file) => file.services.map((desc) => readService(desc, messages.read, rules)));
  const named = services.filter((service) => !imports.has(service.file)).map((service) => service.name);
  return {
    services,
    named: new Set(named),
    message(fullName) {
      const desc = registry.getMessage(fullName);
      return desc ? messages.read(desc) : builtinMessage(fullName);
    },
    messages: () => [...registry].filter((desc) => desc.kind === "message").map((desc) => messages.read(desc)),
  };
}

function invalid(reason: string): ConnectError {
  return new ConnectError(`not a usable google.protobuf.FileDescriptorSet: ${reason}`, Code.InvalidArgument);
}

function readService(desc: DescService, message: (desc: DescMethod["input"]) => Message, rules: RuleReader): Service {
  const methods: Method[] = [];
  const service: Service = { name: desc.typeName, file: desc.file.proto.name, methods };
  for (const method of desc.methods) {
    const line = methodLine(desc, method);
    methods.push({
      name: method.name,
      service,
      path: `/${desc.typeName}/${method.name}`,
      kind: KINDS[method.methodKind],
      idempotency: IDEMPOTENCY[method.idempotency],
      input: message(method.input),
      output: message(method.output),
      rules: rules(method),
      ...(line === undefined ? {} : { line }),
    });
  }
  return service;
}

const KINDS = {
  unary: "unary",
  server_streaming: "server-stream",
  client_streaming: "client-stream",
  bidi_streaming: "bidi",
} as const;

const IDEMPOTENCY = {
  [MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN]: "unknown",
  [MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS]: "no-side-effects",
  [MethodOptions_IdempotencyLevel.IDEMPOTENT]: "idempotent",
} as const;

/** Source info addresses a method by its path in the file: field 6 (service), its index, field 2 (method), its index. */
function methodLine(service: DescService, method: DescMethod): number | undefined {
  const path = [6, service.file.services.indexOf(service), 2, service.methods.indexOf(method)];
  const location = service.file.proto.sourceCodeInfo?.location.find(
    (location) => location.path.length === path.length && location.path.every((step, i) => step === path[i]),
  );
  return location?.span[0] === undefined ? undefined : location.span[0] + 1;
}

/** buf.alpha.image.v1 marks every file of an image with this extension of FileDescriptorProto; its field 1 is is_import. */
const BUF_EXTENSION = 8042;

/**
 * Files that are in the set as imports only. buf says which; in a set that buf did not make, those that another file
 * of the set imports.
 */
function importedFiles(files: readonly FileDescriptorProto[]): ReadonlySet<string> {
  const marks = files.map((file) => ({ file, mark: file.$unknown?.find((field) => field.no === BUF_EXTENSION)?.data }));
  if (marks.some(({ mark }) => mark !== undefined)) {
    return new Set(marks.filter(({ mark }) => mark && isImport(mark)).map(({ file }) => file.name));
  }
  return new Set(files.flatMap((file) => file.dependency));
}

/** @param mark the extension's bytes, length first: `is_import = true` is the record 08 01, and buf writes it first. */
function isImport(mark: Uint8Array): boolean {
  const [number, value] = new BinaryReader(mark).bytes();
  return number === 0x08 && value === 0x01;
}
