import { FormatError } from "../../../base/errors.ts";

/** Int32 slots of the shared memory; those from `PIECES` on are 1 for each piece that is loaded. */
const VERDICT = 0;
const WANTED = 1;
const CHANGES = 2;
const PIECE_SIZE = 3;
const PIECES = 4;

/** Verdicts on the tables; 0 until there is one. */
const SOUND = 1;
const DAMAGED = 2;

/**
 * How far the tables of a file are loaded and checked: what the thread that loads them tells those
 * that serve from them already, and which piece one of these waits for.
 */
export class TableProgress {
  /** The memory to hand to other threads. */
  readonly slots: Int32Array;
  readonly #pieceSize: number;
  #sound = false;

  /** @param slots What {@linkcode TableProgress.slots} is in another thread. */
  constructor(slots: Int32Array) {
    this.slots = slots;
    this.#pieceSize = slots[PIECE_SIZE]!;
  }

  /**
   * @param tableSize Bytes of the tables, of which nothing is loaded yet.
   * @param pieceSize Bytes that are loaded at a time.
   */
  static of(tableSize: number, pieceSize: number): TableProgress {
    const length = PIECES + Math.ceil(tableSize / pieceSize);
    const slots = new Int32Array(
      new SharedArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT),
    );
    slots[PIECE_SIZE] = pieceSize;
    return new TableProgress(slots);
  }

  /** Whether all is loaded and found to be right. */
  get isSound(): boolean {
    // Looked up in memory of this thread from then on: it is asked at each request.
    return this.#sound ||= Atomics.load(this.slots, VERDICT) === SOUND;
  }

  isLoaded(piece: number): boolean {
    return Atomics.load(this.slots, PIECES + piece) === 1;
  }

  /** Says that a piece is in its place. */
  loaded(piece: number): void {
    Atomics.store(this.slots, PIECES + piece, 1);
    this.#tell();
  }

  /** Says what has become of the tables; nobody waits any more after that. */
  settle(sound: boolean): void {
    Atomics.store(this.slots, VERDICT, sound ? SOUND : DAMAGED);
    this.#tell();
  }

  /** A piece that a thread waits for, or -1. */
  wanted(): number {
    const piece = Atomics.exchange(this.slots, WANTED, 0) - 1;
    return piece >= 0 && !this.isLoaded(piece) ? piece : -1;
  }

  /**
   * Waits until bytes of the tables are loaded, on another thread than the one that loads them.
   *
   * @throws {FormatError} If the tables have turned out to be damaged.
   */
  waitForBytes(path: string, from: number, to: number): void {
    const last = Math.floor((to - 1) / this.#pieceSize);
    for (let p = Math.floor(from / this.#pieceSize); p <= last; p++) {
      this.#wait(path, p + 1, () => this.isLoaded(p));
    }
  }

  /** Waits likewise until all is loaded and checked. */
  waitUntilSound(path: string): void {
    this.#wait(path, 0, () => this.isSound);
  }

  #wait(path: string, wanted: number, isThere: () => boolean): void {
    for (;;) {
      const changes = Atomics.load(this.slots, CHANGES);
      if (Atomics.load(this.slots, VERDICT) === DAMAGED) throw damaged(path);
      if (isThere()) return;
      if (wanted > 0) Atomics.store(this.slots, WANTED, wanted);
      Atomics.wait(this.slots, CHANGES, changes);
    }
  }

  #tell(): void {
    Atomics.add(this.slots, CHANGES, 1);
    Atomics.notify(this.slots, CHANGES);
  }
}

function damaged(path: string): FormatError {
  return new FormatError(
    "metadata-checksum",
    `${path}: its metadata are damaged or can't be read: nothing of it is served`,
    { path },
  );
}
