import { FileState, StatFile } from "./file_state.ts";

/** Interval at which a file is looked at while it is read and nothing else depends on it, in milliseconds. */
const INTERVAL = 1000;

/** A container's file, as threads are told of it. */
export interface FileToServe {
  readonly path: string;
  /** Descriptor to copy its bytes from, or -1 where none is kept open. */
  readonly fd: number;
  /** True if a writer may still append to it. */
  readonly mayGrow: boolean;
  /** Memory of the {@linkcode ServedFile}. */
  readonly memory: SharedArrayBuffer;
}

/** Listeners to changes of a file. */
export interface ChangeListener {
  /** Told that findings about its content no longer hold. */
  invalidate(): void;
  log(message: string): void;
}

/** Makes the memory of a {@linkcode ServedFile}; it holds the state of the file at this time. */
export function newFileMemory(
  path: string,
  fd: number,
  opened: { readonly mtime: number },
): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(
    (1 + FileState.WORDS) * Int32Array.BYTES_PER_ELEMENT,
  );
  const state = stateIn(memory);
  new StatFile(fd, path).look(state);
  // One that was changed between its opening and now will be found to have changed.
  if (state.mtime !== opened.mtime) state.spoil();
  return memory;
}

/**
 * A container's file that one thread serves from. Notices what becomes of it meanwhile; of the threads
 * that do, one reports it.
 */
export class ServedFile {
  readonly path: string;
  /** Descriptor to copy its bytes from, or -1. */
  readonly fd: number;
  readonly #mayGrow: boolean;
  readonly #lock: Int32Array;
  /** As all threads know it. */
  readonly #known: FileState;
  readonly #now = new FileState();
  readonly #listener: ChangeListener;
  #stat: StatFile | undefined;
  #lookedAt = 0;
  #isElsewhere = false;

  constructor(
    { path, fd, mayGrow, memory }: FileToServe,
    listener: ChangeListener,
  ) {
    this.path = path;
    this.fd = fd;
    this.#mayGrow = mayGrow;
    this.#lock = new Int32Array(memory, 0, 1);
    this.#known = stateIn(memory);
    this.#listener = listener;
  }

  /** Looks at the file if that was long ago. */
  lookSometimes(): void {
    // The clock may jump; then it is looked at once more, or a little later.
    if (Math.abs(Date.now() - this.#lookedAt) >= INTERVAL) this.hasChanged();
  }

  /** Looks at the file now, and tells whether it has become another one since the last look at it. */
  hasChanged(): boolean {
    if (this.#isElsewhere) return false;
    this.#lookedAt = Date.now();
    this.#stat ??= new StatFile(this.fd, this.path);
    const isThere = this.#stat.look(this.#now);
    if (isThere && this.#now.equals(this.#known)) return false;
    // One thread reports it; the others need only know.
    if (Atomics.compareExchange(this.#lock, 0, 0, 1) === 0) {
      try {
        this.#note();
      } finally {
        Atomics.store(this.#lock, 0, 0);
      }
    }
    return true;
  }

  #note(): void {
    const now = this.#now;
    const known = this.#known;
    const isThere = this.#stat!.look(now); // again: another thread may have noted a later state
    if (isThere && now.equals(known)) return;
    const { path } = this;
    const isOther = !isThere ||
      !now.shares("inode", known) || !now.shares("device", known);
    if (this.fd < 0 && isOther) this.#isElsewhere = true; // the path leads to it no more
    if (isOther || (now.links === 0 && known.links > 0)) {
      this.#listener.log(
        `${path} was replaced or removed while it is mounted: the mount goes on with the file ` +
          "that it opened; mount it again to see another one",
      );
      if (isOther) return; // the one that is served is where it was
    } else if (now.size < known.size) {
      this.#listener.log(
        `${path} was cut from ${known.size} to ${now.size} bytes while it is mounted: reading ` +
          "what is gone is an I/O error; restore the file and mount it again",
      );
    } else if (!this.#mayGrow || now.size === known.size) {
      this.#listener.log(
        `${path} was changed while it is mounted (modified ${
          timeOf(now)
        }): what fails its ` +
          "checksum is an I/O error; mount it again to see what it holds now",
      );
    }
    // In this order: what is remembered never counts for a later state of the file.
    if (!this.#mayGrow || now.size <= known.size) this.#listener.invalidate();
    known.copy(now);
  }
}

/** The state, which follows a word for the lock. */
function stateIn(memory: SharedArrayBuffer): FileState {
  return new FileState(new Uint32Array(memory, Uint32Array.BYTES_PER_ELEMENT));
}

function timeOf(state: FileState): string {
  return new Date(state.mtime).toISOString();
}
