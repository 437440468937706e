/** Int32 slots of the shared memory. */
const STOPPING = 0;
const MINOR = 1;
const FLAGS = 2;
const SLOTS = 3;

/**
 * What the threads that serve one mount have in common: what INIT agreed on, which only one of them
 * reads, and whether they are to stop.
 */
export class ConnectionState {
  /** The memory to hand to other threads. */
  readonly memory: SharedArrayBuffer;
  readonly #slots: Int32Array;

  constructor(
    memory = new SharedArrayBuffer(SLOTS * Int32Array.BYTES_PER_ELEMENT),
  ) {
    this.memory = memory;
    this.#slots = new Int32Array(memory);
  }

  /** Keeps what INIT agreed on. */
  agree(minor: number, flags: number): void {
    Atomics.store(this.#slots, FLAGS, flags);
    Atomics.store(this.#slots, MINOR, minor);
  }

  /** Minor protocol version agreed on, or 0 before INIT. */
  get minor(): number {
    return Atomics.load(this.#slots, MINOR);
  }

  /** Whether INIT agreed on an {@linkcode InitFlag}. */
  has(flag: number): boolean {
    return (Atomics.load(this.#slots, FLAGS) & flag) !== 0;
  }

  /** Has every thread that serves the mount end after the next request it reads. */
  stop(): void {
    Atomics.store(this.#slots, STOPPING, 1);
  }

  get stopping(): boolean {
    return Atomics.load(this.#slots, STOPPING) === 1;
  }
}
