import type { Steps } from "../../io/concurrency/steps.ts";
import type { Storage } from "../../io/storage/storage.ts";
import type { Tree } from "../tree.ts";
import type { RowFile, RowFormat } from "./row_format.ts";
import { reopenRowSamples, type RowSamples } from "./row_samples.ts";
import { reopenRowTree } from "./row_tree.ts";

/** What the module of a format of rows exports for other threads. */
export interface RowModule<F extends RowFile> {
  /** Recreates a shared tree. */
  reopenTree(data: unknown): Promise<Tree>;
  /** Opens files that another thread has opened, sharing its tables. */
  reopenSamples(data: unknown, storage: Storage): Steps<RowSamples<F>>;
}

/** Makes the exports of the module of a format of rows. */
export function rowModule<F extends RowFile>(
  format: RowFormat<F>,
): RowModule<F> {
  return {
    reopenTree: (data) => reopenRowTree(format, data),
    reopenSamples: (data, storage) => reopenRowSamples(format, data, storage),
  };
}
