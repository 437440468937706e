import type { Directory } from "../dirfd/directory.ts";
import { descriptorBudget } from "../storage/descriptor_budget.ts";
import type {
  ExtractTarget,
  PendingFiles,
  WalkPlace,
} from "./extract_target.ts";
import type { PlaceThread } from "./place_thread.ts";

/** Most directories that a group holds open. All groups in flight hold at most a quarter of the process's limit. */
const MOST_DIRECTORIES = 64;
const SHARE = 16;
let mostDirectories: number | undefined;

export interface RefusedFile {
  readonly path: string;
  readonly bytes: number;
  readonly error: unknown;
}

/** Batch of files that another thread writes. Their contents share one SharedArrayBuffer. */
export class FileGroup {
  readonly #target: ExtractTarget;
  readonly #files: PendingFiles[] = [];
  readonly #contents: Uint8Array[] = [];
  readonly #times: number[] = [];
  readonly #directories = new Set<Directory>();
  #memory: SharedArrayBuffer | undefined;

  constructor(target: ExtractTarget) {
    this.#target = target;
  }

  /** Adds a file and creates its directory. Returns `false` if only this thread can write the file. */
  add(place: WalkPlace, content: Uint8Array, mtime: Date): boolean {
    const memory: unknown = content.buffer;
    if (!(memory instanceof SharedArrayBuffer)) return false;
    this.#memory ??= memory;
    mostDirectories ??= Math.min(
      Math.floor(descriptorBudget().crowdedFrom / SHARE),
      MOST_DIRECTORIES,
    );
    const isFull = this.#directories.size >= mostDirectories;
    if (isFull || memory !== this.#memory) return false;
    const file = this.#target.handOver(place, this.#files.at(-1));
    if (file === undefined) return false;
    this.#directories.add(file.directory);
    this.#files.push(file);
    this.#contents.push(content);
    this.#times.push(mtime.getTime());
    return true;
  }

  /** Writes the files, and returns those that failed. */
  async place(thread: PlaceThread): Promise<RefusedFile[]> {
    const files = this.#files;
    const contents = this.#contents;
    try {
      if (files.length === 0) return [];
      const refusals = await thread.place({
        how: this.#target.placing,
        numbers: files.map(({ number }) => number),
        directories: files.map(({ directory }) => directory.descriptor!),
        names: files.map(({ name }) => name),
        starts: contents.map(({ byteOffset }) => byteOffset),
        times: this.#times,
        lengths: contents.map(({ length }) => length),
        memory: this.#memory!,
      });
      return refusals.map(({ index, error }) => {
        const file = files[index]!;
        const { path } = file;
        const bytes = contents[index]!.length;
        return { path, bytes, error: this.#target.refused(file, error) };
      });
    } finally {
      for (const directory of this.#directories) directory.close();
    }
  }
}
