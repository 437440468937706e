import { sniffedSuffix } from "../../codecs/values/sniffed_suffix.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { readPart } from "../../io/read/read_part.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { openIfThere } from "../../io/storage/open_file.ts";
import type { Storage } from "../../io/storage/storage.ts";
import type { ContainerOptions } from "../../tree/format.ts";
import { chainedLimits } from "../../tree/limits/chained_limits.ts";
import { listedLimits } from "../../tree/limits/listed_limits.ts";
import type { RangeFile } from "../../tree/samples/range_format.ts";
import type { WholeNumbers } from "../../tree/shared_numbers.ts";
import { CHAIN, contentStart, HEADER, IMAGE_HEADER } from "./layout.ts";

/** A file, with its samples in shared memory. */
export interface RecordIOFile extends RangeFile {
  /** Per sample: its start; then the end of the last. */
  readonly limits: WholeNumbers;
  /** What the first sample tells of all; `undefined` if it is no image. */
  readonly layout: ImageLayout | undefined;
}

export interface ImageLayout {
  /** Suffix of pictures, by their content; may be empty. */
  readonly suffix: string;
  /** Whether labels are lists. */
  readonly isList: boolean;
}

/**
 * Finds the records of a file, by the index next to it if there is one; of a face set, the images.
 *
 * @throws {FormatError} If there are none, but damage.
 */
export function* openRecords(
  source: ByteSource,
  options: ContainerOptions & { readonly storage: Storage },
): Steps<RecordIOFile> {
  const { name: path, size, mtime } = source;
  const indexPath = path.replace(/(\.rec)?$/i, ".idx");
  const index = yield* openIfThere(options.storage, indexPath);
  using _ = { [Symbol.dispose]: () => index?.close() };
  const { limits, damage } = index === undefined
    ? yield* chainedLimits(source, CHAIN, options)
    : yield* listedLimits(source, index, CHAIN);
  const records = limits.length - 1;
  if (records === 0 && damage !== undefined) throw damage;
  let [first, end] = [0, records];
  let identities: number | undefined;
  // The header of a face set is the record of key 0, and InsightFace's writer writes it last.
  for (const at of [0, records - 1].slice(0, records)) {
    const head = yield* imageHead(source, limits[at]!);
    const [past, last] = head?.faces ?? [];
    if (!(past! >= 1 && past! <= records && last! >= past!)) continue;
    first = at === 0 ? 1 : 0;
    end = first + past! - 1;
    identities = last! - past!;
    break;
  }
  const layout = first < end
    ? yield* imageHead(source, limits[first]!)
    : undefined;
  const length = end - first;
  return {
    ...{ path, size, mtime, length, layout },
    kind: !layout
      ? "records"
      : identities === undefined
      ? "images"
      : "face set",
    facts: {
      records,
      ...layout && { images: length },
      ...identities !== undefined && { identities },
    },
    damage: damage && { code: damage.code, message: damage.message },
    limits: limits.subarray(first, end + 1),
  };
}

/** Bytes read of a record. */
const HEAD = 1024;

/**
 * Reads the head of an image; `undefined` if the record is of another kind. `faces` are the labels of the header of a
 * face set (`header0` in InsightFace's `arcface_torch/dataset.py`), which is no image: the keys after the last image
 * and after the last identity.
 */
function* imageHead(
  source: ByteSource,
  start: number,
): Steps<ImageLayout & { readonly faces?: number[] } | undefined> {
  const length = Math.min(HEAD, source.size - start);
  const bytes = yield* readPart(source, start, length);
  const view = new DataView(bytes.buffer);
  const part = CHAIN.partAt(view, 0);
  if (part === undefined || length < HEADER + IMAGE_HEADER) return undefined;
  const content = contentStart(view, HEADER, part.length);
  // The upper half of an id is not in use; other records have any bytes there.
  if (content === undefined || view.getUint32(28, true) !== 0) return undefined;
  const isEmpty = part.length === content && HEADER + content <= length;
  const isHeader = isEmpty && content === IMAGE_HEADER + 8 &&
    view.getBigUint64(16, true) === 0n;
  return {
    suffix: sniffedSuffix(bytes.subarray(HEADER + content)) ?? "",
    isList: content > IMAGE_HEADER,
    ...isHeader && { faces: [32, 36].map((at) => view.getFloat32(at, true)) },
  };
}
