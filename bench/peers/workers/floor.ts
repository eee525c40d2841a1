/** The least that a Worker can do: what came is sent on, and the answer is given back. */
interface Env {
  readonly OPTIONS: { readonly backend: string };
}

const PATH = /^https?:\/\/[^/]+/;

export default {
  fetch(request: Request, env: Env): Promise<Response> {
    return fetch(request.url.replace(PATH, env.OPTIONS.backend), request);
  },
};
