import { runAsync } from "../../src/io/concurrency/steps.ts";
import { reopenSource } from "../../src/io/storage/open_sources.ts";
import { storageInThread } from "../../src/io/storage/thread_storage.ts";
import type { MadeSource } from "../../src/io/storage/made_source.ts";
import { areOpen, type Tree } from "../../src/tree/tree.ts";
import type { MappedSource } from "./mapping.ts";
import { type ChangeListener, ServedFile } from "./served_file.ts";

export interface ServedSource extends Omit<MappedSource, "file"> {
  readonly file?: ServedFile | undefined;
  /** Producer of the bytes if they are not mapped; they are then copied. */
  readonly made?: MadeSource | undefined;
}

/** The sources of a tree, for one thread. */
export interface ServedSources {
  /**
   * Returns the source of that index. It may be sent from until the next call.
   *
   * @throws {RecordfsError} If it cannot be opened or mapped.
   */
  at(index: number): ServedSource | undefined;
  /** Total size of all sources, as far as known. */
  readonly bytes: number;
  /** Unmaps what this thread has mapped. */
  close(): void;
}

export class ListedSources implements ServedSources {
  readonly bytes: number;
  readonly #sources: readonly ServedSource[];
  #files: Map<string, ServedFile> | undefined;

  /** @param made Sources that are made, opened by this thread. */
  constructor(
    sources: readonly MappedSource[],
    listener: ChangeListener,
    made: ReadonlyMap<MappedSource, MadeSource> = new Map(),
  ) {
    this.#sources = sources.map((source) => ({
      ...source,
      made: made.get(source),
      file: source.file && new ServedFile(source.file, listener),
    }));
    this.bytes = sources.reduce((sum, { size }) => sum + size, 0);
  }

  /** Opens the sources that are made in this thread. Throws a FormatError (`changed`) if one has changed. */
  static async of(
    sources: readonly MappedSource[],
    listener: ChangeListener,
  ): Promise<ListedSources> {
    const made = new Map<MappedSource, MadeSource>();
    for (const source of sources) {
      const { reopened } = source;
      if (reopened === undefined) continue;
      const storage = storageInThread(reopened.path);
      const opened = await runAsync(reopenSource(storage, reopened));
      made.set(source, opened as MadeSource);
    }
    return new ListedSources(sources, listener, made);
  }

  at(index: number): ServedSource | undefined {
    return this.#sources[index];
  }

  /** Returns the served file of that path; all sources of the file share it. */
  fileOf(path: string): ServedFile | undefined {
    this.#files ??= new Map(
      this.#sources.flatMap(({ file }) => file ? [[file.path, file]] : []),
    );
    return this.#files.get(path);
  }

  close(): void { // the mapping thread unmaps them
    for (const { made } of this.#sources) made?.close();
  }
}

/**
 * Opens the sources of a tree for one thread.
 *
 * @param mapped Sources that another thread has mapped; required if all sources are open.
 * @param workers Number of threads that serve the tree.
 * @param listener Called when files change.
 */
export async function servedSources(
  tree: Tree,
  mapped: readonly MappedSource[] | undefined,
  workers: number,
  listener: ChangeListener,
): Promise<ServedSources> {
  const { sources } = tree;
  const listed = mapped && await ListedSources.of(mapped, listener);
  if (areOpen(sources)) {
    if (listed === undefined) throw new TypeError("Open sources come mapped");
    return listed;
  }
  const { MapsOnDemand } = await import("./maps_on_demand.ts");
  const most = Math.floor(MOST_MAPS / workers);
  const fileOf = (path: string) => listed?.fileOf(path);
  const maps = new MapsOnDemand(sources, most, listener, fileOf);
  return listed === undefined
    ? maps
    : new PartlyListedSources(listed, mapped!.length, maps);
}

/** Sources of which another thread has mapped the first ones. */
class PartlyListedSources implements ServedSources {
  readonly #listed: ListedSources;
  readonly #count: number;
  readonly #others: ServedSources;

  constructor(listed: ListedSources, count: number, others: ServedSources) {
    this.#listed = listed;
    this.#count = count;
    this.#others = others;
  }

  get bytes(): number {
    return this.#listed.bytes + this.#others.bytes;
  }

  at(index: number): ServedSource | undefined {
    return (index < this.#count ? this.#listed : this.#others).at(index);
  }

  close(): void {
    this.#listed.close();
    this.#others.close();
  }
}

/** Maps for all threads of a mount. A process has 65,530 (`vm.max_map_count`), shared with other mounts and Deno. */
const MOST_MAPS = 16_384;
