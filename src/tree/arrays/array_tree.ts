import { npyHeader } from "../../codecs/numpy/npy.ts";
import { VALUE_TYPES, valueType } from "../../codecs/values/value_type.ts";
import { type ListedFile, listingTree } from "../listed_tree.ts";
import { fieldNames } from "../samples/field_names.ts";
import type { Field } from "../samples/samples.ts";
import type { Tree } from "../tree.ts";
import {
  type ArrayFile,
  type ArraySamples,
  MOST_DIMENSIONS,
  type NamedArray,
} from "./array_samples.ts";

const BIN = valueType("bin", VALUE_TYPES.bytes, { suffix: ".bin" });

/** A file, and the field whose name is its own. */
type NamedFile = Omit<ListedFile, "name"> & { readonly field: Field };

/**
 * Makes the tree of named arrays: each is an `.npy` file, whose elements are a range of the container's file. If NumPy
 * lacks the type, the elements are a `.bin`, and a `.json` says what they are.
 *
 * @param metadataName Name of the metadata's files, without `.json`.
 * @param directories Names of a directory for each file; if absent, all arrays are in the root.
 */
export function arrayTree<F extends ArrayFile>(
  samples: ArraySamples<F>,
  metadataName: string,
  directories: readonly string[] | undefined,
): Tree {
  const { sources, shards: { shards, firsts }, storage } = samples;
  const texts = new Set<string | undefined>([undefined]);
  const groups = shards.map(({ metadata, count }, source) => {
    const files: NamedFile[] = [];
    // Shards shown as one usually repeat it.
    if (directories !== undefined) texts.delete(metadata);
    if (metadata !== undefined && !texts.has(metadata)) {
      files.push(madeFile(metadataName, metadata, source));
    }
    texts.add(metadata);
    for (let i = 0; i < count; i++) {
      files.push(...filesOf(samples.arrayAt(firsts[source]! + i), source));
    }
    return files;
  });
  return listingTree({
    sources,
    storage,
    files: directories === undefined
      ? named(groups.flat())
      : groups.flatMap(named),
    directories: directories?.map((name, i) => ({
      name,
      count: groups[i]!.length,
    })),
  });
}

function filesOf(
  { name, dtype, numpy, shape, offset, length }: NamedArray,
  source: number,
): NamedFile[] {
  const place = { source, offset, length };
  if (numpy !== undefined && shape.length <= MOST_DIMENSIONS) {
    const field = { name, type: VALUE_TYPES.array, isList: false };
    return [{ ...place, field, head: npyHeader(numpy, shape) }];
  }
  const field = { name, type: BIN, isList: false };
  const facts = JSON.stringify({ dtype, shape });
  return [
    { ...place, field, sampleFiles: 2 },
    madeFile(name, facts, source),
  ];
}

/** A file of JSON that is made. */
function madeFile(name: string, json: string, source: number): NamedFile {
  const head = new TextEncoder().encode(`${json}\n`);
  const field = { name, type: VALUE_TYPES.json, isList: false };
  return { field, source, head, offset: 0, length: 0, sampleFiles: 0 };
}

function named(files: readonly NamedFile[]): ListedFile[] {
  const { byName } = fieldNames(files.map(({ field }) => field));
  const names = [...byName.keys()];
  return files.map(({ field: _, ...file }, i) => ({
    ...file,
    name: names[i]!,
  }));
}
