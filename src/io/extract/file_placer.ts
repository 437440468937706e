import { type BatchRoom, SharedRoom } from "../read/read_memory.ts";
import type { ExtractTarget, Place } from "./extract_target.ts";
import { FileGroup, type RefusedFile } from "./file_group.ts";
import { PlaceThread } from "./place_thread.ts";

/** So many files are worth starting another thread. */
const WORTH_A_THREAD = 512;
/** So many batches are left to the other thread; this one puts the next in place itself. */
const MOST_UNDER_WAY = 8;

/** Puts files in place, batch by batch; where there are many, another thread helps. */
export class FilePlacer implements AsyncDisposable {
  readonly #target: ExtractTarget;
  /** Memory for contents, to be read into in turn: what lies elsewhere is put in place by this thread. */
  readonly rooms: readonly BatchRoom[] = Array.from(
    // More than are read, looked at and under way, so that nobody waits for one.
    { length: 4 + MOST_UNDER_WAY },
    () => new SharedRoom(),
  );
  /** The other thread, or that there is none to be had. */
  #thread: PlaceThread | "none" | undefined;
  #files = 0;
  readonly #underWay = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(target: ExtractTarget) {
    this.#target = target;
  }

  /** Starts the other thread, which takes its time, before there are as many files that it is worth it. */
  expectMany(): void {
    this.#thread ??= PlaceThread.start() ?? "none";
  }

  /**
   * Starts a batch. Its files are put in place between now and its end.
   *
   * @throws What one before it has failed of.
   */
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

  /**
   * Waits until all are in place.
   *
   * @throws If the other thread died, or what was told of refused files did.
   */
  async complete(): Promise<void> {
    await Promise.all(this.#underWay);
    this.#throwFailure();
  }

  /** Waits until nothing is under way, and ends the other thread. */
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

/** Puts the files of a batch in place. */
export interface FileBatchPlacer {
  /**
   * Puts a file in place, or leaves it to the other thread.
   *
   * @param mtime Last modification that it gets, where that is not that of all.
   * @throws What {@linkcode ExtractTarget.write} does.
   */
  write(place: Place, content: Uint8Array, mtime?: Date): void;
  /**
   * Ends the batch, however it went.
   *
   * @param onRefused Told of each file that the other thread could not put in place; what it throws ends all.
   * @returns Until when the contents are needed.
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
