import { runAsync, type Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import {
  requireReached,
  storageInThread,
} from "../../../io/storage/thread_storage.ts";
import { atOnce } from "../../../tree/not_loaded.ts";
import { RowsTree } from "../../../tree/samples/rows_tree.ts";
import type { Field, SamplesHandle } from "../../../tree/samples/samples.ts";
import { reopenSamples } from "../../../tree/samples/samples_reader.ts";
import {
  type Extent,
  type NodeId,
  placeBytes,
  type Tree,
  type TreeHandle,
} from "../../../tree/tree.ts";
import type { RowFile, RowSamples } from "../read/row_samples.ts";

/** Data from which another thread rebuilds a tree. */
interface Seed {
  readonly samples: SamplesHandle;
  readonly path: string;
}

/** Sample view: rows as directories, whose files are the values of the datasets. */
export class RowTree extends RowsTree<RowFile> {
  readonly sources: readonly ByteSource[];
  readonly #samples: RowSamples;
  /** The content made last: its size is asked for first. */
  #last: readonly [node: NodeId, bytes: Uint8Array] | undefined;

  /** @param isOwner Whether the file is among the tree's sources; otherwise these come from elsewhere. */
  constructor(samples: RowSamples, isOwner: boolean) {
    super(samples.shards, undefined, ({ columns }) => columns.length);
    this.#samples = samples;
    this.sources = isOwner ? samples.sources : [];
  }

  locate(node: NodeId, into: Extent): boolean {
    if (!this.enterField(node)) return false;
    placeBytes(this.#content(node), into);
    return true;
  }

  share(): TreeHandle {
    const { storage, shards: { paths: [path = ""] } } = this.#samples;
    requireReached(path, storage);
    const data: Seed = { samples: this.#samples.share(), path };
    return { module: import.meta.url, data };
  }

  close(): void {
    this.#samples.close();
  }

  protected override fieldsOf(): readonly Field[] {
    return this.#samples.fields;
  }

  protected override sizeOf(node: NodeId): number {
    return this.enterField(node) ? this.#content(node).length : -1;
  }

  #content(node: NodeId): Uint8Array {
    if (this.#last?.[0] === node) return this.#last[1];
    const { sample, field } = this;
    return atOnce(this.table.name, () => this.#make(node, sample, field));
  }

  *#make(node: NodeId, sample: number, field: number): Steps<Uint8Array> {
    const bytes = yield* this.#samples.content(sample, field);
    this.#last = [node, bytes];
    return bytes;
  }
}

/** Rebuilds a shared tree in another thread, which opens the file. */
export async function reopenTree(data: unknown): Promise<Tree> {
  const { samples, path } = data as Seed;
  const storage = storageInThread(path);
  const reopened = await reopenSamples(samples, { storage }) as RowSamples;
  await runAsync(reopened.ready());
  return new RowTree(reopened, false);
}
