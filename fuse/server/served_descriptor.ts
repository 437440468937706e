import { libc } from "../libc.ts";

/** Stands for a descriptor that was closed. */
const CLOSED = -1;

/**
 * A descriptor of /dev/fuse that one thread serves. Both that thread and the one that started it may
 * close it, so that it does not stay open when the thread dies; whoever comes first does.
 */
export class ServedDescriptor {
  /** The memory to hand to the other thread. */
  readonly memory: SharedArrayBuffer;
  readonly #slot: Int32Array;

  private constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#slot = new Int32Array(memory);
  }

  /** Takes a descriptor over. */
  static of(fd: number): ServedDescriptor {
    const memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    const descriptor = new ServedDescriptor(memory);
    Atomics.store(descriptor.#slot, 0, fd);
    return descriptor;
  }

  /** The descriptor that another thread described. */
  static from(memory: SharedArrayBuffer): ServedDescriptor {
    return new ServedDescriptor(memory);
  }

  /** Its number; not to be used after {@linkcode close}. */
  get fd(): number {
    return Atomics.load(this.#slot, 0);
  }

  /** Closes it unless it is closed: its number may be another's by then. */
  close(): void {
    const fd = Atomics.exchange(this.#slot, 0, CLOSED);
    if (fd !== CLOSED) libc().close(fd);
  }
}
