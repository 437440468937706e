/** Several containers opened as one: a union shows the entries of its parts, each below its path. */
import assert from "node:assert/strict";
import { LONG } from "../support/long.ts";
import fc from "../support/random.ts";
import * as fs from "node:fs";
import { reopenHandle } from "../../src/tree/tree.ts";
import { samplesOf } from "../../src/tree/samples_of.ts";
import {
  type Extent,
  newExtent,
  newStat,
  type Tree,
} from "../../src/tree/tree.ts";
import { openSync, PlacementError } from "../../src/open/mod.ts";
import { open } from "../../src/open/open.ts";
import type { SeveralLocations } from "../../src/open/location.ts";
import { PathError, RecordfsError } from "../../src/base/errors.ts";
import { type VirtualFs } from "../../src/tree/vfs/virtual_fs.ts";
import { listed, lookup, walked } from "../tree/support/walked.ts";
import { withTempDir } from "../support/paths.ts";
import { descriptorsBelowNow } from "../support/programs/descriptors.ts";

const golden = (path: string) => `test/golden/${path}`;

/** One container of each kind of tree: some know their number of nodes, others open files on demand. */
const CONTAINERS = [
  "ffrecord/packed_tree/sample_10.ffr",
  "ffrecord/packed_empty_folder/records_26.ffr",
  "ffrecord/plain_sizes/sample_85.ffr",
  "ffrecord/plain_zero/part_71.ffr",
  "ffrecord/parts_dump/parts",
  "gulp/v1_chunks/gulp",
  "gulp/v2_image_list/gulp",
  "gulp/v2_odd_ids/gulp",
  "bag/many/part_84.bag",
  "bags/lists/data",
  "bags/sharded/shards",
  "granular/types/data",
  "granular3/sharded/data",
].map(golden);

/** Paths of which none contains another, in any order. */
const paths = fc.shuffledSubarray(
  ["a", "b/c", "b/d", "é/f g/h", "é/f g/i", "epoch", ".j", "z.ffr"],
  { minLength: 1, maxLength: 5 },
);

type ContainerPlace = Exclude<SeveralLocations[number], string | URL>;

const places: fc.Arbitrary<ContainerPlace[]> = paths.chain((chosen) =>
  fc.tuple(...chosen.map((path) =>
    fc.record({
      location: fc.constantFrom(...CONTAINERS),
      path: fc.constant(path),
      options: fc.constantFrom({}, { decoded: true }, { ext: "bin" }),
    })
  ))
);

/** Returns the content of each file of a filesystem, and its directories, by path. */
async function contents(fs: VirtualFs): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const entries = await Array.fromAsync(fs.walk());
  const files = entries.filter(({ isFile }) => isFile);
  const bytes = await fs.read(files);
  files.forEach(({ path }, i) => found.set(path, bytes[i]!.toHex()));
  for (const { path, isDirectory } of entries) {
    if (isDirectory) found.set(path, "directory");
  }
  return found;
}

/** Returns the same for the parts, opened one by one, each below its path. */
async function contentsApart(
  given: readonly ContainerPlace[],
): Promise<Map<string, string>> {
  const all = new Map<string, string>();
  for (const { location, path, options } of given) {
    const names = path!.split("/");
    names.forEach((_, i) =>
      all.set(names.slice(0, i + 1).join("/"), "directory")
    );
    using fs = await open(location, options);
    for (const [below, content] of await contents(fs)) {
      all.set(`${path}/${below}`, content);
    }
  }
  return all;
}

Deno.test("a union of containers contains the content of each below its path", async () => {
  await fc.assert(
    fc.asyncProperty(places, async (given) => {
      using fs = await open(given);
      const expected = await contentsApart(given);
      assert.deepEqual(await contents(fs), expected);
      const above = new Set(given.flatMap(({ path }) => {
        const names = path!.split("/");
        return names.map((_, i) => names.slice(0, i + 1).join("/"));
      }));
      let [files, directories, bytes] = [0, above.size, 0];
      for (const { location, options } of given) {
        using one = await open(location, options);
        files += one.info.files;
        directories += one.info.directories;
        bytes += one.info.bytes;
      }
      const { info } = fs;
      assert.deepEqual(
        [info.files, info.directories, info.bytes],
        [files, directories, bytes],
      );
      assert.deepEqual(
        fs.info.containers?.map(({ location, path }) => [location, path]),
        given.map(({ location, path }) => [location, path]),
      );
      using same = openSync(given);
      assert.deepEqual(walked(same.tree), walked(fs.tree));
    }),
    { numRuns: LONG ? 20 : 8 },
  );
});

/** Returns everything that a tree's methods return for each of its nodes. */
function described(tree: Tree): unknown[] {
  return [...walked(tree), ["", 1] as const].map(([path, node]) => {
    const [stat, extent] = [newStat(), newExtent()];
    const isThere = tree.stat(node, stat);
    const located = tree.locate(node, extent) ? asPlain(extent) : undefined;
    const name = new Uint8Array(1024);
    const length = tree.nameOf?.(node, name) ?? 0;
    return [
      ...[path, node, isThere, stat, located, tree.isDirectory(node)],
      ...[tree.parent(node), tree.sampleOf?.(node)],
      name.slice(0, length).toHex(),
    ];
  });
}

function asPlain({ bytes, ...extent }: Extent): unknown {
  return { ...extent, bytes: bytes?.toHex() };
}

Deno.test("inode numbers of a union are the same on every open and in every thread, and unique", async () => {
  await fc.assert(
    fc.asyncProperty(places, async (given) => {
      using fs = await open(given);
      using again = await open(given);
      const all = described(fs.tree);
      assert.deepEqual(described(again.tree), all);
      const reopened = await reopenHandle(structuredClone(fs.tree.share()));
      assert.deepEqual(described(reopened), all);
      reopened.close();
      const nodes = walked(fs.tree).map(([, node]) => node);
      assert.ok(nodes.every((node) => Number.isSafeInteger(node) && node > 1));
      assert.ok(nodes.every((node) => node <= fs.tree.lastNode!));
      const directories = walked(fs.tree).filter(([path]) =>
        path.endsWith("/")
      );
      const distinct = new Set(directories.map(([, node]) => node));
      assert.equal(distinct.size, directories.length);
    }),
    { numRuns: LONG ? 30 : 8 },
  );
});

Deno.test("names in a union are found where they are listed, page by page or at once", async () => {
  await fc.assert(
    fc.asyncProperty(places, fc.integer({ min: 1, max: 5 }), async (
      given,
      page,
    ) => {
      using fs = await open(given);
      const { tree } = fs;
      for (const [, dir] of [["", 1] as const, ...walked(tree)]) {
        if (!tree.isDirectory(dir)) continue;
        const shown = listed(tree, dir);
        assert.deepEqual(listed(tree, dir, page), shown);
        for (const { name, node } of shown) {
          if (name.includes("\ufffd")) continue; // not UTF-8
          assert.equal(lookup(tree, dir, name), node);
          if (tree.isDirectory(node)) assert.equal(tree.parent(node), dir);
        }
        assert.equal(lookup(tree, dir, "none"), 0);
      }
    }),
    { numRuns: LONG ? 25 : 8 },
  );
});

Deno.test("samples of files, datapoints and videos count through the containers in order", async () => {
  await fc.assert(
    fc.asyncProperty(places, async (given) => {
      using fs = await open(given);
      const samples = await samplesOf(fs.tree);
      const found = new Map(
        walked(fs.tree).map(([path, node]) => [node, path]),
      );
      const expected: (string | undefined)[] = [];
      for (const { location, path, options } of given) {
        using one = await open(location, options);
        const own = await samplesOf(one.tree);
        const names = new Map(
          walked(one.tree).map(([below, node]) => [node, `${path}/${below}`]),
        );
        for (let i = 0; i < own.length; i++) {
          expected.push(names.get(own.node(i)));
        }
      }
      const actual = expected.map((_, i) => found.get(samples.node(i)));
      assert.deepEqual(actual, expected);
      assert.equal(samples.length, expected.length);
    }),
    { numRuns: LONG ? 30 : 8 },
  );
});

Deno.test("trees with a known number of nodes precede others, to save bits", async () => {
  using fs = await open([
    golden("bags/sharded/shards"),
    golden("ffrecord/packed_tree/sample_10.ffr"),
    { location: golden("bags/lists/data"), path: "b" },
    { location: golden("gulp/v2_chunks/gulp"), path: "g" },
  ]);
  const nodesIn = (path: string) =>
    walked(fs.tree, lookup(fs.tree, 1, path)).map(([, node]) => node);
  const settled = [...nodesIn("sample_10"), ...nodesIn("g")];
  assert.equal(Math.max(...settled), 5 + settled.length); // after the root and the four
  assert.ok(Math.max(...settled) <= fs.tree.nodeCount);
  const sparse = [...nodesIn("shards"), ...nodesIn("b")];
  assert.ok(Math.min(...sparse) > Math.max(...settled));
  assert.ok(Math.max(...sparse) <= 2 ** 52 + 5);
});

Deno.test("containers without a path are shown under their names, files without a suffix", async () => {
  using fs = await open([
    golden("ffrecord/packed_tree/sample_10.ffr"),
    `${golden("gulp/v1_chunks/gulp")}//`,
    new URL("../golden/bag/many/part_84.bag", import.meta.url),
    { location: golden("bags/lists/data"), path: "/x/./y/" },
  ]);
  assert.deepEqual(await fs.list(), ["sample_10", "gulp", "part_84", "x"]);
  assert.deepEqual(await fs.list("x"), ["y"]);
  assert.equal((await fs.stat("x")).isDirectory, true);
  assert.equal(fs.info.format, "ffrecord, gulp, bags");
  assert.equal(fs.info.kind, "4 containers");
});

Deno.test("options of one container take precedence over those of all", async () => {
  const location = golden("ffrecord/plain_sizes/sample_85.ffr");
  using fs = await open([
    { location, path: "a", options: { ext: "txt" } },
    { location, path: "b" },
  ], { ext: "jpg" });
  assert.ok(await fs.isFile("a/000000.txt"));
  assert.ok(await fs.isFile("b/000000.jpg"));
});

Deno.test("one container in a list is the root, unless it has a path", async () => {
  const location = golden("ffrecord/packed_tree/sample_10.ffr");
  using fs = await open(location);
  using listed = await open([location]);
  using placed = await open([{ location, path: "a/b" }]);
  assert.deepEqual(walked(listed.tree), walked(fs.tree));
  assert.equal(listed.tree.constructor, fs.tree.constructor); // the tree is not wrapped
  assert.deepEqual(await placed.list("a/b"), await fs.list());
});

Deno.test("a prefix makes a directory the root", async () => {
  for (const location of CONTAINERS) {
    using fs = await open(location, { decoded: true });
    const whole = await contents(fs);
    const directories = [...whole].filter(([, one]) => one === "directory");
    for (const [at, [path]] of directories.entries()) {
      if (at % Math.ceil(directories.length / 10) > 0) continue;
      using part = await open(location, { decoded: true, prefix: `/${path}/` });
      const below = [...whole].filter(([one]) => one.startsWith(`${path}/`))
        .map(([one, bytes]) => [one.slice(path.length + 1), bytes] as const);
      assert.deepEqual(await contents(part), new Map(below), path);
      assert.equal(part.tree.parent(1), 1);
      const reopened = await reopenHandle(structuredClone(part.tree.share()));
      assert.deepEqual(described(reopened), described(part.tree));
      reopened.close();
      using same = openSync(location, { decoded: true, prefix: path });
      assert.deepEqual(walked(same.tree), walked(part.tree));
    }
  }
});

Deno.test("the samples of a part are those in it, or its files if it is inside a sample", async () => {
  const count = async (location: string, prefix?: string) => {
    using fs = await open(location, { prefix });
    return (await samplesOf(fs.tree)).length;
  };
  const sharded = golden("bags/sharded/shards");
  using fs = openSync(sharded);
  const shards = fs.listSync();
  let all = 0;
  for (const shard of shards) {
    const datapoints = fs.listSync(shard)
      .filter((name) => name !== "spec.json");
    assert.equal(await count(sharded, shard), datapoints.length);
    all += datapoints.length;
  }
  assert.equal(await count(sharded), all);
  const datapoint = `${shards[0]}/000000`;
  const files = [...fs.walkSync(datapoint)].filter(({ isFile }) => isFile);
  assert.equal(await count(sharded, datapoint), files.length);
});

Deno.test("a prefix of several containers omits the others, or is inside one of them", async () => {
  await fc.assert(
    fc.asyncProperty(places, fc.nat(), async (given, choice) => {
      using fs = await open(given);
      const whole = await contents(fs);
      const directories = [...whole].filter(([, one]) => one === "directory");
      const [prefix] = directories[choice % directories.length]!;
      using part = await open(given, { prefix });
      const below = [...whole].filter(([one]) => one.startsWith(`${prefix}/`))
        .map(([one, bytes]) => [one.slice(prefix.length + 1), bytes] as const);
      assert.deepEqual(await contents(part), new Map(below));
    }),
    { numRuns: LONG ? 30 : 8 },
  );
});

Deno.test("a prefix that is not a directory is an error that names it", async () => {
  const location = golden("ffrecord/packed_tree/sample_10.ffr");
  const fails = async (
    given: Parameters<typeof open>[0],
    prefix: string,
    code: string,
  ) => {
    const isIt = (error: unknown) =>
      error instanceof PathError && error.code === code &&
      error.path === prefix && error.message.includes("sample_10.ffr");
    await assert.rejects(open(given, { prefix }), isIt);
    assert.throws(() => openSync(given, { prefix }), isIt);
  };
  await fails(location, "none", "not-found");
  await fails(location, "words/../none", "not-found");
  await fails(location, "...", "not-directory");
  const several = [{ location, path: "a/b" }, { location, path: "a/c" }];
  await fails(several, "a/d", "not-found");
  await fails(several, "b", "not-found");
  await fails(several, "a/b/...", "not-directory");
  using _fs = await open(several, { prefix: "a/b/words" });
});

Deno.test("containers that would hide each other are rejected, and nothing stays open", () =>
  withTempDir(async (dir) => {
    const a = `${dir}/sample_10.ffr`;
    fs.copyFileSync(golden("ffrecord/packed_tree/sample_10.ffr"), a);
    const b = `${dir}/lists/data`;
    fs.cpSync(golden("bags/lists/data"), b, { recursive: true });
    const fails = async (
      given: Parameters<typeof open>[0],
      code: string,
      words: RegExp,
    ) => {
      const isIt = (error: unknown) => {
        assert.ok(error instanceof PlacementError);
        assert.match(error.message, words);
        return error.code === code;
      };
      await assert.rejects(open(given), isIt);
      assert.throws(() => openSync(given), isIt);
    };
    await fails([], "no-container", /Cannot open containers: none was given/);
    await fails([a, a], "same-path", /sample_10.ffr and .*'sample_10'/);
    await fails(
      [{ location: a, path: "data" }, b],
      "same-path",
      /sample_10.*lists\/data.*'data'/,
    );
    await fails(
      [{ location: a, path: "x" }, { location: b, path: "/x/y" }],
      "inside-other",
      /lists\/data.*'x\/y'.*inside .*sample_10.ffr in 'x'/,
    );
    await fails(
      [{ location: a, path: "x/y/z" }, { location: b, path: "x" }],
      "inside-other",
      /sample_10.*'x\/y\/z'.*inside .*data in 'x'/,
    );
    await fails([{ location: a, path: "../x" }, b], "bad-path", /'\.\.'/);
    await fails([{ location: a, path: "x\0" }, b], "bad-path", /NUL/);
    const long = "é".repeat(128);
    await fails([{ location: a, path: long }], "bad-path", /256 byte/);
    await fails([{ location: a, path: "/" }, b], "bad-path", /next to other/);
    await fails([a, "."], "bad-path", /no name of its own/);
    await fails([a, "/"], "bad-path", /no name of its own/);
    const bad = golden("ffrecord/bad_truncated_last");
    await assert.rejects(open([a, b, bad, "none.ffr"]), RecordfsError);
    await assert.rejects(open([a, b, "none.ffr"]), /none\.ffr/);
    assert.throws(() => openSync([a, b, "none.ffr"]), /none\.ffr/);
    assert.equal(descriptorsBelowNow(dir), 0);
  }));
