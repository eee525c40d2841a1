/** Cases that are built where they are run: their bodies are too large to be written down. */
import { afterAll, describe, expect, it } from "vitest";
import type { Case, CaseOptions, CaseRequest, ExpectHttp, ExpectRpc, Upstream } from "../cases/case.ts";
import { readDescriptors } from "../cases/descriptors.ts";
import { openSession } from "../cases/session.ts";
import { FAULTS_PROTO } from "./fault.ts";

export const MIB = 1024 * 1024;
export const SET = "faults.v1.Shop/Set";
export const GET = "faults.v1.Shop/Get";
export const JSON_TYPE = { "content-type": "application/json" };
export const GRPC_WEB = { "content-type": "application/grpc-web+proto" };
/** A message of 64 KiB: `{"id": "aaa…"}`, and as protobuf. */
export const LONG = "a".repeat(65_536);
export const LONG_JSON = Buffer.from(JSON.stringify({ id: LONG }));
export const LONG_WIRE = Buffer.concat([Buffer.from([0x0a, 0x80, 0x80, 0x04]), Buffer.from(LONG)]);

export interface BuiltCase {
  readonly name: string;
  readonly options?: CaseOptions;
  /** Default: JSON, posted to `Shop.Set`. */
  readonly request: Partial<CaseRequest> & { readonly bytes?: Buffer };
  /** Default: the backend must not be called. */
  readonly rpc?: ExpectRpc;
  readonly upstream?: Upstream;
  readonly http: ExpectHttp;
}

function caseOf({ name, options, request, rpc, upstream, http }: BuiltCase): Case {
  const { bytes, ...rest } = request;
  const whole = { method: "POST", path: "/v1/x", headers: JSON_TYPE, ...rest };
  return {
    id: name,
    area: "limits",
    ...(options && { options }),
    request: bytes ? { ...whole, body_base64: bytes.toString("base64") } : whole,
    expect_rpc: rpc ?? null,
    upstream: upstream ?? null,
    expect_http: http,
  };
}

/** Await it at the top of a test file. @param faults by title, each with its id. */
export async function testBuilt(faults: Readonly<Record<string, readonly BuiltCase[]>>): Promise<void> {
  const built = Object.entries(faults).map(([title, cases]) => ({ title, cases: cases.map(caseOf) }));
  const session = await openSession(
    built.flatMap(({ cases }) => cases),
    await readDescriptors(FAULTS_PROTO),
  );
  afterAll(() => session.stop());

  for (const { title, cases } of built) {
    describe(title, () => {
      it.each(cases)("$id", async (test) => {
        expect(await session.run(test)).toEqual([]);
        expect(session.log()).not.toMatch(/unhandled|uncaught/i);
      });
    });
  }
}
