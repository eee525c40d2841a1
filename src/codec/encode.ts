/** The encode side of a codec: JSON of a message → wire, and a whole REST request → wire. */
import type { Field, Message } from "../schema/model.ts";
import type { Bound, Codec, CodecContext } from "./codec.ts";
import { claimBound, writeBound, writeBoundMessage } from "./encode-bound.ts";
import { EncodeJob } from "./encode-job.ts";
import { encodeField, encodeMessage } from "./encode-message.ts";
import { mergeWire } from "./merge-wire.ts";
import { OneofClaims } from "./oneof-claims.ts";

export type Encoder = Pick<Codec, "encode" | "encodeRequest">;

export function compileEncoder(message: Message, context: CodecContext): Encoder {
  return {
    encode(json) {
      const job = new EncodeJob(context, json);
      encodeMessage(job, message, { depth: 1 });
      job.reader.end();
      return job.writer.finish();
    },
    encodeRequest({ json, body, bodyWire, bound, mask }) {
      const job = new EncodeJob(context, json ?? new Uint8Array());
      if (bodyWire) {
        mergeWire(job, bodyWire, message, bound, 1);
      } else if (body === undefined || json === undefined || json.length === 0) {
        writeBoundMessage(job, bound, 1);
      } else {
        const prefix = mask ? "" : undefined;
        if (body === "*") encodeMessage(job, message, { depth: 1, bound: someOf(bound), mask: prefix });
        else encodeBodyField(job, body, bound, prefix);
        job.reader.end();
      }
      return mask ? { wire: job.writer.finish(), mask: job.mask } : { wire: job.writer.finish() };
    },
  };
}

/** The JSON is the value of one field; leaf paths begin below that field. */
function encodeBodyField(job: EncodeJob, field: Field, bound: Bound, mask: string | undefined): void {
  const claims = new OneofClaims();
  claimBound(job, claims, bound);
  const written = encodeField(job, field, { depth: 1, bound }, claims, mask);
  writeBound(job, bound, 1, new Set(written ? [field] : []));
}

function someOf(bound: Bound): Bound | undefined {
  return bound.fields.size > 0 ? bound : undefined;
}
