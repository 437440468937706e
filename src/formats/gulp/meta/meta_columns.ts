import {
  sharedBytes,
  sharedFloat64,
  sharedUint32,
} from "../../../tree/shared_numbers.ts";
import { VideoIds } from "../ids/video_ids.ts";

/**
 * Content of a chunk's `.gmeta` as columns: 13 bytes a frame, 29 and its id a video, no object for either. The columns
 * are in shared memory, which other threads use directly.
 */
export interface MetaColumns {
  /** Per frame: start of its record in the data file or, if negative, its {@linkcode FrameFault}. */
  readonly offsets: Float64Array;
  /** Per frame: length of its record in bytes, including padding. */
  readonly lengths: Uint32Array;
  /** Per frame: bytes of padding in its record. */
  readonly pads: Uint8Array | Uint32Array;
  /** Per video: index of its first frame. */
  readonly firstFrames: Uint32Array;
  /** Per video: number of frames, consecutive from the first. */
  readonly frameCounts: Uint32Array;
  /** Per video: start of the first item of its `meta_data` in the meta text. */
  readonly metaStarts: Float64Array;
  /** Per video: length of that item in bytes. */
  readonly metaLengths: Uint32Array;
  /** Per video: length in bytes of all items, including separators. */
  readonly metaListLengths: Uint32Array;
  /** Per video: number of items of `meta_data`. */
  readonly metaCounts: Uint32Array;
  /** Per video: its {@linkcode VideoFault}. */
  readonly faults: Uint8Array;
}

export interface MetaRead {
  readonly columns: MetaColumns;
  readonly ids: VideoIds;
}

/** Faults of `frame_info` entries. */
export const FrameFault = {
  /** Not a list of three integers. */
  NO_TRIPLE: -1,
  /** Negative, or larger than any frame. */
  OUT_OF_RANGE: -2,
  /** More padding than bytes. */
  PADDING: -3,
} as const;

/** Faults of a video's entry. */
export const VideoFault = {
  NONE: 0,
  /** Not an object. */
  NO_OBJECT: 1,
  /** `frame_info` is missing or not a list. */
  NO_FRAME_INFO: 2,
  /** `meta_data` is missing or not a list, or its first item is not an object. */
  NO_META_DATA: 3,
} as const;

/** Location of a video's meta_data in the meta text. */
export interface MetaPlace {
  start: number;
  length: number;
  listLength: number;
  count: number;
}

/** Longest record that a column can hold; no JPEG is nearly as long. */
const LONGEST_RECORD = 2 ** 32 - 1;

export class FrameColumns {
  length = 0;
  #offsets: Float64Array;
  #lengths: Uint32Array;
  #pads: Uint32Array;
  #mostPadding = 0;

  /** @param capacity Initial capacity in frames; memory that is not written to is not allocated. */
  constructor(capacity: number) {
    this.#offsets = scratch(Float64Array, capacity);
    this.#lengths = scratch(Uint32Array, capacity);
    this.#pads = scratch(Uint32Array, capacity);
  }

  /** Adds the frame of an entry `[loc, pad, length]` of integers, or its fault. */
  push(loc: number, pad: number, length: number): void {
    const outOfRange = loc < 0 || length < 0 || length > LONGEST_RECORD ||
      loc + length > Number.MAX_SAFE_INTEGER;
    if (outOfRange) this.pushFault(FrameFault.OUT_OF_RANGE);
    else if (pad < 0 || pad > length) this.pushFault(FrameFault.PADDING);
    else this.#push(loc, pad, length);
  }

  /** Adds the frame of a list; `numbers` are the integers among its first three items. */
  pushList(items: number, numbers: readonly number[]): void {
    const [loc, pad, length] = numbers;
    if (items === 3 && length !== undefined) this.push(loc!, pad!, length);
    else this.pushFault(FrameFault.NO_TRIPLE);
  }

  pushFault(fault: number): void {
    this.#push(fault, 0, 0);
  }

  /** Returns the columns, trimmed. Nothing can be added afterwards. */
  finish(): Pick<MetaColumns, "offsets" | "lengths" | "pads"> {
    const { length } = this;
    const pads = this.#pads.subarray(0, length);
    const columns = {
      offsets: sharedFloat64(this.#offsets.subarray(0, length)),
      lengths: sharedUint32(this.#lengths.subarray(0, length)),
      // Writers pad by 3 bytes at most.
      pads: this.#mostPadding > 0xff ? sharedUint32(pads) : sharedBytes(pads),
    };
    for (const column of [this.#offsets, this.#lengths, this.#pads]) {
      release(column);
    }
    return columns;
  }

  #push(offset: number, pad: number, length: number): void {
    const at = this.length;
    if (at === this.#offsets.length) this.#grow();
    if (pad > this.#mostPadding) this.#mostPadding = pad;
    this.#offsets[at] = offset;
    this.#lengths[at] = length;
    this.#pads[at] = pad;
    this.length = at + 1;
  }

  #grow(): void {
    this.#offsets = doubled(Float64Array, this.#offsets);
    this.#lengths = doubled(Uint32Array, this.#lengths);
    this.#pads = doubled(Uint32Array, this.#pads);
  }
}

/**
 * Collects the content of a `.gmeta`, video by video: first the id, then the frames, then {@linkcode endVideo}. A
 * repeated id replaces its earlier entry at the same position, as in a Python dict.
 */
export class MetaBuilder {
  readonly frames: FrameColumns;
  readonly #ids = new VideoIds();
  readonly #firstFrames: number[] = [];
  readonly #frameCounts: number[] = [];
  readonly #metaStarts: number[] = [];
  readonly #metaLengths: number[] = [];
  readonly #metaListLengths: number[] = [];
  readonly #metaCounts: number[] = [];
  readonly #faults: number[] = [];
  /** Row of the current video. */
  #row = -1;

  constructor(frameCapacity: number) {
    this.frames = new FrameColumns(frameCapacity + 16);
  }

  /** Begins the video whose id is `bytes[start … end]`. */
  beginVideo(bytes: Uint8Array, start: number, end: number): void {
    const known = this.#ids.findBytes(bytes, start, end);
    this.#row = known >= 0 ? known : this.#ids.add(bytes, start, end);
  }

  /** Ends the current video, whose frames are those from `firstFrame` to the last one added. */
  endVideo(firstFrame: number, place: MetaPlace, fault: number): void {
    const row = this.#row;
    this.#firstFrames[row] = firstFrame;
    this.#frameCounts[row] = this.frames.length - firstFrame;
    this.#metaStarts[row] = place.start;
    this.#metaLengths[row] = place.length;
    this.#metaListLengths[row] = place.listLength;
    this.#metaCounts[row] = place.count;
    this.#faults[row] = fault;
  }

  finish(): MetaRead {
    this.#ids.trim();
    return {
      columns: {
        ...this.frames.finish(),
        firstFrames: sharedUint32(this.#firstFrames),
        frameCounts: sharedUint32(this.#frameCounts),
        metaStarts: sharedFloat64(this.#metaStarts),
        metaLengths: sharedUint32(this.#metaLengths),
        metaListLengths: sharedUint32(this.#metaListLengths),
        metaCounts: sharedUint32(this.#metaCounts),
        faults: sharedBytes(this.#faults),
      },
      ids: this.#ids,
    };
  }
}

type Column = Uint32Array | Float64Array;

interface ColumnType<T extends Column> {
  new (buffer: ArrayBufferLike, offset: number, length: number): T;
  readonly BYTES_PER_ELEMENT: number;
}

function doubled<T extends Column>(Type: ColumnType<T>, from: T): T {
  const to = scratch(Type, from.length * 2);
  to.set(from);
  release(from);
  return to;
}

function scratch<T extends Column>(Type: ColumnType<T>, length: number): T {
  return new Type(scratchBuffer(length * Type.BYTES_PER_ELEMENT), 0, length);
}

/** Smaller buffers come from the C library's heap as usual. */
const LARGE = 1 << 20;

/**
 * glibc maps blocks larger than this separately and unmaps them when they are freed (`DEFAULT_MMAP_THRESHOLD_MAX`,
 * malloc/malloc.c). Smaller blocks may come from its heap, where memory freed below other blocks stays with the
 * process. Untouched pages cost nothing.
 */
const ALWAYS_MAPPED = (32 << 20) + 4096;

/** Returns a buffer of at least `size` bytes for short use, freed by {@linkcode release}. */
export function scratchBuffer(size: number): ArrayBuffer {
  return new ArrayBuffer(size < LARGE ? size : Math.max(size, ALWAYS_MAPPED));
}

/** Frees an unused array now: until garbage collection, it would coexist with the smaller trimmed copy. */
export function release(
  { buffer }: { readonly buffer: ArrayBufferLike },
): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}
