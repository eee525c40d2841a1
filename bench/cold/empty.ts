import { BACKENDS, callingWorker } from "./calls.ts";

/** As many requests and answers, and nothing between the two. */
export default callingWorker(() => ({ fetch: (request) => BACKENDS["*"].fetch(request, { body: request.body }) }));
