/** Int32 slots of the shared memory. */
const STOPPING = 0;
const MINOR = 1;
const FLAGS = 2;
const MORE_FLAGS = 3;
const SLOTS = 4;

/** Result of INIT. */
export interface Agreed {
  readonly minor: number;
  readonly flags: number;
  readonly moreFlags: number;
}

/** State shared by the threads that serve a mount: the result of INIT, which only one reads, and a stop flag. */
export class ConnectionState {
  readonly memory: SharedArrayBuffer;
  readonly #slots: Int32Array;

  constructor(
    memory = new SharedArrayBuffer(SLOTS * Int32Array.BYTES_PER_ELEMENT),
  ) {
    this.memory = memory;
    this.#slots = new Int32Array(memory);
  }

  agree({ minor, flags, moreFlags }: Agreed): void {
    Atomics.store(this.#slots, FLAGS, flags);
    Atomics.store(this.#slots, MORE_FLAGS, moreFlags);
    Atomics.store(this.#slots, MINOR, minor);
  }

  /** Result of INIT; all 0 before. */
  get agreed(): Agreed {
    return {
      minor: this.minor,
      flags: Atomics.load(this.#slots, FLAGS),
      moreFlags: Atomics.load(this.#slots, MORE_FLAGS),
    };
  }

  /** Minor protocol version, or 0 before INIT. */
  get minor(): number {
    return Atomics.load(this.#slots, MINOR);
  }

  /** Whether INIT agreed on an {@linkcode InitFlag}. */
  has(flag: number): boolean {
    return (Atomics.load(this.#slots, FLAGS) & flag) !== 0;
  }

  /** Makes every serving thread end after the next request it reads. */
  stop(): void {
    Atomics.store(this.#slots, STOPPING, 1);
  }

  get stopping(): boolean {
    return Atomics.load(this.#slots, STOPPING) === 1;
  }
}
