import type { Transcode } from "../calls.ts";

export function open(): Transcode {
  return (json) => json;
}
