import type { Extent, NodeId } from "../../../tree/tree.ts";
import type { Bag } from "../bag/bag.ts";
import type { Generation } from "../dataset/generation.ts";
import type { SpecKey, ValueType } from "../dataset/spec.ts";

/** What the name of a readable view ends in. */
export type ViewSuffix = ".json" | ".npy" | ".txt";

/** A dataset whose values have views. */
export interface ViewedDataset {
  readonly generation: Generation;
  readonly keys: readonly SpecKey[];
  /** The bag of a key. */
  bag(key: number): Bag;
}

/** Readable views of values, which a tree shows beside them where it was asked to. */
export interface TreeViews {
  /** URL of the module whose `reviveTree` rebuilds a tree with these views. */
  readonly module: string;
  /** What the name of a view of such values ends in; `undefined` for those that have none. */
  suffixOf(type: ValueType, generation: Generation): ViewSuffix | undefined;
  /**
   * Puts the view in the place of the value.
   *
   * @param node The view's node.
   * @param key Number of the value's key in the dataset.
   * @param record Number of the value's record in the key's bag.
   * @param into Where the value is in the key's bag.
   * @throws {FormatError} If the value cannot be decoded.
   * @throws {NotLoaded} If it has to be waited for.
   */
  replace(
    node: NodeId,
    dataset: ViewedDataset,
    key: number,
    record: number,
    into: Extent,
  ): void;
}
