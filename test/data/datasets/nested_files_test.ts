/** Datasets of files in nested containers: in worker threads, and with more containers than are open at a time. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { gzipSync } from "node:zlib";
import { followRecipe } from "../../../src/data/recipe.ts";
import {
  DataLoader,
  type Dataset,
  type FileSample,
  type LoaderState,
  RECIPE,
  Subset,
} from "../../../src/open/data/mod.ts";
import {
  openDataset,
  type OpenDatasetOptions,
} from "../../../src/open/data/open_dataset.ts";
import { openSamples } from "../../../src/open/samples/open_samples.ts";
import { withTempDir } from "../../support/paths.ts";
import { BucketServer } from "../../support/remote/bucket_server.ts";
import { slowStorage } from "../../support/slow_storage.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";
import { makeZip } from "../../support/zip/make_zip.ts";
import portableStorage from "../support/portable_storage.ts";
import { assertPortable } from "../support/in_thread.ts";

type Files = Record<string, string>;

const NESTED = { nested: true, decode: false } as const;

const membersOf = (files: Files) =>
  Object.entries(files).map(([name, data]) => ({ name, data }));
const tar = (files: Files) => tarBytes(membersOf(files));
const zip = (files: Files) =>
  makeZip(
    Object.entries(files).map(([name, text]) => ({
      name,
      data: new TextEncoder().encode(text),
      method: 8,
    })),
  );

const WORDS: Files = { "1.jpg": "one", "2.txt": "two", "3.jpg": "three" };

/** Writes archives of every kind, and returns the files that a nested view of the directory has, in its order. */
function writeAll(dir: string): [path: string, text: string][] {
  const inner = zip({ "deep.jpg": "deep", "deep.txt": "text" });
  fs.mkdirSync(`${dir}/d`);
  fs.writeFileSync(`${dir}/a.tar`, tar(WORDS));
  fs.writeFileSync(`${dir}/b.tar.gz`, gzipSync(tar(WORDS)));
  fs.writeFileSync(
    `${dir}/c.tar`,
    tarBytes([{ name: "in.zip", data: inner }, { name: "x.jpg", data: "x" }]),
  );
  fs.writeFileSync(`${dir}/d/e.zip`, zip(WORDS));
  fs.writeFileSync(`${dir}/f.jpg`, "plain");
  const below = (path: string) =>
    Object.entries(WORDS).map(([name, text]): [string, string] => [
      `${path}/${name}`,
      text,
    ]);
  return [
    ...below("a.tar"),
    ...below("b.tar.gz"),
    ["c.tar/in.zip/deep.jpg", "deep"],
    ["c.tar/in.zip/deep.txt", "text"],
    ["c.tar/x.jpg", "x"],
    ...below("d/e.zip"),
    ["f.jpg", "plain"],
  ];
}

const seen = ({ path, content }: FileSample): [string, string] => [
  path,
  new TextDecoder().decode(content),
];

async function loaded(
  dataset: Dataset<FileSample>,
  numWorkers: number,
): Promise<[string, string][]> {
  await using loader = new DataLoader<FileSample, FileSample[]>(dataset, {
    batchSize: 2,
    numWorkers,
    collate: false,
  });
  return (await Array.fromAsync(loader)).flat().map(seen);
}

Deno.test("worker threads read the files of nested containers", () =>
  withTempDir(async (dir) => {
    const all = writeAll(dir);
    const pictures = all.filter(([path]) => path.endsWith(".jpg"));
    const cases: [options: OpenDatasetOptions, files: typeof all][] = [
      [NESTED, all],
      [{ ...NESTED, files: "**/*.jpg" }, pictures],
      [
        { ...NESTED, files: "**/*.jpg", stripSuffix: true },
        pictures.map(([path, text]) => [
          path.replaceAll(/\.(tar(\.gz)?|zip)\//g, "/"),
          text,
        ]),
      ],
      [
        { ...NESTED, nested: [".zip"], prefix: "d" },
        all.slice(9, 12).map(([path, text]) => [path.slice(2), text]),
      ],
    ];
    for (const [i, [options, files]] of cases.entries()) {
      for (const numWorkers of i < 2 ? [0, 1, 2] : [1]) {
        using dataset = await openDataset<FileSample>(dir, options);
        assert.deepEqual(await loaded(dataset, numWorkers), files);
      }
    }
    using dataset = await openDataset<FileSample>(dir, NESTED);
    const backwards = [...all.keys()].reverse();
    using subset = new Subset(dataset, backwards);
    assert.deepEqual(await loaded(subset, 1), all.toReversed());
  }));

Deno.test("a container of containers, and one of a storage that a program makes", () =>
  withTempDir(async (dir) => {
    const all = writeAll(dir);
    const outer = all.map(([path]) => path.split("/")[0]!)
      .filter((name) => name !== "d");
    const members = [...new Set(outer)].map((name) => ({
      name,
      data: fs.readFileSync(`${dir}/${name}`),
    }));
    fs.mkdirSync(`${dir}/outer`);
    fs.writeFileSync(`${dir}/outer/o.tar`, tarBytes(members));
    const files = all.filter(([path]) => !path.startsWith("d/"));
    const order = files.map((_, i) => i * 7 % files.length);
    const storage = portableStorage();
    for (
      const [location, options, prefix] of [
        [`${dir}/outer/o.tar`, NESTED, ""],
        [`${dir}/outer`, NESTED, "o.tar/"],
        [`far:${dir}/outer`, { ...NESTED, storage }, "o.tar/"],
        [`far:${dir}/outer/o.tar`, { ...NESTED, storage }, ""],
      ] as const
    ) {
      using dataset = await openDataset<FileSample>(location, options);
      const samples = await dataset.get([...files.keys()]);
      assert.deepEqual(
        samples.map(seen),
        files.map(([path, text]) => [prefix + path, text]),
      );
      await assertPortable(dataset, order);
    }
  }));

Deno.test("a loop over nested containers resumes in other threads", () =>
  withTempDir(async (dir) => {
    const all = writeAll(dir);
    const options = { batchSize: 3, shuffle: true, seed: 4 };
    const loop = async (
      numWorkers: number,
      most = Infinity,
      state?: LoaderState,
    ) => {
      using dataset = await openDataset<FileSample>(dir, NESTED);
      await using loader = new DataLoader<FileSample, FileSample[]>(
        dataset,
        { ...options, collate: false, numWorkers },
      );
      if (state !== undefined) loader.load(state);
      const found: [string, string][] = [];
      let batches = 0;
      for await (const batch of loader) {
        found.push(...batch.map(seen));
        if (++batches === most) break;
      }
      return { found, state: loader.save() };
    };
    const { found: whole } = await loop(0);
    assert.deepEqual(whole.toSorted(), all.toSorted());
    const first = await loop(2, 2);
    assert.deepEqual(first.found, whole.slice(0, 6));
    const { found: rest } = await loop(1, Infinity, first.state);
    assert.deepEqual(rest, whole.slice(6));
  }));

Deno.test("batches of more containers than are open, of a storage that answers late", () =>
  withTempDir(async (dir) => {
    const count = 50;
    const paths: string[] = [];
    for (let i = 0; i < count; i++) {
      const name = `${i}`.padStart(2, "0");
      const files = { "0.txt": `first of ${i}`, "1.txt": `second of ${i}` };
      const isZip = i % 2 === 1;
      const suffix = isZip ? "zip" : "tar";
      fs.writeFileSync(
        `${dir}/${name}.${suffix}`,
        isZip ? zip(files) : tar(files),
      );
      paths.push(`${name}.${suffix}/0.txt`, `${name}.${suffix}/1.txt`);
    }
    const textOf = (k: number) =>
      `${k % 2 === 0 ? "first" : "second"} of ${Math.floor(k / 2)}`;
    const order = paths.map((_, k) => k * 37 % paths.length);
    for (const storage of [undefined, slowStorage(3)]) {
      using samples = await openSamples<{ content: string }, FileSample>(
        dir,
        { nested: true, ...(storage && { storage }) },
      );
      assert.deepEqual(
        (await samples.read(order)).map(seen),
        order.map((k) => [paths[k], textOf(k)]),
      );
      const decoded = await samples.get(order);
      assert.deepEqual(
        decoded.map(({ content }) => content),
        order.map(textOf),
      );
      samples.opened.prefetch(order, {});
    }
  }));

Deno.test("threads read the listed files, or fail", () =>
  withTempDir(async (dir) => {
    const all = writeAll(dir);
    const read = async (dataset: Dataset<FileSample>) => {
      using again = await followRecipe(dataset[RECIPE]()!) as typeof dataset;
      return (await again.get([...all.keys()])).map(seen);
    };
    using dataset = await openDataset<FileSample>(dir, NESTED);
    fs.writeFileSync(`${dir}/aa.tar`, tar({ "new.txt": "added later" }));
    fs.writeFileSync(`${dir}/0.jpg`, "added later");
    assert.deepEqual(await read(dataset), all);
    // Of the same length, between the first file and the last.
    const others = tar({ ...WORDS, "2.txt": "222" });
    fs.writeFileSync(`${dir}/a.tar`, others);
    fs.utimesSync(`${dir}/a.tar`, 1_700_000_000, 1_700_000_000);
    await assert.rejects(read(dataset), { code: "changed" });

    fs.writeFileSync(
      `${dir}/o.tar`,
      tarBytes([{ name: "a.tar", data: others }]),
    );
    using inTar = await openDataset<FileSample>(`${dir}/o.tar`, NESTED);
    fs.writeFileSync(
      `${dir}/o.tar`,
      tarBytes([{ name: "a.tar", data: tar(WORDS) }]),
    );
    fs.utimesSync(`${dir}/o.tar`, 1_700_000_000, 1_700_000_000);
    await assert.rejects(followRecipe(inTar[RECIPE]()!), {
      code: "changed",
      path: `${dir}/o.tar`,
    });
  }));

Deno.test("a thread reads more containers of a bucket than it has open, and lists nothing again", async () => {
  const objects: Record<string, Uint8Array> = {};
  const expected: [string, string][] = [];
  for (let i = 10; i < 50; i++) {
    const name = `${i}.tar${i % 2 === 0 ? "" : ".gz"}`;
    const bytes = tar({ "a.jpg": `${i}`, "a.txt": "text" });
    objects[`p/${name}`] = i % 2 === 0 ? bytes : gzipSync(bytes);
    expected.push([`${name}/a.jpg`, `${i}`]);
  }
  await using server = await BucketServer.start(objects);
  const remote = {
    s3: { endpoint: server.url, anonymous: true },
    cache: false,
  } as const;
  using dataset = await openDataset<FileSample>(
    "s3://bucket/p",
    { ...NESTED, remote, files: "**/*.jpg" },
  );
  const lists = () =>
    server.asked.filter((url) => url.includes("list-type=2")).length;
  const before = lists();
  assert.ok(before > 0);
  await using loader = new DataLoader<FileSample, FileSample[]>(dataset, {
    ...{ batchSize: 40, numWorkers: 1, shuffle: true, seed: 1 },
    collate: false,
  });
  const read = (await Array.fromAsync(loader)).flat().map(seen);
  assert.deepEqual(read.toSorted(), expected);
  assert.equal(lists(), before);
});
