/** A message whose fields are read when first looked at, so that types may be circular and what is not used costs nothing. */
import type { Message } from "./model.ts";

export type MessageContent = Pick<Message, "fields" | "oneofs">;

/** @param read called once at most. */
export function createLazyMessage(name: string, read: () => MessageContent): Message {
  let content: MessageContent | undefined;
  return {
    name,
    get fields() {
      content ??= read();
      return content.fields;
    },
    get oneofs() {
      content ??= read();
      return content.oneofs;
    },
  };
}
