/** Items that differ as those of a real list do: a batch of equal ones would be compressed to nothing. */
import type { JsonObject } from "@bufbuild/protobuf";
import { createRandom } from "../codec/random.ts";
import { ITEM } from "../peers/shop.ts";

const WORDS =
  "narrow strips of land between two seas drawn and described how they came to be who crossed them what was carried over " +
  "why canals were dug harbour light tide northern southern survey voyage chart coast river early late edition notes on a " +
  "the with without illustrated second first history field guide world maps index straits reader island winter summer";

/** The same in every run. */
export function variedItems(count: number): JsonObject[] {
  const words = WORDS.split(" ");
  const random = createRandom(1);
  const below = (limit: number): number => Math.floor(random() * limit);
  const text = (length: number): string => Array.from({ length }, () => words[below(words.length)]).join(" ");
  const date = (): string => new Date(1.6e12 + below(2e8) * 1000).toISOString();
  return Array.from({ length: count }, () => ({
    ...ITEM,
    id: `item-${String(below(1e6)).padStart(6, "0")}`,
    title: text(10),
    description: text(40),
    priceMicros: String(below(1e8)),
    rating: below(500) / 100,
    inStock: below(2) === 1,
    tags: text(5).split(" "),
    createTime: date(),
    size: { widthMm: below(400), heightMm: below(600), weightKg: below(40) / 4 },
    labels: { shelf: `C-${below(100)}`, supplier: text(1), season: text(1) },
    prices: ["EUR", "USD", "JPY", "GBP", "CHF"].map((currency) => ({ currency, micros: String(below(1e8)) })),
  }));
}
