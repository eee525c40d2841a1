/**
 * The schema image: the model in bytes, so that an isolate starts without descriptors. `image-write.ts` makes it at build
 * time, `image-read.ts` reads it. All fixed-width numbers are little-endian.
 *
 *     image    = magic u32(VERSION) u32(checksum of all that follows) head tables text services messages enums padding
 *     head     = u32(strings) u32(messages) u32(enums) u32(bytes of text)
 *     tables   = u32 × (strings + 1), where each string begins in the text, in UTF-16 units, and where the last one ends
 *                u32 × messages, then u32 × enums: where in the image each record begins
 *     text     = UTF-8 of all strings, each of them once
 *     services = count service*
 *     service  = name file named(0|1) count method*
 *     method   = name kind idempotency input output line(0: none) count rule*
 *     rule     = method template body responseBody nested(0|1) | hasSource(2) | isChecked(4) [source] [checked]
 *     checked  = count segment* verb count (field start end multi(0|1))*
 *     message  = name count oneof-name* count field* then for each oneof: count position-of-field*
 *     field    = type | flags  name number [jsonName] [oneof] [message | enum] [key value, two fields] [default]
 *     default  = its kind, then number f64 | 64 bits | boolean 0|1 | string | count byte*
 *     enum     = name closed(0|1) count (name zigzag(number))*
 *     padding  = zeros, to a multiple of four bytes
 *
 * What is not fixed-width is a varint of at most 32 bits. Names and texts are indexes of strings; inputs, outputs and
 * types of fields are indexes of messages and enums.
 */

/** No descriptor set begins like this: 0 is no tag of protobuf. */
export const MAGIC: readonly number[] = [0x00, 0x49, 0x53, 0x54];
/** Raised with every change of the layout. */
export const VERSION = 3;
/** Magic, version, checksum. */
export const HEADER_BYTES = 12;
/** The four counts behind the header. */
export const HEAD_BYTES = 16;

/** By their place in the image. */
export const KINDS = ["unary", "server-stream", "client-stream", "bidi"] as const;
export const IDEMPOTENCIES = ["unknown", "no-side-effects", "idempotent"] as const;

/** The type of a field stands in the five bits below. */
export const TYPE_MASK = 0x1f;
/**
 * FNV-1a over words of 32 bits, turned after each: else the upper bytes of two words could make up for each other. A single
 * word that differs always changes it. Read as an array of words, a third less time
 * in a cold isolate than through a DataView; all machines that run this have little-endian words.
 *
 * @param image whole words, of which those behind the header count.
 */
export function checksum(image: Uint8Array): number {
  const { buffer, byteOffset, byteLength } = image.byteOffset % 4 === 0 ? image : image.slice();
  const words = new Int32Array(buffer, byteOffset, byteLength / 4);
  let hash = 0x811c9dc5 | 0;
  for (let i = HEADER_BYTES / 4; i < words.length; i++) {
    const product = Math.imul(hash ^ (words[i] as number), 0x01000193);
    hash = (product << 13) | (product >>> 19);
  }
  return hash >>> 0;
}
