/** An MDS dataset of several shards, and ways to damage it. */
import * as fs from "node:fs";
import { entryOf, sampleOf, shardOf } from "./make_mds.ts";

/** Files by path. */
export type Files = Record<string, Uint8Array<ArrayBuffer>>;

/** Three shards of three samples each, which contain their indices: 0 to 8. */
export const SHARDS: readonly Uint8Array[] = [0, 3, 6].map((first) =>
  shardOf([0, 1, 2].map((n) => sampleOf(first + n, `text ${first + n}`)))
);

/** Returns these shards and their index in the directory `d`, changed by `change`. */
export function datasetWith(
  change: (
    files: Files,
    index: Record<string, unknown>[],
  ) => void,
): Files {
  const index = SHARDS.map(({ length }, i) => entryOf(`${i}.mds`, length, 3));
  const files: Files = Object.fromEntries(
    SHARDS.map((shard, i) => [`d/${i}.mds`, new Uint8Array(shard)]),
  );
  change(files, index);
  const text = JSON.stringify({ shards: index, version: 2 });
  files["d/index.json"] = new TextEncoder().encode(text);
  return files;
}

/** Writes the dataset to a directory, without its second shard, and with its third truncated. */
export function writeDamaged(dir: string): void {
  const files = datasetWith((files) => {
    delete files["d/1.mds"];
    files["d/2.mds"] = files["d/2.mds"]!.slice(0, -1);
  });
  for (const [path, bytes] of Object.entries(files)) {
    fs.writeFileSync(`${dir}/${path.slice(2)}`, bytes);
  }
}
