import { libc } from "../libc.ts";

const CLOSED = -1;

/**
 * Descriptor of /dev/fuse that one thread serves. Both that thread and its starter may close it, so that it does not
 * stay open if the thread dies. Only the first close takes effect.
 */
export class ServedDescriptor {
  readonly memory: SharedArrayBuffer;
  readonly #slot: Int32Array;

  private constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#slot = new Int32Array(memory);
  }

  /** Takes over a descriptor. */
  static of(fd: number): ServedDescriptor {
    const memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    const descriptor = new ServedDescriptor(memory);
    Atomics.store(descriptor.#slot, 0, fd);
    return descriptor;
  }

  static from(memory: SharedArrayBuffer): ServedDescriptor {
    return new ServedDescriptor(memory);
  }

  /** Number of the descriptor; must not be used after {@linkcode close}. */
  get fd(): number {
    return Atomics.load(this.#slot, 0);
  }

  /** Closes it once: afterwards the number may belong to another file. */
  close(): void {
    const fd = Atomics.exchange(this.#slot, 0, CLOSED);
    if (fd !== CLOSED) libc().close(fd);
  }
}
