import { bytesOf } from "../../base/bytes_of.ts";
import {
  forEachPulled,
  isAsyncIterable,
} from "../concurrency/for_each_pulled.ts";
import type { Steps } from "../concurrency/steps.ts";

/**
 * Content of a sample to write: the exact bytes of a view (a typed array, a `DataView`, a Node `Buffer`), of a buffer,
 * of a `Blob`, or of a stream, which makes one sample of any size.
 */
export type SampleData =
  | ArrayBufferView
  | ArrayBufferLike
  | Blob
  | AsyncIterable<Uint8Array>;

/** Returns the bytes of a sample in memory; `undefined` if the sample must be waited for. */
export function sampleBytes(data: SampleData): Uint8Array | undefined {
  const bytes = bytesOf(data);
  if (bytes !== undefined) return bytes;
  if (data instanceof Blob || isAsyncIterable(data)) return undefined;
  throw new TypeError(
    typeof data === "string"
      ? "Cannot write a sample: it is a string, not bytes. Encode it with new TextEncoder().encode(text)"
      : `Cannot write a sample: it must be a view, a buffer, a Blob or a stream of Uint8Array, not ${
        describe(data)
      }`,
  );
}

/** Returns the bytes of a sample in memory. Throws a TypeError if the sample must be waited for. */
export function bytesAtOnce(data: SampleData): Uint8Array {
  const bytes = sampleBytes(data);
  if (bytes !== undefined) return bytes;
  throw new TypeError(
    "Cannot write a Blob or stream synchronously: it must be awaited. Call write() instead of writeSync()",
  );
}

/** Reads a sample that must be waited for in pieces, and closes its stream at the end. */
export function* forEachPiece(
  data: SampleData,
  take: (piece: Uint8Array) => Steps<void>,
): Steps<void> {
  const source = data instanceof Blob ? data.stream() : data;
  yield* forEachPulled(
    source as AsyncIterable<unknown>,
    "Cannot write a Blob or stream synchronously: it must be awaited",
    function* (piece) {
      const bytes = bytesOf(piece);
      if (bytes === undefined) {
        throw new TypeError(
          `Cannot write a sample: its stream must give Uint8Array, not ${
            describe(piece)
          }`,
        );
      }
      yield* take(bytes);
    },
  );
}

export function describe(value: unknown): string {
  if (value === null || typeof value !== "object") {
    return value === null ? "null" : typeof value;
  }
  return value.constructor?.name || "an object";
}
