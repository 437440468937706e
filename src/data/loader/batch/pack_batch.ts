import { types } from "node:util";
import { aligned } from "../../../io/read/read_memory.ts";
import type { BatchMemory } from "../../batch_memory.ts";

/** The memory of a batch. */
export interface JobMemory {
  /** What samples are read into. */
  readonly samples: BatchMemory;
  /** What collating writes to. */
  readonly batch: BatchMemory;
}

/** A batch that is ready to pass to another thread. */
export interface PackedBatch {
  readonly batch: unknown;
  /** What passes along without being copied: nobody in this thread has it any more. */
  readonly buffers: ArrayBuffer[];
}

/**
 * Makes a batch ready to pass to another thread: the buffers of the loader's memory pass as they are, and
 * so do those that collating has made. All else may be the dataset's, such as samples that it keeps,
 * memory maps and shared memory: what the batch shows of that is copied into the loader's memory first.
 *
 * @param batch What was collated.
 * @param samples What it was made of; `undefined` where that may be the batch itself.
 * @param memory What was read and written to.
 * @throws {TypeError} If a part of the batch has been transferred before.
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
  const passing = new Set<ArrayBuffer>();
  const foreign = new Set<object>();
  let bytes = 0;
  visitBuffers(batch, (part) => {
    const buffer = bufferOf(part);
    if (buffer instanceof ArrayBuffer) {
      refuseDetached(buffer);
      const isMade = others !== undefined && !others.has(buffer) &&
        part.byteLength === buffer.byteLength;
      if (own.has(buffer) || isMade) {
        passing.add(buffer);
        return;
      }
    }
    foreign.add(part);
    bytes += aligned(part.byteLength);
  });
  if (foreign.size === 0) return { batch, buffers: [...passing] };
  const room = memory.batch.take(bytes);
  passing.add(room.buffer);
  return {
    batch: new Copies(foreign, room).of(batch),
    buffers: [...passing],
  };
}

function refuseDetached(buffer: ArrayBuffer): void {
  if (!buffer.detached) return;
  throw new TypeError(
    "A part of the batch is memory that passed to the program's thread with an earlier batch, and is empty " +
      "here: what 'collate' keeps and returns again, it must return as a copy (slice())",
  );
}

/** Values with some of their parts copied; what has none of them stays as it is. */
class Copies {
  readonly #foreign: ReadonlySet<object>;
  readonly #room: Uint8Array<ArrayBuffer>;
  #taken = 0;
  readonly #made = new Map<object, unknown>();

  /**
   * @param foreign The views and buffers that are copied.
   * @param room Memory for all of them, each at a multiple of 8.
   */
  constructor(foreign: ReadonlySet<object>, room: Uint8Array<ArrayBuffer>) {
    this.#foreign = foreign;
    this.#room = room;
  }

  of(value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (this.#made.has(value)) return this.#made.get(value);
    if (isPart(value)) {
      const part = this.#foreign.has(value) ? this.#copy(value) : value;
      this.#made.set(value, part);
      return part;
    }
    return this.#rebuilt(value);
  }

  /** Like the structured clone that posting makes anyhow: what is no list or map becomes a plain object. */
  #rebuilt(value: object): unknown {
    if (value instanceof Map) {
      const made = this.#begin(value, new Map());
      for (const [key, entry] of value) made.set(this.of(key), this.of(entry));
      return made;
    }
    if (value instanceof Set) {
      const made = this.#begin(value, new Set());
      for (const entry of value) made.add(this.of(entry));
      return made;
    }
    if (Array.isArray(value)) {
      const made = this.#begin(value, new Array<unknown>(value.length));
      for (let i = 0; i < value.length; i++) made[i] = this.of(value[i]);
      return made;
    }
    const keys = Object.keys(value);
    if (keys.length === 0) return value; // a date, say
    const made = this.#begin(value, {} as Record<string, unknown>);
    for (const key of keys) {
      made[key] = this.of((value as Record<string, unknown>)[key]);
    }
    return made;
  }

  /** Known before it is full, since it may be part of itself. */
  #begin<M>(value: object, made: M): M {
    this.#made.set(value, made);
    return made;
  }

  #copy(part: ArrayBufferView | ArrayBufferLike): unknown {
    if (!ArrayBuffer.isView(part)) return new Uint8Array(part).slice().buffer;
    const bytes = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
    const start = this.#taken;
    this.#taken += aligned(bytes.length);
    this.#room.set(bytes, start);
    const View = classOf(part);
    return new View(
      this.#room.buffer,
      this.#room.byteOffset + start,
      bytes.length / (View.BYTES_PER_ELEMENT ?? 1),
    );
  }
}

/** A kind of view that JavaScript itself has. */
interface ViewClass {
  readonly BYTES_PER_ELEMENT?: number;
  new (buffer: ArrayBuffer, offset: number, length: number): ArrayBufferView;
}

/** The kind of a view, which may be of a class that extends it, as Node's `Buffer`. */
function classOf(view: ArrayBufferView): ViewClass {
  const name = Object.prototype.toString.call(view).slice(8, -1);
  return (globalThis as unknown as Record<string, ViewClass>)[name]!;
}

/** Called with a view, or a buffer, that is part of a value. */
type BufferVisitor = (part: ArrayBufferView | ArrayBufferLike) => void;

/** Visits the typed arrays, views and buffers in a value, each once, as `postMessage` finds them. */
function visitBuffers(value: unknown, visit: BufferVisitor): void {
  walk(value, visit, new Set());
}

/** The buffers that a value's views are of, shared ones included. */
function buffersIn(value: unknown): Set<ArrayBufferLike> {
  const buffers = new Set<ArrayBufferLike>();
  visitBuffers(value, (part) => buffers.add(bufferOf(part)));
  return buffers;
}

/** The buffer of a view, or the buffer that it is. */
function bufferOf(
  part: ArrayBufferView | ArrayBufferLike,
): ArrayBufferLike {
  return ArrayBuffer.isView(part) ? part.buffer : part;
}

function walk(value: unknown, visit: BufferVisitor, seen: Set<object>): void {
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  seen.add(value);
  if (isPart(value)) return visit(value);
  if (value instanceof Map) {
    for (const [key, entry] of value) {
      walk(key, visit, seen);
      walk(entry, visit, seen);
    }
  } else if (Array.isArray(value) || value instanceof Set) {
    for (const entry of value) walk(entry, visit, seen);
  } else {
    for (const key of Object.keys(value)) {
      walk((value as Record<string, unknown>)[key], visit, seen);
    }
  }
}

/** Whether a value is a view or a buffer. */
function isPart(
  value: object,
): value is ArrayBufferView | ArrayBufferLike {
  return ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value);
}
