/** The schemas that the oracle is asked about: Google's conformance messages, the catalogue's, and Google's own APIs. */
import { fileURLToPath } from "node:url";
import type { DescMessage } from "@bufbuild/protobuf";
import { readDescriptors } from "../cases/descriptors.ts";
import { compileSuite } from "../conformance/descriptors.ts";
import { APIS, type ApiName, loadApi } from "../strangers/apis.ts";
import { createOracle, type Oracle } from "./oracle.ts";

export interface Examinee {
  readonly oracle: Oracle;
  readonly descs: readonly DescMessage[];
}

/** Name → how it is made; all take less than a second. */
export const EXAMINEES: Readonly<Record<string, () => Promise<Examinee>>> = {
  conformance: async () => examinee(await compileSuite(), /^protobuf_test_messages\.(?:\w+\.)*TestAllTypes\w+$/),
  catalogue: async () => {
    const { set } = await readDescriptors(fileURLToPath(new URL("../cases/catalog.proto", import.meta.url)));
    // Not Names, whose JSON names are proto names of others: there protobuf-es does not know which one is meant.
    return examinee(set, /^catalog\.v1\.(?!Names$)/);
  },
  ...Object.fromEntries((Object.keys(APIS) as ApiName[]).map((name) => [name, () => stranger(name)])),
};

function examinee(set: Uint8Array, names: RegExp): Examinee {
  const oracle = createOracle(set);
  const messages = [...oracle.registry].filter((type) => type.kind === "message");
  return { oracle, descs: messages.filter(({ typeName }) => names.test(typeName)) };
}

/** What goes in and out of an API's methods. */
async function stranger(name: ApiName): Promise<Examinee> {
  const oracle = createOracle((await loadApi(name)).set);
  const methods = [...oracle.registry].flatMap((type) => (type.kind === "service" ? type.methods : []));
  const descs = new Set(methods.flatMap(({ input, output }) => [input, output]));
  return { oracle, descs: [...descs].filter(({ typeName }) => !typeName.startsWith("google.protobuf.")) };
}
