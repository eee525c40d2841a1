/** What protoc holds of the files it writes, and protobuf-es takes for granted: names are names, and files differ. */
import { equals } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  type FileDescriptorSet,
} from "@bufbuild/protobuf/wkt";

/** `ident` and `fullIdent` of the language's grammar (https://protobuf.dev/reference/protobuf/proto3-spec/). */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const PACKAGE = /^(?:[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)?$/;

/** @throws Error naming the file, for a name that is none, and for two files of one name that are not the same. */
export function checkSet({ file: files }: FileDescriptorSet): void {
  const seen = new Map<string, FileDescriptorProto>();
  for (const file of files) {
    const first = seen.get(file.name);
    if (first && !equals(FileDescriptorProtoSchema, first, file)) {
      throw new Error(`${JSON.stringify(file.name)} is in it twice, with different contents`);
    }
    seen.set(file.name, file);
    if (!PACKAGE.test(file.package)) throw new Error(`${file.name}: ${JSON.stringify(file.package)} is no name`);
    for (const name of namesOf(file)) {
      if (!NAME.test(name)) throw new Error(`${file.name}: ${JSON.stringify(name)} is no name`);
    }
  }
}

function* namesOf(file: FileDescriptorProto): Generator<string> {
  for (const message of file.messageType) yield* namesOfMessage(message);
  for (const one of file.enumType) yield* namesOfEnum(one);
  for (const extension of file.extension) yield extension.name;
  for (const service of file.service) {
    yield service.name;
    for (const method of service.method) yield method.name;
  }
}

function* namesOfMessage(message: DescriptorProto): Generator<string> {
  yield message.name;
  for (const field of [...message.field, ...message.extension]) yield field.name;
  for (const oneof of message.oneofDecl) yield oneof.name;
  for (const one of message.enumType) yield* namesOfEnum(one);
  for (const nested of message.nestedType) yield* namesOfMessage(nested);
}

function* namesOfEnum({ name, value }: EnumDescriptorProto): Generator<string> {
  yield name;
  for (const one of value) yield one.name;
}
