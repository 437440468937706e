import { FormatError } from "../../../base/errors.ts";
import { crc32Of } from "../../../io/read/crc32_of.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { newExtent } from "../../../tree/tree.ts";
import type { RecordFiles } from "../read/record_files.ts";

/** Start of a packed folder's last sample (ffrecord's `pack_folder`). */
export const MAGIC = new TextEncoder().encode("piouhjgbr");

/** Whether a sample that starts with `head` can be a structure: the magic and at least one more byte. */
export function hasMagic(head: Uint8Array, sampleLength: number): boolean {
  return sampleLength > MAGIC.length &&
    MAGIC.every((byte, i) => head[i] === byte);
}

/** Whether a sample starts as a structure; throws a {@linkcode FormatError} if it may be one, but truncated. */
export function* endsInStructure(
  { sources, index }: RecordFiles,
  sample: number,
): Steps<boolean> {
  const extent = newExtent();
  index.locate(sample, extent);
  const { source, offset, length, checksum } = extent;
  const { name: path, size } = sources[source]!;
  const head = yield* readPart(
    sources[source]!,
    offset,
    Math.min(length, MAGIC.length),
  );
  const mayBeStart = length <= MAGIC.length &&
    head.every((byte, i) => byte === MAGIC[i]);
  if (mayBeStart && crc32Of(head) !== checksum) {
    throw new FormatError(
      "truncated-data",
      `Cannot read sample ${sample} of ${path}: checksum mismatch in its ` +
        `${length} bytes, and the file ends at byte ${size}: the file is ` +
        "truncated. Download it again",
      { path, sample, offset },
    );
  }
  return hasMagic(head, length);
}
