import { bytesOf } from "../../codecs/bytes_of.ts";
import { type Effect, perform, type Steps } from "../../io/steps.ts";
import { unlessAborted } from "../../io/unless_aborted.ts";

/**
 * What a sample can be written from: the exact bytes of a view (a typed array, a `DataView`, a
 * Node `Buffer`), of a buffer, of a `Blob`, or of a stream, which makes one sample of any size.
 */
export type SampleData =
  | ArrayBufferView
  | ArrayBufferLike
  | Blob
  | AsyncIterable<Uint8Array>;

/** The bytes of a sample that is in memory; `undefined` of one that has to be waited for. */
export function sampleBytes(data: SampleData): Uint8Array | undefined {
  const bytes = bytesOf(data);
  if (bytes !== undefined) return bytes;
  if (data instanceof Blob || isStream(data)) return undefined;
  throw new TypeError(
    typeof data === "string"
      ? "A sample is bytes, not a string: encode it, as in new TextEncoder().encode(text)"
      : `A sample is a view, a buffer, a Blob or a stream of Uint8Array, not ${
        describe(data)
      }`,
  );
}

/** Takes a sample that has to be waited for, piece by piece; its stream is closed at the end. */
export function* forEachPiece(
  data: SampleData,
  take: (piece: Uint8Array) => Steps<void>,
): Steps<void> {
  const pieces = piecesOf(data);
  let ended = false;
  try {
    for (;;) {
      const result = yield* perform(nextOf(pieces));
      ended = result.done === true;
      if (ended) return;
      const bytes = bytesOf(result.value);
      if (bytes === undefined) {
        throw new TypeError(
          `The stream of a sample gives Uint8Array, not ${
            describe(result.value)
          }`,
        );
      }
      yield* take(bytes);
    }
  } finally {
    // Not waited for: a stream that hangs must not keep a writer from being given up.
    if (!ended) pieces.stop().catch(() => {});
  }
}

interface Pieces {
  next(): Promise<{ readonly done?: boolean; readonly value?: unknown }>;
  /** Gives up what is left. */
  stop(): Promise<unknown>;
}

function piecesOf(data: SampleData): Pieces {
  const stream: unknown = data instanceof Blob ? data.stream() : data;
  if (stream instanceof ReadableStream) {
    // Its iterator would wait for a piece that is under way before it cancels.
    const reader = stream.getReader();
    return { next: () => reader.read(), stop: () => reader.cancel() };
  }
  const iterator = (stream as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(),
    stop: async () => await iterator.return?.(),
  };
}

function nextOf(pieces: Pieces): Effect<Awaited<ReturnType<Pieces["next"]>>> {
  return {
    sync() {
      throw new TypeError("A Blob or stream has to be waited for");
    },
    async: (signal) => unlessAborted(pieces.next(), signal),
  };
}

function isStream(data: unknown): boolean {
  return typeof data === "object" && data !== null &&
    Symbol.asyncIterator in data;
}

function describe(value: unknown): string {
  if (value === null || typeof value !== "object") {
    return value === null ? "null" : typeof value;
  }
  return value.constructor?.name || "an object";
}
