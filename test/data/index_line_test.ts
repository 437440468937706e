/** The line of an index file that identifies its samples, and files that are rejected because of it. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { recordfs } from "../cli/run_cli.ts";
import { arrangeTree } from "../../src/data/trees/arrange_tree.ts";
import { Subset } from "../../src/data/datasets/subset.ts";
import { FFRecordDataset } from "../../src/formats/ffrecord/data/ffrecord_dataset.ts";
import { ROOT } from "../../src/tree/tree.ts";
import { open } from "../../src/open/open.ts";
import { ffrBytes, packedSamples } from "../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../support/paths.ts";

/** Makes a directory of FFRecord files of the given lengths. */
function putShards(path: string, lengths: readonly number[]): void {
  fs.mkdirSync(path);
  for (const [i, length] of lengths.entries()) {
    const samples = Array.from({ length }, (_, j) => Uint8Array.of(j));
    fs.writeFileSync(`${path}/${i}.ffr`, ffrBytes(samples));
  }
}

/** Makes a packed folder of empty files. */
function putFolder(path: string, ...names: string[]): void {
  const files = names.map((name) => [name, new Uint8Array()] as const);
  fs.writeFileSync(path, ffrBytes(packedSamples(Object.fromEntries(files))));
}

async function split(path: string, out: string): Promise<string> {
  const line = ["split", path, "--ratios", "1,1", "--out", out];
  const ran = await recordfs(line);
  assert.equal(ran.code, 0, ran.stderr);
  return `${out}/val.txt`;
}

/** Returns the number of samples that a mount of a container would show, or the error. */
async function shown(
  path: string,
  subset: string,
  ext?: string,
): Promise<number | string> {
  using fs = await open(path, { ext });
  try {
    const arranged = { subset, shuffle: undefined };
    const tree = await arrangeTree(fs.tree, arranged, fs.info);
    let count = 0;
    tree.list(ROOT, 0, () => ++count > 0);
    return count;
  } catch (error) {
    return (error as Error).message;
  }
}

Deno.test("a split records its samples, and other datasets reject it", async () => {
  await withTempDir(async (dir) => {
    putShards(`${dir}/a`, [3, 5]);
    putShards(`${dir}/b`, [4, 4]);
    putFolder(`${dir}/a.ffr`, "cat.jpg", "dog.jpg");
    putFolder(`${dir}/b.ffr`, "cat.jpg", "eel.jpg");
    const ofShards = await split(`${dir}/a`, `${dir}/shards`);
    const ofFolder = await split(`${dir}/a.ffr`, `${dir}/folder`);
    for (const [file, samples] of [[ofShards, 8], [ofFolder, 2]] as const) {
      const [first] = fs.readFileSync(file, "utf8").split("\n");
      assert.match(
        first!,
        RegExp(`^# recordfs-index 1 samples=${samples} names=[0-9a-f]{32}$`),
      );
    }
    // Neither the path nor the extension of shown names counts.
    fs.renameSync(`${dir}/a`, `${dir}/moved`);
    fs.renameSync(`${dir}/a.ffr`, `${dir}/moved.ffr`);
    assert.equal(await shown(`${dir}/moved`, ofShards), 4);
    assert.equal(await shown(`${dir}/moved`, ofShards, "jpg"), 4);
    assert.equal(await shown(`${dir}/moved.ffr`, ofFolder), 1);
    for (
      const [path, file, words] of [
        [`${dir}/b`, ofShards, /val\.txt, .*an index file of other samples/],
        [
          `${dir}/b.ffr`,
          ofFolder,
          /val\.txt, .*an index file of other samples/,
        ],
        [
          `${dir}/b.ffr`,
          ofShards,
          /line 1: .*of 8 samples, and this container has 2/,
        ],
      ] as const
    ) assert.match(String(await shown(path, file)), words);
    using dataset = await FFRecordDataset.open(`${dir}/moved`);
    assert.equal((await Subset.fromFile(dataset, ofShards)).length, 4);
    await assert.rejects(Subset.fromFile(dataset, ofFolder), {
      code: "bad-indices",
      message: /of 2 samples, and this container has 8/,
    });
  });
});

Deno.test("an index file without the line is accepted, one of another version rejected", async () => {
  await withTempDir(async (dir) => {
    putFolder(`${dir}/a.ffr`, "cat.jpg", "dog.jpg");
    const write = (text: string) => fs.writeFileSync(`${dir}/i.txt`, text);
    const read = () => shown(`${dir}/a.ffr`, `${dir}/i.txt`);
    write("# of something\n1\n");
    assert.equal(await read(), 1);
    // After an index, the line is an ordinary comment.
    write("1\n# recordfs-index 1 samples=7 names=00\n");
    assert.equal(await read(), 1);
    write(
      "\ufeff# of something\r\n\r\n# recordfs-index 1 samples=7 names=00\r\n1\r\n",
    );
    assert.match(String(await read()), /line 3: .*of 7 samples/);
    write("# recordfs-index 2 samples=2\n1\n");
    assert.match(String(await read()), /line 1: .*a newer recordfs/);
  });
});
