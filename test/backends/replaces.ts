/** Decoders that replace where the format merges: what DESIGN calls one record a field is for them. */
import { expect, it } from "vitest";

/** @param decode of a shop.v1.UpdateBookRequest. */
export function itReplacesSplitRecords(decode: (wire: Uint8Array) => unknown): void {
  it("replaces a split record where the format merges", () => {
    const name = [0x0a, 0x03, 0x0a, 0x01, 0x61];
    const title = [0x0a, 0x03, 0x12, 0x01, 0x62];
    const { book } = decode(Buffer.from([...name, ...title])) as { book: { name?: string; title: string } };
    expect(book.title).toBe("b");
    expect(book.name || undefined).toBeUndefined();
  });
}
