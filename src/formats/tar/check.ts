import { FormatError, type FormatErrorCode } from "../../errors.ts";
import { runAsync, type Steps } from "../../io/concurrency/steps.ts";
import { fill } from "../../io/read/read_part.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { LOCAL_DISK } from "../../io/storage/storage.ts";
import { skippedError } from "../../tree/archive/archive_notes.ts";
import type { CheckOptions, CheckReport } from "../../tree/format.ts";
import { BLOCK } from "../../tar_header.ts";
import { refuseCompressed } from "./read/open_index.ts";
import { type ScannedEnd, scanTar } from "./read/scan.ts";
import { TarBuilder } from "./read/tar_builder.ts";
import { sampleCount } from "./read/tar_columns.ts";
import { tarPaths } from "./tree/open_tars.ts";
import { openFile } from "../../io/storage/open_file.ts";

/** Bytes of zeros that end a tar (POSIX.1). */
const END = 2 * BLOCK;
/** Bytes that are read at a time of what lies behind the end. */
const PIECE = 1 << 18;

/**
 * Reads the headers of tars anew, and compares them with their checksums; contents have none. Sizes have to fit the
 * file, and it has to end as a tar does.
 */
export async function checkTars(
  location: string,
  options: CheckOptions,
): Promise<CheckReport> {
  return await runAsync(check(location, options), options.signal);
}

function* check(location: string, options: CheckOptions): Steps<CheckReport> {
  const storage = options.storage ?? LOCAL_DISK;
  const { paths } = yield* tarPaths(location, storage);
  let total = 0;
  for (const path of paths) total += (yield* storage.stat(path))?.size ?? 0;
  let [samples, bytes, damaged] = [0, 0, 0];
  const onDamage = (damage: FormatError) => {
    damaged++;
    options.onDamage(damage);
  };
  for (const path of paths) {
    const source = yield* openFile(storage, path);
    try {
      bytes += source.size;
      samples += yield* checkTar(source, onDamage);
    } finally {
      source.close();
    }
    options.onProgress?.(bytes, Math.max(bytes, total));
  }
  return { samples, bytes, damaged };
}

/** Number of samples that there are in spite of all damage. */
function* checkTar(
  source: ByteSource,
  onDamage: (damage: FormatError) => void,
): Steps<number> {
  yield* refuseCompressed(source);
  const builder = new TarBuilder(
    source.name,
    (member) => onDamage(skippedError(member)),
  );
  const end = yield* scanTar(source, builder, onDamage);
  if (end !== undefined) yield* checkEnd(source, end, onDamage);
  return sampleCount(builder.finish().columns);
}

function* checkEnd(
  source: ByteSource,
  { offset, isMarked }: ScannedEnd,
  onDamage: (damage: FormatError) => void,
): Steps<void> {
  const { name: path, size } = source;
  const report = (
    code: FormatErrorCode,
    why: string,
    offset: number,
  ) => onDamage(new FormatError(code, `${path} ${why}`, { path, offset }));
  if (!isMarked || offset + END > size) {
    return report(
      "truncated",
      `ends at byte ${size} without the ${END} zeros that end a tar: members may be missing; fetch or pack it again`,
      offset,
    );
  }
  const bytes = new Uint8Array(PIECE);
  for (let at = offset; at < size; at += PIECE) {
    const piece = bytes.subarray(0, Math.min(PIECE, size - at));
    yield* fill(source, piece, at);
    const first = piece.findIndex((byte) => byte !== 0);
    if (first < 0) continue;
    return report(
      "bad-structure",
      `goes on behind the zeros that end it, at byte ${
        at + first
      }: what is there is not shown; where it is ` +
        "another tar, tar --ignore-zeros reads both",
      at + first,
    );
  }
}
