import { messageOf } from "../../../base/message_text.ts";
import type { ValueKind } from "../../../codecs/values/value_type.ts";
import { writeNpy } from "../../../codecs/numpy/mod.ts";
import { FormatError, RecordfsError } from "../../../base/errors.ts";
import { LruCache } from "../../../io/block_cache/lru_cache.ts";
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

export type ViewSuffix = ".json" | ".npy" | ".txt";

const VIEWED: readonly ValueKind[] = ["array", "number", "text", "tree"];

const KEEP_FLOATS = { keepFloats: true };

/** Cache limit for views, in bytes. A larger view is cached until the next one is made. */
const MOST_KEPT = 64 * 1024 * 1024;

/**
 * Views in readable forms: JSON, as `valueToJson` writes it, for `msgpack`, `tree` and integers; `.npy` for arrays; and
 * `.txt` for `utf8`, with the value's own bytes. Recent views are cached, since a file is asked for its size before it
 * is read in parts.
 */
export class DecodedViews {
  /** URL of the module whose `reopenTree` reopens a tree with these views. */
  readonly module = import.meta.url;
  readonly #kept = new LruCache<Uint8Array>(MOST_KEPT);

  /** Returns the suffix of the views of a type's values; `undefined` if they have none. */
  suffixOf(
    type: ValueType,
    generation: Generation,
  ): ViewSuffix | undefined {
    const { kind, suffix } = typeOf(type, generation);
    return VIEWED.includes(kind) ? suffix as ViewSuffix : undefined;
  }

  /**
   * Replaces the location of a value, in `into`, by that of its view.
   *
   * @param key Number of the value's key in the dataset.
   * @param record Number of the value's record in the key's bag.
   * @throws {FormatError} If the value cannot be decoded.
   * @throws {NotLoaded} If the value must be read asynchronously.
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
            `it has ${length} bytes, more than the limit of ${largest} for ` +
              "views. Read the value itself",
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
        if (cause instanceof FormatError) throw cause; // more specific
        const { path } = bag;
        const why = messageOf(cause);
        throw new FormatError(
          "bad-value",
          `Cannot show record ${record} of ${path} decoded: ${why}`,
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

export function reopenTree(data: unknown): Tree {
  return reopenDatasetTree(data, new DecodedViews());
}
