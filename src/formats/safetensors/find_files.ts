import { FormatError } from "../../base/errors.ts";
import { sortNames } from "../../base/names.ts";
import { jsonMembers } from "../../codecs/json/parts.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { readFile } from "../../io/read/read_file.ts";
import {
  type ShardPaths,
  shardPaths,
} from "../../io/storage/shards/shard_paths.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { pathIn } from "../../io/storage/stored_location.ts";
import { isIndex, isTensors, LARGEST_HEADER } from "./layout.ts";

/** Files of a location, and the names of the tensors in each, if an index says them. */
interface TensorFiles extends ShardPaths {
  readonly wanted?: readonly (readonly string[])[];
}

/**
 * Finds the files of a location: itself; those that an index names, if it is one or a directory that has one; those in
 * the directory; or those that match a pattern.
 *
 * @throws {FormatError} If there are none, the index is damaged or names a missing file, or there are several indexes.
 */
export function* findFiles(path: string, storage: Storage): Steps<TensorFiles> {
  const names = yield* storage.list(path);
  const [index, other] = names?.filter(isIndex) ?? [path].filter(isIndex);
  if (index === undefined) {
    return yield* shardPaths(path, storage, {
      format: "SafeTensors",
      examples: "model.safetensors",
      isShard: isTensors,
    });
  }
  const bad = (code: FormatError["code"], why: string, cause?: unknown) =>
    new FormatError(code, `Cannot open ${path}: ${why}`, { path, cause });
  if (other !== undefined) {
    const both = `it has several indexes: ${index}, ${other}`;
    throw bad("several-formats", `${both}. Give one of them`);
  }
  const file = names === undefined ? path : pathIn(path, index);
  const directory = file.slice(0, Math.max(0, file.lastIndexOf("/"))) || ".";
  const json = yield* readFile(file, storage, LARGEST_HEADER);
  const files = new Map<string, string[]>();
  try {
    const map = jsonMembers(jsonMembers(json)!.get("weight_map")!)!;
    for (const [tensor, text] of map) {
      const name: string = JSON.parse(text);
      if (!isTensors(name) || /[/\\\0]/.test(name)) throw new SyntaxError(name);
      const tensors = files.get(name) ?? [];
      files.set(name, tensors);
      tensors.push(tensor);
    }
  } catch (cause) {
    const why = `its index ${index} has no weight_map of files next to it`;
    throw bad("bad-index", `${why}: it is damaged. Download it again`, cause);
  }
  const sorted = sortNames([...files.keys()]);
  const missing = names && sorted.find((name) => !names.includes(name));
  if (missing !== undefined) {
    const why = `its index ${index} names ${missing}, which is missing`;
    throw bad("missing-shard", `${why}. Download it`);
  }
  const paths = sorted.map((name) => pathIn(directory, name));
  const wanted = sorted.map((name) => files.get(name)!);
  return { paths, areShards: false, wanted };
}
