import { FileState, StatFile } from "./file_state.ts";

/** Minimum interval between routine checks of a file, in milliseconds. */
const INTERVAL = 1000;

/** Bytes of a file that show whether other programs may have written over what is read of it. */
export interface FileGuard {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** A container's file, as sent to the serving threads. */
export interface FileToServe {
  readonly path: string;
  /** Descriptor to copy its bytes from, or -1 if none is kept open. */
  readonly fd: number;
  /** Whether a writer may still append to it. */
  readonly mayGrow: boolean;
  readonly memory: SharedArrayBuffer;
  /** Compared after each read, if other programs write to the file in place. */
  readonly guard?: FileGuard | undefined;
}

export interface ChangeListener {
  /** Called when results about its content no longer hold. */
  invalidate(): void;
  log(message: string): void;
}

/** Allocates the memory of a {@linkcode ServedFile}, holding the current state of the file. */
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
  // A change between opening and now must be detected as a change.
  if (state.mtime !== opened.mtime) state.spoil();
  return memory;
}

/** A container's file that one thread serves from. Detects changes; only one of the threads reports each. */
export class ServedFile {
  readonly path: string;
  readonly fd: number;
  readonly guard: FileGuard | undefined;
  readonly #mayGrow: boolean;
  readonly #lock: Int32Array;
  /** Last reported state, shared by all threads. */
  readonly #known: FileState;
  readonly #now = new FileState();
  readonly #listener: ChangeListener;
  #stat: StatFile | undefined;
  #lookedAt = 0;
  #isElsewhere = false;

  constructor(
    { path, fd, mayGrow, memory, guard }: FileToServe,
    listener: ChangeListener,
  ) {
    this.path = path;
    this.fd = fd;
    this.guard = guard;
    this.#mayGrow = mayGrow;
    this.#lock = new Int32Array(memory, 0, 1);
    this.#known = stateIn(memory);
    this.#listener = listener;
  }

  /** Checks the file unless it was checked within the last {@linkcode INTERVAL}. */
  revalidate(): void {
    // If the clock jumps, the check is only early or a little late.
    if (Math.abs(Date.now() - this.#lookedAt) >= INTERVAL) this.hasChanged();
  }

  /** Checks the file now. Returns whether it has changed since the last reported state. */
  hasChanged(): boolean {
    if (this.#isElsewhere) return false;
    this.#lookedAt = Date.now();
    this.#stat ??= new StatFile(this.fd, this.path);
    const isThere = this.#stat.look(this.#now);
    if (isThere && this.#now.equals(this.#known)) return false;
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
    const isThere = this.#stat!.look(now); // again: another thread may have recorded a later state
    if (isThere && now.equals(known)) return;
    const { path } = this;
    const isOther = !isThere ||
      !now.shares("inode", known) || !now.shares("device", known);
    if (this.fd < 0 && isOther) this.#isElsewhere = true; // the path no longer leads to it
    if (isOther || (now.links === 0 && known.links > 0)) {
      this.#listener.log(
        `${path} was replaced or removed while it is mounted: the mount still shows the file ` +
          "that it opened. Mount again to see the new one",
      );
      if (isOther) return; // the served file itself is unchanged
    } else if (now.size < known.size) {
      this.#listener.log(
        `${path} was truncated from ${known.size} to ${now.size} bytes while it is mounted: reading ` +
          "the missing bytes fails with an I/O error. Restore the file and mount it again",
      );
    } else if (
      this.guard === undefined && // otherwise, reads notice once it matters
      (!this.#mayGrow || now.size === known.size)
    ) {
      this.#listener.log(
        `${path} was changed while it is mounted (modified ${
          timeOf(now)
        }): reading what does not match its ` +
          "checksum fails with an I/O error. Mount again to see the new content",
      );
    }
    // Invalidate before copying: no result may ever count for a later state of the file.
    if (!this.#mayGrow || now.size <= known.size) this.#listener.invalidate();
    known.copy(now);
  }
}

/** State in shared memory, after one word for the lock. */
function stateIn(memory: SharedArrayBuffer): FileState {
  return new FileState(new Uint32Array(memory, Uint32Array.BYTES_PER_ELEMENT));
}

function timeOf(state: FileState): string {
  return new Date(state.mtime).toISOString();
}
