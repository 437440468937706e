import type { SourceList } from "../io/storage/byte_source.ts";
import type { Steps } from "../io/concurrency/steps.ts";
import {
  type BatchRoom,
  placesIn,
  SharedRoom,
} from "../io/read/read_memory.ts";
import { readVerifiedSlices } from "../io/read/verified_content.ts";
import { isMade } from "../io/storage/made_source.ts";
import { FormatError, RecordfsError } from "../base/errors.ts";
import { NotLoaded, whenLoaded } from "./not_loaded.ts";
import { type Extent, newExtent } from "./tree.ts";

/** A batch of contents to be read. */
export interface Contents {
  /** What they lie in. */
  readonly sources: SourceList;
  /** How many there are. */
  readonly length: number;
  /** Says where a content is; it may throw {@linkcode NotLoaded}, and is asked again then. */
  locate(i: number, into: Extent): void;
  /** Makes the error of a content whose checksum is not the recorded one; unless given, none are compared. */
  readonly mismatch?:
    | ((i: number, expected: number, actual: number) => Error)
    | undefined;
}

/**
 * Says that a batch of contents will be read soon: what has to be fetched begins to. Where that is not known yet, or all
 * is at hand, nothing is done.
 *
 * @returns How many bytes are fetched, or have been.
 */
export function expectContents(
  { sources, length, locate }: Omit<Contents, "mismatch">,
): number {
  const extent = newExtent();
  let bytes = 0;
  try {
    for (let i = 0; i < length; i++) {
      if (!isLocated(() => locate(i, extent))) continue;
      if (extent.bytes !== undefined || extent.length === 0) continue;
      const source = sources.at(extent.source);
      if (source?.expect?.(extent.offset, extent.length) !== true) break;
      bytes += extent.length;
    }
  } catch (error) {
    if (!(error instanceof RecordfsError)) throw error; // who reads it is told
  }
  return bytes;
}

/** Whether a place is known; otherwise a part of an index is not there yet, and the tree knows that it will be. */
function isLocated(locate: () => void): boolean {
  try {
    locate();
    return true;
  } catch (error) {
    if (!(error instanceof NotLoaded)) throw error;
    return false;
  }
}

/** Bytes of holes that are made for one batch: a container of a few bytes may say that it has any number of them. */
const MOST_HOLES = 256 << 20;

/** Contents below are not asked whether they have holes. */
const LARGE = 1 << 20;

/** Counts the holes of contents, and refuses too many. */
class Holes {
  readonly #sources: SourceList;
  #bytes = 0;

  constructor(sources: SourceList) {
    this.#sources = sources;
  }

  /** @throws {FormatError} If there are too many. */
  add({ source: number, length }: Extent): void {
    if (length < LARGE) return;
    const source = this.#sources.at(number);
    if (source === undefined || !isMade(source)) return;
    this.#bytes += source.holes ?? 0;
    if (this.#bytes <= MOST_HOLES) return;
    throw new FormatError(
      "too-large",
      `Cannot read ${source.name} as a whole: of its ${length} bytes, ${source.holes} are holes, and a batch may have ` +
        `${MOST_HOLES} of them. Read it in parts, or extract it, which keeps holes`,
      { path: source.storedIn },
    );
  }
}

/** Has trees hear which places will be asked for: what has to be fetched to tell them is, where they can say so. */
function expectPlaces({ length, locate }: Contents, from: number): void {
  const extent = newExtent();
  for (let i = from; i < length; i++) {
    try {
      locate(i, extent);
    } catch (error) {
      if (!(error instanceof RecordfsError)) throw error; // who reads it is told
    }
  }
}

/**
 * Reads a batch of contents: in the order in which they lie, neighbours in one go. All batches of samples
 * and files are read by this.
 *
 * @param memory What to read into; memory of their own where not given.
 * @returns The contents in the order of the batch, none of which shares bytes with another, but in a {@linkcode SharedRoom}.
 */
export function* readContents(
  batch: Contents,
  memory?: BatchRoom,
): Steps<Uint8Array<ArrayBuffer>[]> {
  const { sources, length, mismatch } = batch;
  const extents: Extent[] = [];
  /** Which of them lie in sources. */
  const stored: number[] = [];
  const holes = new Holes(sources);
  let isHinted = false;
  yield* whenLoaded(() => {
    for (let i = extents.length; i < length; i++) {
      const extent = newExtent();
      try {
        batch.locate(i, extent);
      } catch (error) {
        // Those that come after it may have to wait as well: then all at once.
        if (error instanceof NotLoaded && !isHinted) expectPlaces(batch, i + 1);
        isHinted = true;
        throw error;
      }
      extents.push(extent);
      if (extent.bytes !== undefined) continue;
      holes.add(extent);
      stored.push(i);
    }
  });
  if (stored.length === length) {
    const into = memory instanceof SharedRoom
      ? memory
      : memory && placesIn(memory, extents);
    return yield* readVerifiedSlices(sources, extents, mismatch, into);
  }
  const places = memory && placesIn(memory, extents);
  const contents = extents.map(({ bytes, length }, i) => {
    const content = bytes && (places?.[i] ?? new Uint8Array(length));
    content?.set(bytes!);
    return content!;
  });
  const read = yield* readVerifiedSlices(
    sources,
    stored.map((i) => extents[i]!),
    mismatch && ((k, ...sums) => mismatch(stored[k]!, ...sums)),
    places && stored.map((i) => places[i]!),
  );
  for (const [k, bytes] of read.entries()) contents[stored[k]!] = bytes;
  return contents;
}
