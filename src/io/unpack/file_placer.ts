import { type BatchRoom, SharedRoom } from "../read/read_memory.ts";
import type { ExtractTarget, Place } from "./extract_target.ts";
import { FileGroup, type RefusedFile } from "./file_group.ts";
import { PlaceThread } from "./place_thread.ts";

/** Number of files from which on another thread pays off. */
const WORTH_A_THREAD = 512;
/** Most batches in flight on the other thread. This thread writes any further ones itself. */
const MOST_UNDER_WAY = 8;

/** Writes files in batches; if there are many, another thread helps. */
export class FilePlacer implements AsyncDisposable {
  readonly #target: ExtractTarget;
  /** Buffers for contents, to be read into in rotation. This thread writes contents that lie elsewhere. */
  readonly rooms: readonly BatchRoom[] = Array.from(
    // Enough for batches being read, checked and written, so that none is waited for.
    { length: 4 + MOST_UNDER_WAY },
    () => new SharedRoom(),
  );
  /** The other thread, or `none` if it cannot be started. */
  #thread: PlaceThread | "none" | undefined;
  #files = 0;
  readonly #underWay = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(target: ExtractTarget) {
    this.#target = target;
  }

  /** Starts the other thread early, because starting takes a while. */
  expectMany(): void {
    this.#thread ??= PlaceThread.start() ?? "none";
  }

  /** Starts a batch, whose files are written between now and its end. Throws the failure of an earlier batch. */
  start(): FileBatchPlacer {
    this.#throwFailure();
    const thread = this.#idleThread();
    const group = thread && new FileGroup(this.#target);
    return {
      write: (place, content, mtime = this.#target.mtime) => {
        this.#files++;
        if (typeof place === "string" || !group?.add(place, content, mtime)) {
          this.#target.write(place, content, mtime);
        }
      },
      end: (onRefused) => {
        if (thread === undefined) return Promise.resolve();
        const placing = placeGroup(group!, thread, onRefused)
          .catch((error) => void (this.#failure ??= { error }))
          .finally(() => this.#underWay.delete(placing));
        this.#underWay.add(placing);
        return placing;
      },
    };
  }

  /** Waits until all files are written. Throws if the other thread died, or an `onRefused` callback threw. */
  async complete(): Promise<void> {
    await Promise.all(this.#underWay);
    this.#throwFailure();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#underWay);
    if (this.#thread instanceof PlaceThread) this.#thread[Symbol.dispose]();
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #idleThread(): PlaceThread | undefined {
    if (this.#files >= WORTH_A_THREAD) this.expectMany();
    const thread = this.#thread;
    return thread instanceof PlaceThread && thread.busy < MOST_UNDER_WAY
      ? thread
      : undefined;
  }
}

export interface FileBatchPlacer {
  /** Writes a file, or leaves it to the other thread. Throws what {@linkcode ExtractTarget.write} throws. */
  write(place: Place, content: Uint8Array, mtime?: Date): void;
  /**
   * Ends the batch, whether it succeeded or not. Resolves when the contents are no longer needed. Calls `onRefused`
   * with each file that the other thread could not write; if it throws, everything ends.
   */
  end(onRefused: (file: RefusedFile) => void): Promise<void>;
}

async function placeGroup(
  group: FileGroup,
  thread: PlaceThread,
  onRefused: (file: RefusedFile) => void,
): Promise<void> {
  for (const refused of await group.place(thread)) onRefused(refused);
}
