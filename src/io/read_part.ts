import { FormatError } from "../errors.ts";
import type { ByteSource } from "./byte_source.ts";
import { perform, type Steps } from "./steps.ts";

/**
 * Reads exactly `length` bytes at `offset`.
 *
 * The range must have been checked against the source's size: memory is allocated for it.
 *
 * @throws {FormatError} If the data ended before, since the file shrank meanwhile.
 */
export function* readPart(
  source: ByteSource,
  offset: number,
  length: number,
): Steps<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length);
  yield* fill(source, bytes, offset);
  return bytes;
}

/** Fills `into` from `offset`, or throws as {@linkcode readPart} does. */
export function* fill(
  source: ByteSource,
  into: Uint8Array,
  offset: number,
): Steps<void> {
  if (into.length === 0) return;
  const got = yield* perform({
    sync: () => syncRead(source, into, offset),
    async: (signal) => source.readAt(into, offset, { signal }),
  });
  if (got < into.length) {
    throw new FormatError(
      "out-of-bounds",
      `${source.name} ended ${into.length - got} bytes early: it was cut ` +
        `while it was read, or its size is not what its server said`,
      {
        path: source.name,
        offset,
        expected: into.length,
        actual: got,
      },
    );
  }
}

function syncRead(
  source: ByteSource,
  into: Uint8Array,
  offset: number,
): number {
  if (source.readAtSync === undefined) {
    throw new TypeError(
      `${source.name} is not local: use the asynchronous method`,
    );
  }
  return source.readAtSync(into, offset);
}
