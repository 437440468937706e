import type { MadeSource } from "../../src/io/storage/made_source.ts";
import { areOpen, type Tree } from "../../src/tree/tree.ts";
import type { MappedSource } from "./mapping.ts";
import { type ChangeListener, ServedFile } from "./served_file.ts";

/** A source, as one thread sends from it. */
export interface ServedSource extends Omit<MappedSource, "file"> {
  readonly file?: ServedFile | undefined;
  /** What gives its bytes, where they are in no map: they are copied. */
  readonly made?: MadeSource | undefined;
}

/** The sources of a tree, as one thread sends from them. */
export interface ServedSources {
  /**
   * The source of that index, which may be sent from until the next call.
   *
   * @throws {RecordfsError} If it can't be opened or mapped.
   */
  at(index: number): ServedSource | undefined;
  /** Bytes of all of them, as far as they are known. */
  readonly bytes: number;
  /** Unmaps what this thread has mapped. */
  close(): void;
}

/** Sources that another thread has mapped, all of them. */
export class ListedSources implements ServedSources {
  readonly bytes: number;
  readonly #sources: readonly ServedSource[];
  #files: Map<string, ServedFile> | undefined;

  constructor(sources: readonly MappedSource[], listener: ChangeListener) {
    this.#sources = sources.map((source) => ({
      ...source,
      file: source.file && new ServedFile(source.file, listener),
    }));
    this.bytes = sources.reduce((sum, { size }) => sum + size, 0);
  }

  at(index: number): ServedSource | undefined {
    return this.#sources[index];
  }

  /** The file of that path, as all that is served of it knows it. */
  fileOf(path: string): ServedFile | undefined {
    this.#files ??= new Map(
      this.#sources.flatMap(({ file }) => file ? [[file.path, file]] : []),
    );
    return this.#files.get(path);
  }

  close(): void {} // whoever has mapped them unmaps them
}

/**
 * What a thread sends a tree's content from.
 *
 * @param mapped Its sources, where they are all mapped.
 * @param workers How many threads serve the tree.
 * @param listener Is told of files that change.
 */
export async function servedSources(
  tree: Tree,
  mapped: readonly MappedSource[] | undefined,
  workers: number,
  listener: ChangeListener,
): Promise<ServedSources> {
  const { sources } = tree;
  const listed = mapped && new ListedSources(mapped, listener);
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

/** Sources of which another thread has mapped those that come first. */
class PartlyListedSources implements ServedSources {
  readonly #listed: ListedSources;
  readonly #count: number;
  readonly #others: ServedSources;

  /** @param count How many another thread has mapped. */
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
    this.#others.close();
  }
}

/** A process has 65,530 maps (`vm.max_map_count`); other mounts, and Deno, need some as well. */
const MOST_MAPS = 16_384;
