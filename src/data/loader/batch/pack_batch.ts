import { types } from "node:util";
import { aligned } from "../../../io/read/read_memory.ts";
import { type BatchMemory, isDetached } from "../../batch_memory.ts";

export interface JobMemory {
  /** Memory that samples are read into. */
  readonly samples: BatchMemory;
  /** Memory that collating writes to. */
  readonly batch: BatchMemory;
}

/** A batch that is ready to pass to another thread. */
export interface PackedBatch {
  readonly batch: unknown;
  /** Buffers to transfer; this thread must not use them any more. */
  readonly buffers: ArrayBufferLike[];
}

/**
 * Prepares a batch for another thread. Buffers of the loader's memory are transferred as they are, and so are those
 * that collating made, unless batches go to shared memory. Everything else may belong to the dataset (samples that
 * it caches, memory maps, shared memory): what the batch shows of it is first copied to the loader's memory.
 *
 * @param batch The collated batch.
 * @param samples The batch's samples; `undefined` if the batch may be these samples, so that nothing counts as made
 * by collating.
 * @param memory Memory of the batch.
 * @throws {TypeError} If a part of the batch was already transferred.
 */
export function packBatch(
  batch: unknown,
  samples: readonly unknown[] | undefined,
  memory: JobMemory,
): PackedBatch {
  const own = new Set<ArrayBufferLike>([
    ...memory.samples.buffers,
    ...memory.batch.buffers,
  ]);
  const others = samples === undefined ? undefined : buffersIn(samples);
  const passing = new Set<ArrayBufferLike>();
  const foreign = new Set<object>();
  let bytes = 0;
  visitBuffers(batch, (part) => {
    const buffer = bufferOf(part);
    refuseDetached(buffer);
    const isMade = others !== undefined && !others.has(buffer) &&
      buffer instanceof ArrayBuffer && part.byteLength === buffer.byteLength;
    if (own.has(buffer) || isMade) {
      passing.add(buffer);
      return;
    }
    foreign.add(part);
    bytes += aligned(part.byteLength);
  });
  if (foreign.size === 0) return { batch, buffers: [...passing] };
  const room = memory.batch.take(bytes);
  passing.add(room.buffer);
  return {
    batch: withCopies(batch, foreign, room),
    buffers: [...passing],
  };
}

function refuseDetached(buffer: ArrayBufferLike): void {
  if (!isDetached(buffer)) return;
  throw new TypeError(
    "Cannot send a part of the batch: its memory passed to the program's thread with " +
      "an earlier batch, and is empty here. Return a copy (slice()) of what 'collate' " +
      "keeps and returns again",
  );
}

/**
 * Copies the views and buffers in `foreign` to `room`, each at a multiple of 8. Parts of the value without any of
 * them stay as they are.
 */
function withCopies(
  whole: unknown,
  foreign: ReadonlySet<object>,
  room: Uint8Array,
): unknown {
  const known = new Map<object, unknown>();
  let taken = 0;
  const copyOf = (part: Part) => {
    if (!ArrayBuffer.isView(part)) return new Uint8Array(part).slice().buffer;
    const bytes = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
    const start = taken;
    taken += aligned(bytes.length);
    room.set(bytes, start);
    const View = classOf(part);
    const length = bytes.length / (View.BYTES_PER_ELEMENT ?? 1);
    return new View(room.buffer, room.byteOffset + start, length);
  };
  /** Registers a copy before it is complete, since a value may contain itself. */
  const begin = <M>(value: object, made: M): M => {
    known.set(value, made);
    return made;
  };
  /**
   * Copies like structured clone, which posting does anyway: anything but lists, maps and sets becomes a plain
   * object.
   */
  const of = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (known.has(value)) return known.get(value);
    if (isPart(value)) {
      return begin(value, foreign.has(value) ? copyOf(value) : value);
    }
    if (value instanceof Map) {
      const made = begin(value, new Map());
      for (const [key, entry] of value) made.set(of(key), of(entry));
      return made;
    }
    if (value instanceof Set) {
      const made = begin(value, new Set());
      for (const entry of value) made.add(of(entry));
      return made;
    }
    if (Array.isArray(value)) {
      const made = begin(value, new Array<unknown>(value.length));
      for (let i = 0; i < value.length; i++) made[i] = of(value[i]);
      return made;
    }
    const entries = Object.entries(value);
    if (entries.length === 0) return value; // for instance a date
    const made = begin(value, {} as Record<string, unknown>);
    for (const [key, entry] of entries) made[key] = of(entry);
    return made;
  };
  return of(whole);
}

interface ViewClass {
  readonly BYTES_PER_ELEMENT?: number;
  new (
    buffer: ArrayBufferLike,
    offset: number,
    length: number,
  ): ArrayBufferView;
}

/** Returns the built-in class of a view, which may be of a subclass such as Node's `Buffer`. */
function classOf(view: ArrayBufferView): ViewClass {
  const name = Object.prototype.toString.call(view).slice(8, -1);
  return (globalThis as unknown as Record<string, ViewClass>)[name]!;
}

type Part = ArrayBufferView | ArrayBufferLike;

/** Returns the buffers of all views in a value, including shared ones. */
function buffersIn(value: unknown): Set<ArrayBufferLike> {
  const buffers = new Set<ArrayBufferLike>();
  visitBuffers(value, (part) => buffers.add(bufferOf(part)));
  return buffers;
}

function bufferOf(part: Part): ArrayBufferLike {
  return ArrayBuffer.isView(part) ? part.buffer : part;
}

/** Visits the typed arrays, views and buffers in a value, each once, as `postMessage` finds them. */
function visitBuffers(
  value: unknown,
  visit: (part: Part) => void,
  seen = new Set<object>(),
): void {
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  seen.add(value);
  if (isPart(value)) return visit(value);
  const parts = value instanceof Map
    ? [...value].flat()
    : Array.isArray(value) || value instanceof Set
    ? value
    : Object.values(value);
  for (const part of parts) visitBuffers(part, visit, seen);
}

function isPart(
  value: object,
): value is Part {
  return ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value);
}
