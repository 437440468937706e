import {
  sharedBytes,
  sharedFloat64,
  sharedUint32,
} from "../../../tree/shared_numbers.ts";
import { VideoIds } from "../ids/video_ids.ts";

/**
 * What a chunk's `.gmeta` says, as columns: 13 bytes a frame, 29 and its id a video, no object for
 * either. All but the ids is over shared memory, so that other threads use it as it is.
 */
export interface MetaColumns {
  /**
   * Per frame: where its record starts in the data file, or, negative, what is wrong with its entry:
   * a {@linkcode FrameFault}.
   */
  readonly offsets: Float64Array;
  /** Per frame: length of its record in bytes, padding included. */
  readonly lengths: Uint32Array;
  /** Per frame: how many bytes of its record are padding. */
  readonly pads: Uint8Array | Uint32Array;
  /** Per video: its first frame. */
  readonly firstFrames: Uint32Array;
  /** Per video: how many frames it has, neighbours from the first on. */
  readonly frameCounts: Uint32Array;
  /** Per video: where the first item of its `meta_data` starts in the meta text. */
  readonly metaStarts: Float64Array;
  /** Per video: length of that item in bytes. */
  readonly metaLengths: Uint32Array;
  /** Per video: length in bytes of all items with what separates them. */
  readonly metaListLengths: Uint32Array;
  /** Per video: how many items `meta_data` has. */
  readonly metaCounts: Uint32Array;
  /** Per video: what is wrong with it, a {@linkcode VideoFault}. */
  readonly faults: Uint8Array;
}

/** What a chunk's `.gmeta` says, and the ids of its videos. */
export interface MetaRead {
  readonly columns: MetaColumns;
  readonly ids: VideoIds;
}

/** What can be wrong with an entry of `frame_info` by itself. */
export const FrameFault = {
  /** It is not a list of three integers. */
  NO_TRIPLE: -1,
  /** It is negative, or larger than any frame. */
  OUT_OF_RANGE: -2,
  /** More padding than bytes. */
  PADDING: -3,
} as const;

/** What can be wrong with the entry of a video. */
export const VideoFault = {
  NONE: 0,
  /** It is no object. */
  NO_OBJECT: 1,
  /** `frame_info` is missing, or no list. */
  NO_FRAME_INFO: 2,
  /** `meta_data` is missing, or no list, or its first item is no object. */
  NO_META_DATA: 3,
} as const;

/** Where the meta_data of a video lies in the meta text. */
export interface MetaPlace {
  start: number;
  length: number;
  listLength: number;
  count: number;
}

/** Longest record that a column holds; no JPEG is nearly as long. */
const LONGEST_RECORD = 2 ** 32 - 1;

/** Growing columns of frames. */
export class FrameColumns {
  length = 0;
  #offsets: Float64Array;
  #lengths: Uint32Array;
  #pads: Uint32Array;
  #mostPadding = 0;

  /** @param capacity Frames to make room for at first; memory not written to is not taken. */
  constructor(capacity: number) {
    this.#offsets = scratch(Float64Array, capacity);
    this.#lengths = scratch(Uint32Array, capacity);
    this.#pads = scratch(Uint32Array, capacity);
  }

  /** Adds the frame of an entry `[loc, pad, length]` of integers, or what is wrong with it. */
  push(loc: number, pad: number, length: number): void {
    const outOfRange = loc < 0 || length < 0 || length > LONGEST_RECORD ||
      loc + length > Number.MAX_SAFE_INTEGER;
    if (outOfRange) this.pushFault(FrameFault.OUT_OF_RANGE);
    else if (pad < 0 || pad > length) this.pushFault(FrameFault.PADDING);
    else this.#push(loc, pad, length);
  }

  /** Adds the frame of a list, of whose first three items some are integers: `numbers`. */
  pushList(items: number, numbers: readonly number[]): void {
    const [loc, pad, length] = numbers;
    if (items === 3 && length !== undefined) this.push(loc!, pad!, length);
    else this.pushFault(FrameFault.NO_TRIPLE);
  }

  /** Adds a frame that can't be read. */
  pushFault(fault: number): void {
    this.#push(fault, 0, 0);
  }

  /** The columns, no longer than they need to be. Nothing can be added any more. */
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
 * Collects what a `.gmeta` says, video by video: first the id, then the frames, then
 * {@linkcode endVideo}.
 *
 * An id that comes again replaces what was said of it, at its first place, as in a Python dict.
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
  /** The row of the video that is being read. */
  #row = -1;

  /** @param frameCapacity How many frames to make room for at first. */
  constructor(frameCapacity: number) {
    this.frames = new FrameColumns(frameCapacity + 16);
  }

  /** Begins the video whose id is `bytes[start … end]`. */
  beginVideo(bytes: Uint8Array, start: number, end: number): void {
    const known = this.#ids.findBytes(bytes, start, end);
    this.#row = known >= 0 ? known : this.#ids.add(bytes, start, end);
  }

  /**
   * Ends the video begun last.
   *
   * @param firstFrame Its first frame among all; its last is the last that was added.
   * @param fault What is wrong with it, a `VideoFault`.
   */
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

  /** What was collected. */
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

/** Below that, memory comes from the heap of the C library, as always. */
const LARGE = 1 << 20;

/**
 * glibc maps what is larger than that by itself and unmaps it when it is freed
 * (`DEFAULT_MMAP_THRESHOLD_MAX`, malloc/malloc.c); smaller blocks may come from its heap, where what is
 * freed below others stays with the process. Pages that are never touched cost nothing.
 */
const ALWAYS_MAPPED = (32 << 20) + 4096;

/** A buffer of at least `size` bytes that is to be given back soon, by {@linkcode release}. */
export function scratchBuffer(size: number): ArrayBuffer {
  return new ArrayBuffer(size < LARGE ? size : Math.max(size, ALWAYS_MAPPED));
}

/**
 * Gives back the memory of an array that is not used any more, now: until it is collected as garbage,
 * it would stay beside what is kept, and be larger.
 */
export function release(
  { buffer }: { readonly buffer: ArrayBufferLike },
): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}
