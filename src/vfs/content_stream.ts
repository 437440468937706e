import type { ByteSource } from "../io/storage/byte_source.ts";
import { crc32Of } from "../io/read/crc32_of.ts";
import { readPart } from "../io/read/read_part.ts";
import { runAsync } from "../io/concurrency/steps.ts";
import type { Extent } from "../tree/tree.ts";

/** Bytes a chunk of a stream has at most. */
const CHUNK = 1 << 20;

/**
 * A file's content in chunks, read as they are asked for.
 *
 * @param source What the extent is of, unless its bytes are in memory.
 * @param verify Called with the CRC-32 of the whole content at its end; what it throws ends the
 * stream.
 */
export function contentStream(
  extent: Extent,
  source: ByteSource | undefined,
  verify: (crc: number) => void,
  signal?: AbortSignal,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let done = 0;
  let crc = 0;
  return new ReadableStream({
    async pull(controller) {
      signal?.throwIfAborted();
      if (done === extent.length) {
        verify(crc);
        controller.close();
        return;
      }
      const length = Math.min(CHUNK, extent.length - done);
      const at = extent.offset + done;
      const chunk = extent.bytes !== undefined
        ? extent.bytes.slice(at, at + length) as Uint8Array<ArrayBuffer>
        : await runAsync(readPart(source!, at, length), signal);
      crc = crc32Of(chunk, crc);
      done += length;
      controller.enqueue(chunk);
    },
  }, { highWaterMark: 0 });
}
