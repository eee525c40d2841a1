/** The Worker that makes isolates: each path begins with one's name, and an isolate that is not there yet is made. */

interface Modules {
  readonly [name: string]: string | { readonly data: ArrayBuffer };
}

interface Env {
  /** Cloudflare's Worker Loader, as far as it is used here. */
  readonly LOADER: {
    get(
      name: string,
      code: () => Promise<{ compatibilityDate: string; mainModule: string; modules: Modules; env: object }>,
    ): { getEntrypoint(): { fetch(request: Request): Promise<Response> } };
  };
  /** By name of the subject: script, schema and call. */
  readonly SUBJECTS: Readonly<
    Record<string, { readonly script: string; readonly schema: string; readonly call: object }>
  >;
  readonly COMPATIBILITY_DATE: string;
}

export default {
  /** `/subject/isolate/calls` */
  async fetch(request: Request, env: Env): Promise<Response> {
    const [, subject = "", isolate = ""] = request.url.replace(/^https?:\/\/[^/]+/, "").split("/");
    const name = `${subject}/${isolate}`;
    const stub = env.LOADER.get(name, async () => {
      const { script, schema, call } = env.SUBJECTS[subject] ?? { script: "", schema: "", call: {} };
      const data = (Uint8Array.fromBase64(schema) as Uint8Array<ArrayBuffer>).buffer;
      return {
        compatibilityDate: env.COMPATIBILITY_DATE,
        mainModule: "worker.js",
        modules: { "worker.js": script, "schema.bin": { data } },
        env: { CALL: call },
      };
    });
    return stub.getEntrypoint().fetch(request);
  },
};
