import { Byte, JsonError, JsonScanner } from "../../../codecs/json/scanner.ts";
import { MemorySource } from "../../../io/storage/memory_source.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { fill } from "../../../io/read/read_part.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { ChunkMeta } from "../meta/chunk_meta.ts";
import { LONGEST_META } from "../meta/open_meta.ts";
import { readJsonMeta } from "../meta/json_meta.ts";

/** Reads the complete videos before damage in a `.gmeta`; `undefined` if none, or it is too large or not JSON. */
export function* salvageMeta(path: string): Steps<ChunkMeta | undefined> {
  const file = yield* LOCAL_DISK.open(path);
  try {
    if (file.size > LONGEST_META) return undefined;
    // Room for the closing bracket, and for the zero byte at which the scanner stops.
    const text = new Uint8Array(file.size + 2);
    yield* fill(file, text.subarray(0, file.size), 0);
    const end = endOfWholeVideos(text.subarray(0, -1));
    if (end === undefined) return undefined;
    text[end] = Byte.CLOSE_OBJECT;
    text[end + 1] = 0;
    const whole = text.subarray(0, end + 2);
    const read = readJsonMeta(whole).finish();
    const source = new MemorySource(whole.subarray(0, -1), path, file.mtime);
    return new ChunkMeta(path, file.size, read, source);
  } catch (error) {
    if (error instanceof JsonError) return undefined; // not UTF-8
    throw error;
  } finally {
    file.close();
  }
}

/** Returns the end of the last readable video, or `undefined`. */
function endOfWholeVideos(text: Uint8Array): number | undefined {
  const scanner = new JsonScanner(text);
  let end: number | undefined;
  try {
    if (scanner.peek() !== Byte.OPEN_OBJECT) return undefined;
    scanner.pass(Byte.CLOSE_OBJECT, () => {
      scanner.skipKey();
      scanner.skipValue();
      end = scanner.position;
    });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  return end;
}
