import { messageOf } from "../../../base/message_text.ts";
import type { ValueKind } from "../../../codecs/values/value_type.ts";
import { writeNpy } from "../../../codecs/numpy/mod.ts";
import { FormatError, RecordfsError } from "../../../base/errors.ts";
import { KeptValues } from "../../../io/decoded/kept_values.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import {
  type Extent,
  type NodeId,
  placeBytes,
  type Tree,
} from "../../../tree/tree.ts";
import { reopenTree as reopenDatasetTree } from "./dataset_tree.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import { largestValue } from "../types/shipped.ts";
import type { ValueType } from "../dataset/spec.ts";
import { atOnce } from "../../../tree/not_loaded.ts";
import type { TreeShard } from "./tree_shard.ts";
import { decodersOf } from "../types/mod.ts";
import { valueToJson } from "../types/json_values.ts";
import { typeOf } from "../dataset/value_types.ts";

/** The ending of a readable view's name. */
export type ViewSuffix = ".json" | ".npy" | ".txt";

/** What values are that have views. */
const VIEWED: readonly ValueKind[] = ["array", "number", "text", "tree"];

const KEEP_FLOATS = { keepFloats: true };

/** Views that are kept, in bytes; one that is larger is kept until the next is made. */
const MOST_KEPT = 64 * 1024 * 1024;

/**
 * Views in the forms that people and programs read: JSON, as `valueToJson` writes it, for `msgpack`,
 * `tree` and whole numbers, `.npy` for arrays, and `.txt` for `utf8`, which has the value's own bytes. Those
 * made last are kept: a file is asked for its size first, and then read in parts.
 */
export class DecodedViews {
  /** URL of the module whose `reopenTree` rebuilds a tree with these views. */
  readonly module = import.meta.url;
  readonly #kept = new KeptValues<Uint8Array>(MOST_KEPT);

  /** The ending of the names of such values' views; `undefined` for those that have none. */
  suffixOf(
    type: ValueType,
    generation: Generation,
  ): ViewSuffix | undefined {
    const { kind, suffix } = typeOf(type, generation);
    return VIEWED.includes(kind) ? suffix as ViewSuffix : undefined;
  }

  /**
   * Puts a view in the place of its value.
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
    dataset: TreeShard,
    key: number,
    record: number,
    into: Extent,
  ): void {
    const { type } = dataset.keys[key]!;
    const { generation } = dataset.shard;
    const suffix = this.suffixOf(type, generation);
    if (suffix === ".txt") return;
    const bag = dataset.bag(key);
    const { offset, length } = into;
    const largest = largestValue(type);
    const kept = this.#kept;
    const make = function* (): Steps<Uint8Array> {
      const bytes = length <= largest
        ? yield* readPart(bag.source, offset, length)
        : undefined;
      try {
        if (bytes === undefined) {
          throw new RecordfsError(
            "too-large",
            `it has ${length} bytes, and views are made of up to ${largest}: read the value itself`,
          );
        }
        const decoders = decodersOf(generation, KEEP_FLOATS);
        const value = decoders[type.name]!(bytes, ...type.args);
        const view = suffix === ".npy"
          ? writeNpy(value as Parameters<typeof writeNpy>[0])
          : jsonFile(value as Parameters<typeof valueToJson>[0]);
        kept.set(node, view, view.length);
        return view;
      } catch (cause) {
        if (cause instanceof FormatError) throw cause; // which says more
        const { path } = bag;
        const why = messageOf(cause);
        throw new FormatError(
          "bad-value",
          `${path}, record ${record}: the value cannot be shown decoded: ${why}`,
          { path, sample: record, cause },
        );
      }
    };
    placeBytes(kept.get(node) ?? atOnce(bag.path, make), into);
  }
}

function jsonFile(value: Parameters<typeof valueToJson>[0]): Uint8Array {
  return new TextEncoder().encode(`${valueToJson(value)}\n`);
}

/** Rebuilds a tree with such views in another thread. */
export function reopenTree(data: unknown): Tree {
  return reopenDatasetTree(data, new DecodedViews());
}
