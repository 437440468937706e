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

export interface Contents {
  readonly sources: SourceList;
  readonly length: number;
  /** Locates a content. It may throw {@linkcode NotLoaded}, and is called again after loading. */
  locate(i: number, into: Extent): void;
  /** Makes the error for a checksum mismatch. If absent, checksums are not verified. */
  readonly mismatch?:
    | ((i: number, expected: number, actual: number) => Error)
    | undefined;
}

/**
 * Prefetches contents whose location is known, up to the first that its source does not prefetch. Returns the number of
 * bytes in flight or fetched.
 */
export function prefetchContents(
  { sources, length, locate }: Omit<Contents, "mismatch">,
): number {
  const extent = newExtent();
  let bytes = 0;
  try {
    for (let i = 0; i < length; i++) {
      if (!isLocated(() => locate(i, extent))) continue;
      if (extent.bytes !== undefined || extent.length === 0) continue;
      const source = sources.at(extent.source);
      if (source?.prefetch?.(extent.offset, extent.length) !== true) break;
      bytes += extent.length;
    }
  } catch (error) {
    if (!(error instanceof RecordfsError)) throw error; // reported by the read itself
  }
  return bytes;
}

/** Whether a location is known. If not, the tree has noted that this part of an index will be needed. */
function isLocated(locate: () => void): boolean {
  try {
    locate();
    return true;
  } catch (error) {
    if (!(error instanceof NotLoaded)) throw error;
    return false;
  }
}

/** Maximum bytes of holes in one batch: a container of a few bytes may claim any number of them. */
const MOST_HOLES = 256 << 20;

/** Contents smaller than this are not tested for holes. */
const LARGE = 1 << 20;

class Holes {
  readonly #sources: SourceList;
  #bytes = 0;

  constructor(sources: SourceList) {
    this.#sources = sources;
  }

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

/** Lets trees note which locations will be needed, so that they can fetch the index parts together. */
function expectPlaces({ length, locate }: Contents, from: number): void {
  const extent = newExtent();
  for (let i = from; i < length; i++) {
    try {
      locate(i, extent);
    } catch (error) {
      if (!(error instanceof RecordfsError)) throw error; // reported by the read itself
    }
  }
}

/**
 * Reads a batch of contents in storage order, adjacent ones in one request. All batches of samples and files are read
 * by this function.
 *
 * @param memory Memory to read into; defaults to new memory.
 * @returns The contents in batch order. No two share bytes, except in a {@linkcode SharedRoom}.
 */
export function* readContents(
  batch: Contents,
  memory?: BatchRoom,
): Steps<Uint8Array<ArrayBuffer>[]> {
  const { sources, length, mismatch } = batch;
  const extents: Extent[] = [];
  /** Indices of the contents that lie in sources. */
  const stored: number[] = [];
  const holes = new Holes(sources);
  let isHinted = false;
  yield* whenLoaded(() => {
    for (let i = extents.length; i < length; i++) {
      const extent = newExtent();
      try {
        batch.locate(i, extent);
      } catch (error) {
        // Later contents may have to wait too: request all their locations at once.
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
