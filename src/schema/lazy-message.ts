/** A message whose fields are read when first looked at, so that types may be circular and what is not used costs nothing. */
import type { Field, Message, Oneof } from "./model.ts";

export type MessageContent = Pick<Message, "fields" | "oneofs">;

export class LazyMessage implements Message {
  readonly name: string;
  readonly #read: () => MessageContent;
  #content: MessageContent | undefined;

  /** @param read called until it returns once. */
  constructor(name: string, read: () => MessageContent) {
    this.name = name;
    this.#read = read;
  }

  get fields(): readonly Field[] {
    return this.#known.fields;
  }

  get oneofs(): readonly Oneof[] {
    return this.#known.oneofs;
  }

  get #known(): MessageContent {
    this.#content ??= this.#read();
    return this.#content;
  }
}
