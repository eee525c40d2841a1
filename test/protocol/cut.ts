/** Bytes that arrive in pieces of any size. */
import fc from "fast-check";

/** Where to cut, as fractions of the whole; a place may occur twice, which makes an empty piece. */
export const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });

export function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const places = at.map((fraction) => Math.floor(fraction * bytes.length)).sort((a, b) => a - b);
  return [...places, bytes.length].map((end, i) => bytes.slice(places[i - 1] ?? 0, end));
}

/** A body of these pieces. What `end` throws breaks it; `onCancel` is told when the rest is not wanted. */
export function bodyOf(
  pieces: readonly Uint8Array[],
  end: () => void = () => undefined,
  onCancel?: () => void,
): ReadableStream<Uint8Array> {
  let i = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces[i++];
        if (piece) return controller.enqueue(piece);
        end();
        controller.close();
      },
      cancel: () => onCancel?.(),
    },
    { highWaterMark: 0 },
  );
}
