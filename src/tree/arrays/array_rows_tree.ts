import { npyHeader } from "../../codecs/numpy/npy.ts";
import {
  requireReached,
  storageInThread,
} from "../../io/storage/thread_storage.ts";
import { MemberSources } from "../archive/member_sources.ts";
import { PiecedFile } from "../archive/pieced_file.ts";
import { JoinedSources } from "../joined_sources.ts";
import { RowsTree } from "../samples/rows_tree.ts";
import type { Field, SamplesHandle } from "../samples/samples.ts";
import { reopenSamples } from "../samples/samples_reader.ts";
import {
  type Extent,
  newExtent,
  type NodeId,
  placeBytes,
  placeRange,
  type Tree,
  type TreeHandle,
} from "../tree.ts";
import {
  type ArrayFile,
  type ArraySamples,
  MOST_DIMENSIONS,
  type NamedArray,
} from "./array_samples.ts";

/** Data from which another thread rebuilds a tree. */
interface Seed {
  readonly samples: SamplesHandle;
  readonly path: string;
  readonly directories: readonly string[] | undefined;
}

/** Sample view: named arrays as directories of a name and an `.npy` file, which is raw where NumPy lacks the type. */
export class ArrayRowsTree extends RowsTree<ArrayFile> {
  readonly sources: Tree["sources"];
  readonly #samples: ArraySamples<ArrayFile>;
  readonly #directories: readonly string[] | undefined;
  readonly #extent = newExtent();

  /**
   * @param directories Names of a directory for each file; if absent, all samples are in the root.
   * @param isOwner Whether the files are among the tree's sources; otherwise these come from elsewhere.
   */
  constructor(
    samples: ArraySamples<ArrayFile>,
    directories: readonly string[] | undefined,
    isOwner: boolean,
  ) {
    const { sources, storage, fields } = samples;
    super(samples.shards, directories, () => fields.length);
    this.#samples = samples;
    this.#directories = directories;
    const own = isOwner ? sources : [];
    const [archive] = sources;
    this.sources = archive === undefined
      ? own
      : new JoinedSources(sources.length, own, [
        new MemberSources({ archive, storage }, (index) => this.#made(index)),
      ]);
  }

  locate(node: NodeId, into: Extent): boolean {
    if (!this.enterField(node)) return false;
    const array = this.#samples.arrayAt(this.sample);
    if (this.field === 0) {
      placeBytes(new TextEncoder().encode(array.name), into);
      return true;
    }
    const head = headOf(array);
    const made = this.#samples.sources.length + this.sample;
    if (array.length === 0) placeBytes(head, into);
    else placeRange(made, 0, head.length + array.length, into);
    return true;
  }

  share(): TreeHandle {
    const { storage, shards: { name: path } } = this.#samples;
    requireReached(path, storage);
    const samples = this.#samples.share();
    const [first = path] = this.#samples.shards.paths;
    const data: Seed = { samples, path: first, directories: this.#directories };
    return { module: import.meta.url, data };
  }

  close(): void {
    this.#samples.close();
  }

  protected override fieldsOf(): readonly Field[] {
    return this.#samples.fields;
  }

  protected override sizeOf(node: NodeId): number {
    return this.locate(node, this.#extent) ? this.#extent.length : -1;
  }

  #made(index: number): PiecedFile | undefined {
    const { sources, shards } = this.#samples;
    if (!(index < shards.length)) return undefined;
    const array = this.#samples.arrayAt(index);
    const { name, offset, length } = array;
    const head = headOf(array);
    const archive = sources[shards.shardOf(index)]!;
    return new PiecedFile(archive, () => name, head.length + length, {
      offsets: Float64Array.of(head.length),
      lengths: Float64Array.of(length),
      places: Float64Array.of(offset),
    }, head);
  }
}

/** Returns the start of an array's `.npy` file; without its shape where NumPy has not as many dimensions. */
function headOf({ numpy, bits, shape, length }: NamedArray): Uint8Array {
  const isShaped = bits % 8 === 0 && shape.length <= MOST_DIMENSIONS;
  return isShaped
    ? npyHeader(numpy ?? `|V${bits / 8}`, shape)
    : npyHeader("|V1", [length]);
}

/** Rebuilds a shared tree in another thread, which opens the files. */
export async function reopenTree(data: unknown): Promise<Tree> {
  const { samples, path, directories } = data as Seed;
  const storage = storageInThread(path);
  const reopened = await reopenSamples(samples, { storage });
  return new ArrayRowsTree(
    reopened as ArraySamples<ArrayFile>,
    directories,
    false,
  );
}
