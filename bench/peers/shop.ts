/** The service of peers.proto, and what it answers. */
import {
  createFileRegistry,
  type DescMessage,
  type DescService,
  fromBinary,
  fromJson,
  type JsonObject,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const PACKAGE = "isthmus.bench.peers";
export const SERVICE = `${PACKAGE}.Shop`;

/** About 1 kB of JSON, with what such records usually have in them. */
export const ITEM: JsonObject = {
  id: "item-000042",
  title: "A Field Guide to the Isthmuses of the World, second edition",
  description:
    "Narrow strips of land between two seas, drawn and described: how they came to be, who crossed them, what was carried " +
    "over and why canals were dug. With 120 maps, an index of straits, and notes on tides – “indispensable”, says one reader.",
  kind: "KIND_BOOK",
  priceMicros: "42990000",
  rating: 4.75,
  inStock: true,
  tags: ["geography", "maps", "second-edition", "hardcover", "illustrated"],
  createTime: "2026-03-14T15:09:26.535Z",
  size: { widthMm: 170, heightMm: 240, weightKg: 1.25 },
  labels: { shelf: "C-12", supplier: "north-harbour", season: "spring" },
  prices: [
    { currency: "EUR", micros: "42990000" },
    { currency: "USD", micros: "46990000" },
    { currency: "JPY", micros: "6890000000" },
    { currency: "GBP", micros: "36990000" },
    { currency: "CHF", micros: "41500000" },
  ],
};

export interface Shop {
  readonly service: DescService;
  /** @param name without its package. */
  toWire(name: string, json: JsonObject): Uint8Array;
  fromWire(name: string, wire: Uint8Array): Message;
  /** By @bufbuild/protobuf; unknown fields are an error. */
  fromJson(name: string, json: JsonObject): Message;
  message(name: string): DescMessage;
}

/** @param set bytes of a FileDescriptorSet with peers.proto. */
export function readShop(set: Uint8Array): Shop {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, set));
  const service = registry.getService(SERVICE);
  if (!service) throw new Error(`the set has no ${SERVICE}`);
  const message = (name: string): DescMessage => {
    const desc = registry.getMessage(`${PACKAGE}.${name}`);
    if (!desc) throw new Error(`no message ${name}`);
    return desc;
  };
  return {
    service,
    message,
    toWire: (name, json) => toBinary(message(name), fromJson(message(name), json)),
    fromWire: (name, wire) => fromBinary(message(name), wire),
    fromJson: (name, json) => fromJson(message(name), json),
  };
}
