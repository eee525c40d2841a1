import { expect, test } from "vitest";
import { checksum, HEADER_BYTES } from "../../src/schema/image-format.ts";

test.each([
  [3, 7],
  [3, 43],
  [0, 4],
  [2, 61],
])("bytes %i and %i of the content do not make up for each other, whatever they become", (first, second) => {
  const image = Uint8Array.from({ length: HEADER_BYTES + 64 }, (_, i) => (i * 37) & 0xff);
  const right = checksum(image);
  const [a, b] = [HEADER_BYTES + first, HEADER_BYTES + second];
  let taken = 0;
  for (let one = 1; one < 256; one++) {
    for (let other = 1; other < 256; other++) {
      const copy = image.slice();
      copy[a] = (copy[a] as number) ^ one;
      copy[b] = (copy[b] as number) ^ other;
      if (checksum(copy) === right) taken++;
    }
  }
  expect(taken).toBe(0);
});
