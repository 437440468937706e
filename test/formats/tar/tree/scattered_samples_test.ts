/** Samples whose files are separated by other members, in subsets, orders, conversions and splits. */
import assert from "node:assert/strict";
import { checked } from "../../../support/checked.ts";
import * as fs from "node:fs";
import { convert } from "../../../../src/open/convert/convert.ts";
import { DataLoader } from "../../../../src/open/data/mod.ts";
import { arrangeTree } from "../../../../src/data/trees/arrange_tree.ts";
import { reopenHandle, ROOT } from "../../../../src/tree/tree.ts";
import { open } from "../../../../src/open/open.ts";
import { assertFailed, recordfs, succeed } from "../../../cli/run_cli.ts";
import { withTempDir } from "../../../support/paths.ts";
import { tarBytes } from "../../../support/tar/make_tar.ts";
import {
  openWebDataset,
  type WebSample,
} from "../../../support/tar/open_web.ts";
import { listed } from "../../../tree/support/walked.ts";

/** As macOS writes them, and as in a tar to which files were appended; `p/0.b` was written again at the end. */
const NAMES = [
  ...["./p/._0.a", "./p/0.a", "./p/._0.b", "./p/0.b", "./p/1.a", "./p/1.b"],
  ...["./q/2.a", "./p/.DS_Store", "./p/3.a", "./q/2.b", "./p/3.b", "./p/0.b"],
];
const KEYS = ["./p/0", "./p/1", "./q/2", "./p/3"];

const members = NAMES.map((name, i) => ({ name, data: `${i}` }));
const BYTES = tarBytes(members);

Deno.test("a subset shows all files of its samples", () =>
  withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/subset.txt`, "0\n3\n");
    using container = await open(BYTES, { format: "tar" });
    assert.equal(container.info.facts?.["samples"], 4);
    const made = await arrangeTree(container.tree, {
      subset: `${dir}/subset.txt`,
      shuffle: undefined,
    }, container.info);
    for (const tree of [made, await reopenHandle(made.share())]) {
      const shown = listed(tree, ROOT)
        .flatMap(({ node }) => listed(tree, node))
        .map(({ name }) => name)
        .filter((name) => !name.startsWith(".")); // not part of a sample
      assert.deepEqual(shown, ["0.a", "0.b", "3.a", "3.b"]);
    }
  }));

Deno.test("samples have the keys and files of their members, also in threads", async () => {
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/t.tar`, BYTES);
    using dataset = await openWebDataset(`${dir}/t.tar`, {
      onWarning: () => {},
    });
    const options = { batchSize: 4, numWorkers: 1, collate: false } as const;
    await using loader = new DataLoader<WebSample, WebSample[]>(
      dataset,
      options,
    );
    const text = (value: string) => new TextEncoder().encode(value);
    for await (const batch of loader) {
      assert.deepEqual(batch.map((sample) => ({ ...sample })), [
        { __key__: KEYS[0], a: text("1"), b: text("11") },
        { __key__: KEYS[1], a: text("4"), b: text("5") },
        { __key__: KEYS[2], a: text("6"), b: text("9") },
        { __key__: KEYS[3], a: text("8"), b: text("10") },
      ]);
    }
    using rows = await open(`${dir}/t.tar`, { sampleView: true });
    const [first, , third] = await rows.list("/");
    const key = await rows.read(`${first}/__key__`);
    assert.equal(new TextDecoder().decode(key), KEYS[0]);
    assert.deepEqual(await rows.list(third!), ["__key__", "a", "b"]);
  });
});

Deno.test("no shard of a conversion splits a sample", async () => {
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/t.tar`, BYTES);
    await convert(`${dir}/t.tar`, `${dir}/s`, { to: "tar", shardLength: 1 });
    using shards = await openWebDataset(`${dir}/s`);
    assert.equal(shards.length, 4);
    const samples = await shards.get([0, 1, 2, 3]);
    for (const sample of samples) {
      assert.deepEqual(Object.keys(sample).sort(), ["__key__", "a", "b"]);
    }
  });
});

Deno.test("split counts samples of a tar whose kind is not detected, and stratifies tars that look like files", async () => {
  await withTempDir(async (dir) => {
    const shards = [[], ["0.cls", "0.txt", "1.cls", "1.txt"], ["2.cls"]];
    fs.mkdirSync(`${dir}/s`);
    for (const [i, names] of shards.entries()) {
      const members = names.map((name) => ({ name, data: "1" }));
      fs.writeFileSync(`${dir}/s/${i}.tar`, tarBytes(members));
    }
    const half = ["--ratios", "1,1", "--names", "a,b", "--out"];
    const { stdout } = await succeed([
      "split",
      `${dir}/s`,
      ...half,
      `${dir}/o`,
    ]);
    assert.match(stdout, /a\.txt: [12] samples?\n.*b\.txt: [12] samples?\n/);
    const alone = ["0.cls", "1.cls", "2.cls", "3.cls", "README"];
    const path = `${dir}/alone.tar`;
    fs.writeFileSync(
      path,
      tarBytes(alone.map((name, i) => ({ name, data: `${i % 2}` }))),
    );
    const split = ["split", path, ...half];
    const by = (label: string) => ["--stratify", label];
    const ran = await recordfs([...split, `${dir}/cls`, ...by("cls")]);
    assert.equal(ran.code, 0);
    assert.match(ran.stdout, /a\.txt: 2 samples\n.*b\.txt: 2 samples\n/);
    assert.match(
      ran.stderr,
      /give --format webdataset together with --subset\n/,
    );
    const { stdout: files } = await succeed([
      ...[...split, `${dir}/dir`, ...by("dir")],
    ]);
    assert.match(files, /a\.txt: [23] files\n/);
    const other = await recordfs([...split, `${dir}/x`, ...by("png")]);
    assertFailed(
      other,
      1,
      /alone\.tar: its sample '0' has no single value of 'png'/,
    );
    const shown = await succeed(["ls", "--format", "webdataset", path]);
    assert.equal(shown.stdout, `${alone.join("\n")}\n`);
  });
});

Deno.test("check counts the samples that can be read", async () => {
  const cut = { "t.tar": BYTES.slice(0, -1536) };
  assert.equal((await checked(cut, { format: "tar" })).samples, 4);
});
