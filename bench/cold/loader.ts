/** The Worker that makes isolates: each path begins with a subject's number, and an isolate that is not there yet is made. */

interface Modules {
  readonly [name: string]: string | { readonly data: ArrayBuffer } | { readonly wasm: ArrayBuffer };
}

interface Env {
  /** Cloudflare's Worker Loader, as far as it is used here. */
  readonly LOADER: {
    get(
      name: string,
      code: () => Promise<{ compatibilityDate: string; mainModule: string; modules: Modules; env: object }>,
    ): { getEntrypoint(): { fetch(request: Request): Promise<Response> } };
  };
  /** Schemas in base64. */
  readonly SUBJECTS: readonly { readonly script: string; readonly schema: string; readonly call: object }[];
  readonly COMPATIBILITY_DATE: string;
  /** The codec's, in base64. */
  readonly ENGINE: string;
}

export default {
  /** `/subject/isolate/calls` */
  async fetch(request: Request, env: Env): Promise<Response> {
    const [, subject = "", isolate = ""] = request.url.replace(/^https?:\/\/[^/]+/, "").split("/");
    const stub = env.LOADER.get(`${subject}/${isolate}`, async () => {
      const { script, schema, call } = env.SUBJECTS[Number(subject)] ?? { script: "", schema: "", call: {} };
      const data = (Uint8Array.fromBase64(schema) as Uint8Array<ArrayBuffer>).buffer;
      const wasm = (Uint8Array.fromBase64(env.ENGINE) as Uint8Array<ArrayBuffer>).buffer;
      return {
        compatibilityDate: env.COMPATIBILITY_DATE,
        mainModule: "worker.js",
        modules: { "worker.js": script, "schema.bin": { data }, "codec.wasm": { wasm } },
        env: { CALL: call },
      };
    });
    return stub.getEntrypoint().fetch(request);
  },
};
