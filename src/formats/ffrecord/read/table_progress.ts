import { FormatError } from "../../../base/errors.ts";

/** Int32 slots of the shared memory; from `PIECES` on, 1 for each loaded piece. */
const VERDICT = 0;
const WANTED = 1;
const CHANGES = 2;
const PIECE_SIZE = 3;
const PIECES = 4;

/** Verdicts on the tables; 0 while pending. */
const SOUND = 1;
const DAMAGED = 2;

/**
 * Loading progress of a file's tables, shared between the loading thread and those that already serve from them, which
 * request missing pieces through it.
 */
export class TableProgress {
  readonly slots: Int32Array;
  readonly #pieceSize: number;
  #sound = false;

  constructor(slots: Int32Array) {
    this.slots = slots;
    this.#pieceSize = slots[PIECE_SIZE]!;
  }

  static of(tableSize: number, pieceSize: number): TableProgress {
    const length = PIECES + Math.ceil(tableSize / pieceSize);
    const slots = new Int32Array(
      new SharedArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT),
    );
    slots[PIECE_SIZE] = pieceSize;
    return new TableProgress(slots);
  }

  /** Whether everything is loaded and verified. */
  get isSound(): boolean {
    // Cached in this thread, since it is read at each request.
    return this.#sound ||= Atomics.load(this.slots, VERDICT) === SOUND;
  }

  isLoaded(piece: number): boolean {
    return Atomics.load(this.slots, PIECES + piece) === 1;
  }

  loaded(piece: number): void {
    Atomics.store(this.slots, PIECES + piece, 1);
    this.#tell();
  }

  /** Sets the verdict, and ends all waits. */
  settle(sound: boolean): void {
    Atomics.store(this.slots, VERDICT, sound ? SOUND : DAMAGED);
    this.#tell();
  }

  /** Returns a piece that a thread waits for, or -1. */
  wanted(): number {
    const piece = Atomics.exchange(this.slots, WANTED, 0) - 1;
    return piece >= 0 && !this.isLoaded(piece) ? piece : -1;
  }

  /**
   * Waits until bytes of the tables are loaded; not for use on the loading thread.
   *
   * @throws {FormatError} If the tables are damaged.
   */
  waitForBytes(path: string, from: number, to: number): void {
    const last = Math.floor((to - 1) / this.#pieceSize);
    for (let p = Math.floor(from / this.#pieceSize); p <= last; p++) {
      this.#wait(path, p + 1, () => this.isLoaded(p));
    }
  }

  /** Waits until everything is loaded and verified, as {@linkcode TableProgress.waitForBytes}. */
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
    `Cannot read ${path}: its metadata are damaged or ` +
      "unreadable, so nothing of it is served",
    { path },
  );
}
