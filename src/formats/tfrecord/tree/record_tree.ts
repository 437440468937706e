import { crc32cLoaded } from "../../../io/checksums/crc32c.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import {
  RecordTree,
  type RecordTreeOptions,
  type RecordTreeSeed,
} from "../../../tree/records/record_tree.ts";
import type { Tree, TreeHandle } from "../../../tree/tree.ts";
import { orNoExample } from "../read/record_samples.ts";
import { type TFRecordFile, TFRecordTable } from "../read/record_table.ts";
import { NodeNames } from "./layout_names.ts";
import { type Content, layOut } from "./record_layout.ts";

/** How examples show as their features; `undefined` if records show as they are. */
type Examples = {
  /** Whether numbers show in one form only, for viewers. */
  readonly isOneForm: boolean;
} | undefined;

/** Data from which another thread rebuilds a tree. */
interface Seed extends RecordTreeSeed<TFRecordFile> {
  readonly examples: Examples;
}

/** Records as files, or examples as directories of their features. */
export class TFRecordTree extends RecordTree<TFRecordFile> {
  readonly #examples: Examples;

  /** @param sources Empty in a thread that did not open them. */
  constructor(
    sources: readonly ByteSource[],
    records: TFRecordTable,
    options: RecordTreeOptions,
    examples: Examples,
  ) {
    super(
      sources,
      records,
      options,
      examples && ((record, bytes, mostNodes) => {
        const { path } = records.of(record);
        const names = new NodeNames<Content>(path, records.numberOf(record));
        const { isOneForm } = examples;
        return orNoExample(
          records,
          record,
          () => layOut(bytes, mostNodes, names, isOneForm),
        );
      }),
    );
    this.#examples = examples;
  }

  share(): TreeHandle {
    const seed: Seed = { ...this.seed(), examples: this.#examples };
    return { module: import.meta.url, data: seed };
  }
}

/** Rebuilds a shared tree in another thread, over the same tables. Decoded trees open the files again. */
export async function reopenTree(data: unknown): Promise<Tree> {
  const { files, examples, ...options } = data as Seed;
  if (options.checkData) await runAsync(crc32cLoaded());
  return new TFRecordTree([], new TFRecordTable(files), options, examples);
}
