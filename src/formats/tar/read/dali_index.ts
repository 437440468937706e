import type { Steps } from "../../../io/concurrency/steps.ts";
import { RecordfsError } from "../../../base/errors.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { MemorySource } from "../../../io/storage/memory_source.ts";
import { padded, TAR_BLOCK } from "../../../base/tar_header.ts";
import { scanTar } from "./scan.ts";
import { TarBuilder } from "./tar_builder.ts";
import { NO_HEAD, type TarIndex } from "./tar_columns.ts";
import { encodeName } from "../../../base/names.ts";
import { utf8Text } from "../../../base/utf8.ts";
import { openAdjacent } from "../../../io/storage/open_adjacent.ts";

const LARGEST = 256 << 20;
/** Maximum bytes between two contents: headers with their extensions. */
export const LONGEST_GAP = 64 << 10;
/** Maximum number of distinct gaps between contents; one of each is verified. */
const MOST_DISTANCES = 16;

export interface Named {
  readonly name: string;
  readonly offset: number;
  readonly size: number;
}

/**
 * Reads the index that DALI's `wds2idx` has made of a tar: `v1.2 SAMPLES`, and one line per sample of
 * `EXTENSION OFFSET SIZE NAME`. Earlier versions, which lack the names, are not used.
 *
 * It is used only if it agrees with the tar. Contents must be consecutive, with only headers between them. The first
 * and last gaps, and one of each distinct length, are read and must contain exactly the headers of the indexed file.
 * Other headers are verified when their contents are read.
 *
 * @returns `undefined` if there is no index, or it does not agree.
 */
export function* readDaliIndex(
  source: ByteSource,
  path: string,
  storage: Storage,
): Steps<TarIndex | undefined> {
  const beside = daliPath(path);
  if (beside === undefined) return undefined;
  const files = yield* readDaliFiles(beside, storage);
  if (files === undefined || !areInOrder(files, source.size)) return undefined;
  for (const place of placesToLookAt(files)) {
    if (!(yield* isAt(source, files, place))) return undefined;
  }
  const builder = new TarBuilder(path);
  const encoder = new TextEncoder();
  for (const { name, offset, size } of files) {
    builder.addFile(encoder.encode(name), offset, size, NaN, NO_HEAD);
  }
  const index = builder.finish();
  // Gaps are computed from neighbouring records, so no indexed file may have been dropped.
  if (index.columns.offsets.length !== files.length) return undefined;
  return { ...index, madeBy: beside };
}

/** Returns the path of a tar's index; `undefined` if its name does not end in `.tar`. */
export function daliPath(path: string): string | undefined {
  const isTar = path.endsWith(".tar");
  return isTar ? `${path.slice(0, -".tar".length)}.idx` : undefined;
}

/** Reads the files of an index; `undefined` if there is none or it is invalid. */
export function* readDaliFiles(
  path: string,
  storage: Storage,
): Steps<Named[] | undefined> {
  const index = yield* openAdjacent(storage, path);
  if (index === undefined) return undefined;
  try {
    if (index.size > LARGEST) return undefined;
    return parse(yield* readPart(index, 0, index.size));
  } catch (error) {
    if (error instanceof RecordfsError) return undefined; // the tar itself has all the information
    throw error;
  } finally {
    index.close();
  }
}

function parse(bytes: Uint8Array): Named[] | undefined {
  const lines = utf8Text(bytes).split("\n");
  const count = /^v1\.2 (\d+)$/.exec(lines[0]!)?.[1];
  if (lines.at(-1) === "") lines.pop();
  if (Number(count) !== lines.length - 1) return undefined;
  const files: Named[] = [];
  for (const line of lines.slice(1)) {
    const words = line.split(" ");
    if (words.length % 4 !== 0) return undefined;
    for (let i = 0; i < words.length; i += 4) {
      const [extension, offset, size, name] = words.slice(i, i + 4);
      if (!/^\d{1,15}$/.test(offset!) || !/^\d{1,15}$/.test(size!)) {
        return undefined;
      }
      if (!name!.endsWith(`.${extension}`)) return undefined;
      files.push({ name: name!, offset: Number(offset), size: Number(size) });
    }
  }
  return files.length === 0 ? undefined : files;
}

/** Returns where the headers of a file start: after the previous content. */
function headersOf(files: readonly Named[], i: number): number {
  const before = files[i - 1];
  return before === undefined ? 0 : before.offset + padded(before.size);
}

function areInOrder(files: readonly Named[], size: number): boolean {
  return files.every(({ offset, size: length }, i) => {
    const distance = offset - headersOf(files, i);
    return distance >= TAR_BLOCK && distance <= LONGEST_GAP &&
      distance % TAR_BLOCK === 0 && offset + length <= size;
  });
}

/** Returns the first file, the last, and one for each distinct gap. */
function placesToLookAt(files: readonly Named[]): number[] {
  const distances = new Map<number, number>();
  for (const [i, { offset }] of files.entries()) {
    distances.set(offset - headersOf(files, i), i);
  }
  const places = [0, ...distances.values(), files.length - 1, files.length];
  return distances.size > MOST_DISTANCES
    ? [-1]
    : [...new Set(places)].sort((a, b) => a - b);
}

/** Whether the gap before a file contains just its headers; after the last file, whether the tar ends. */
function* isAt(
  source: ByteSource,
  files: readonly Named[],
  i: number,
): Steps<boolean> {
  if (i < 0) return false;
  const start = headersOf(files, i);
  const file = files[i];
  if (file === undefined) {
    const left = Math.min(2 * TAR_BLOCK, source.size - start);
    const end = yield* readPart(source, start, Math.max(0, left));
    return end.every((byte) => byte === 0);
  }
  return yield* agrees(
    yield* readPart(source, start, file.offset - start),
    file,
  );
}

/**
 * Whether the bytes between the previous content and a file's are headers, the last of which are that file's.
 *
 * @param isOnly Whether they must be of no other member, such as a directory.
 */
export function* agrees(
  bytes: Uint8Array<ArrayBuffer>,
  { name, size }: Named,
  isOnly = true,
): Steps<boolean> {
  const builder = new HeadersBuilder();
  const headers = new HeadersOnly(bytes, padded(size));
  let isDamaged = false;
  yield* scanTar(headers, builder, () => void (isDamaged = true));
  const { found, count, paths } = builder;
  const last = found.at(-1);
  return !isDamaged && (count === 1 || !isOnly) && last !== undefined &&
    last.offset === bytes.length && last.size === size &&
    paths.find(encodeName(name)) === found.length - 1;
}

/** Records one file, and counts all members. */
class HeadersBuilder extends TarBuilder {
  readonly found: { offset: number; size: number }[] = [];
  count = 0;

  constructor() {
    super("");
  }

  override addFile(name: Uint8Array, offset: number, size: number): void {
    this.count++;
    if (this.paths.addFile(name, this.found.length, NaN) > 0) {
      this.found.push({ offset, size });
    }
  }

  override addSparse(): void {
    this.count++;
  }

  override addDirectory(): void {
    this.count++;
  }

  override addLink(): void {
    this.count++;
  }

  override addHardLink(): void {
    this.count++;
  }

  override skip(): void {
    this.count++;
  }
}

/** Headers followed by a given number of content bytes, which are never examined. */
class HeadersOnly extends MemorySource {
  readonly #content: number;

  constructor(bytes: Uint8Array, content: number) {
    super(bytes);
    this.#content = content;
  }

  override get size(): number {
    return this.bytes.length + this.#content;
  }

  override readAtSync(into: Uint8Array, offset: number): number {
    into.fill(0, super.readAtSync(into, offset));
    return Math.min(into.length, this.size - offset);
  }
}
