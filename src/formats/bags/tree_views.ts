import type { Extent, NodeId } from "../../tree/tree.ts";
import type { OpenedDataset } from "./open_dataset.ts";
import type { ValueType } from "./spec.ts";

/** What the name of a readable view ends in. */
export type ViewSuffix = ".json" | ".npy" | ".txt";

/** Readable views of values, which a tree shows beside them where it was asked to. */
export interface TreeViews {
  /** URL of the module whose `reviveTree` rebuilds a tree with these views. */
  readonly module: string;
  /** What the name of a view of such values ends in; `undefined` for those that have none. */
  suffixOf(type: ValueType): ViewSuffix | undefined;
  /**
   * Puts the view in the place of the value.
   *
   * @param node The view's node.
   * @param key Number of the value's key in the dataset.
   * @param record Number of the value's record in the key's bag.
   * @param into Where the value is in the key's bag.
   * @throws {FormatError} If the value cannot be decoded.
   */
  replace(
    node: NodeId,
    dataset: OpenedDataset,
    key: number,
    record: number,
    into: Extent,
  ): void;
}
