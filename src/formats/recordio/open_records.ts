import { sniffedSuffix } from "../../codecs/values/sniffed_suffix.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { readPart } from "../../io/read/read_part.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import type { Storage } from "../../io/storage/storage.ts";
import type { ContainerOptions } from "../../tree/format.ts";
import { type Chain, chainedLimits } from "../../tree/limits/chained_limits.ts";
import { sampleKeys } from "../../tree/names/sample_keys.ts";
import type { RangeFile } from "../../tree/samples/range_format.ts";
import type { WholeNumbers } from "../../tree/shared_numbers.ts";
import { contentStart, HEADER, IMAGE_HEADER, partAt } from "./layout.ts";

/** A file, with its samples in shared memory. */
export interface RecordIOFile extends RangeFile, FileFacts {
  /** Per sample: its start; then the end of the last. */
  readonly limits: WholeNumbers;
}

/** What is known of a file, as JSON. */
interface FileFacts extends Pick<RangeFile, "facts" | "kind" | "header"> {
  /** Its samples among all records, from `first` to `end` (exclusive). */
  readonly first: number;
  readonly end: number;
  /** What the first sample tells of all; `null` if it is no image. */
  readonly layout: ImageLayout | null;
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
  const index = path.replace(/(\.rec)?(\?[^/]*)?$/i, ".idx$2"); // URLs have queries
  const { limits, keys, damage, facts } = yield* chainedLimits(
    source,
    index,
    CHAIN,
    options,
  );
  if (limits.length === 1 && damage !== undefined) throw damage;
  const { first, end } = facts;
  return {
    ...{ path, size, mtime, ...facts, length: end - first },
    // InsightFace numbers the images of a face set from 1, after its header.
    keys: keys === undefined
      ? facts.header === undefined ? undefined : 1
      : sampleKeys(keys.subarray(first, end)),
    damage: damage && { code: damage.code, message: damage.message },
    limits: limits.subarray(first, end + 1),
  };
}

const CHAIN: Chain<FileFacts> = {
  kind: "recordio 2",
  header: HEADER,
  partAt,
  areFacts,
  look,
};

function areFacts(data: unknown, records: number): data is FileFacts {
  const { first, end, kind, facts, layout } = data as FileFacts;
  return Number.isInteger(first) && Number.isInteger(end) && 0 <= first &&
    first <= end && end <= records && typeof kind === "string" &&
    Object.values(facts).every(Number.isSafeInteger) &&
    (layout === null || typeof layout.isList === "boolean" &&
        /^[a-z0-9]{0,8}$/.test(layout.suffix));
}

/** Looks for the header of a face set, the record of key 0, which InsightFace's writer writes last; and at an image. */
function* look(source: ByteSource, limits: WholeNumbers): Steps<FileFacts> {
  const records = limits.length - 1;
  let [first, end, kind] = [0, records, "images"];
  let facts: FileFacts["facts"] = {};
  let header: string | undefined;
  for (const at of records > 0 ? [0, records - 1] : []) {
    const head = yield* imageHead(source, limits[at]!);
    const label = head?.faces ?? [];
    const [past, last] = label as [number, number];
    const isHeader = label.every(Number.isInteger) && past >= 1 &&
      past <= records && last >= past;
    if (!isHeader) continue;
    first = at === 0 ? 1 : 0;
    end = first + past - 1;
    facts = { identities: last - past };
    kind = "face set";
    const shown = { id: 0, label, images: past - 1, ...facts };
    header = `${JSON.stringify(shown)}\n`;
    break;
  }
  const head = first < end ? yield* imageHead(source, limits[first]!) : null;
  if (!head) {
    return { first, end, kind: "records", facts: { records }, layout: null };
  }
  facts = { records, images: end - first, ...facts };
  const { suffix, isList } = head;
  return { first, end, kind, facts, header, layout: { suffix, isList } };
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
  const part = partAt(view, 0);
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
