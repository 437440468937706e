import { writeNpy } from "../../../codecs/numpy/mod.ts";
import { FormatError, RecordfsError } from "../../../errors.ts";
import { readPart } from "../../../io/read/read_part.ts";
import { runSync } from "../../../io/concurrency/steps.ts";
import type { Extent, NodeId, Tree } from "../../../tree/tree.ts";
import type { BagFile } from "../bag/bag_file.ts";
import { reviveTree as reviveDatasetTree } from "./dataset_tree.ts";
import type { Generation } from "../dataset/generation.ts";
import { largestValue } from "../check/largest_value.ts";
import type { ValueType } from "../dataset/spec.ts";
import type { TreeViews, ViewedDataset, ViewSuffix } from "./tree_views.ts";
import { decodersOf } from "../types/mod.ts";
import { valueToJson } from "../types/value_to_json.ts";

/** The types that have views, of those that bags and granular ship. */
const SUFFIXES: Readonly<Record<string, ViewSuffix>> = {
  __proto__: null as never, // types are any words
  array: ".npy",
  arraytree: ".json", // of generation 1
  i64: ".json",
  int: ".json",
  msgpack: ".json",
  tree: ".json",
  u64: ".json",
  utf8: ".txt",
};

/** Views that are kept, in bytes; one that is larger is kept until the next is made. */
const MOST_KEPT = 64 * 1024 * 1024;

/**
 * Views in the forms that people and programs read: JSON, as `valueToJson` writes it, for `msgpack`,
 * `tree` and whole numbers, `.npy` for arrays, and `.txt` for `utf8`, which has the value's own bytes. Those
 * made last are kept: a file is asked for its size first, and then read in parts.
 */
export class DecodedViews implements TreeViews {
  readonly module = import.meta.url;
  /** In order of use. */
  readonly #kept = new Map<NodeId, Uint8Array>();
  #bytes = 0;

  suffixOf(
    { name }: ValueType,
    generation: Generation,
  ): ViewSuffix | undefined {
    const isOwn = name === "arraytree" && generation !== 1;
    return isOwn ? undefined : SUFFIXES[name];
  }

  replace(
    node: NodeId,
    dataset: ViewedDataset,
    key: number,
    record: number,
    into: Extent,
  ): void {
    const { type } = dataset.keys[key]!;
    const suffix = SUFFIXES[type.name];
    if (suffix === ".txt") return;
    let view = this.#kept.get(node);
    if (view === undefined) {
      const bag = dataset.bag(key);
      const value = () => decode(bag, dataset.generation, type, into);
      view = sound(
        bag,
        record,
        () =>
          suffix === ".npy"
            ? writeNpy(value() as Parameters<typeof writeNpy>[0])
            : jsonFile(value() as Parameters<typeof valueToJson>[0]),
      );
      this.#bytes += view.length;
    } else this.#kept.delete(node); // to the end: most recently used
    this.#kept.set(node, view);
    this.#makeRoom();
    into.source = -1;
    into.offset = 0;
    into.length = view.length;
    into.bytes = view;
  }

  #makeRoom(): void {
    for (const [node, { length }] of this.#kept) {
      if (this.#bytes <= MOST_KEPT || this.#kept.size === 1) return;
      this.#kept.delete(node);
      this.#bytes -= length;
    }
  }
}

function decode(
  { source }: BagFile,
  generation: Generation,
  type: ValueType,
  { offset, length }: Extent,
): unknown {
  const largest = largestValue(type);
  if (length > largest) {
    throw new RecordfsError(
      "too-large",
      `it has ${length} bytes, and views are made of up to ${largest}: read the value itself`,
    );
  }
  const bytes = runSync(readPart(source, offset, length));
  const decoders = decodersOf(generation, { keepFloats: true });
  return decoders[type.name]!(bytes, ...type.args);
}

function jsonFile(value: Parameters<typeof valueToJson>[0]): Uint8Array {
  return new TextEncoder().encode(`${valueToJson(value)}\n`);
}

/** Makes a view, and says which value is damaged where that fails. */
function sound(
  { path }: BagFile,
  record: number,
  make: () => Uint8Array,
): Uint8Array {
  try {
    return make();
  } catch (cause) {
    if (cause instanceof FormatError) throw cause; // the file, not the value
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new FormatError(
      "bad-value",
      `${path}, record ${record}: the value cannot be shown decoded: ${why}`,
      { path, sample: record, cause },
    );
  }
}

/** Rebuilds a tree with such views in another thread. */
export function reviveTree(data: unknown): Tree {
  return reviveDatasetTree(data, new DecodedViews());
}
