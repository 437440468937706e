/** Locations of several tars: brace patterns, and `::` between locations. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { dirname } from "node:path";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import { DataLoader } from "../../../../src/open/data/mod.ts";
import { open } from "../../../../src/open/open.ts";
import { tarBytes } from "../../../support/tar/make_tar.ts";
import { openWeb, openWebDataset } from "../../../support/tar/open_web.ts";
import { withTempDir } from "../../../support/paths.ts";
import { CLI } from "../../../cli/run_cli.ts";

/** Makes a tar of one file with a unique name. */
function tar(path: string): Uint8Array<ArrayBuffer> {
  return tarBytes([{ name: `${path.replaceAll("/", "-")}.txt` }]);
}

const PATHS = [
  ...["a.tar", "b.tar", "c.tar", "x-09.tar", "x-10.tar", "x-11.tar"],
  ...["train/0.tar", "val/0.tar", "train/1.tar", "val/1.tar"],
  ...["it{1,2}.tar", "t::u.tar"],
];

const storage = new MemoryStorage(
  Object.fromEntries(PATHS.map((path) => [path, tar(path)])),
);

const PATTERNS: Record<string, readonly string[]> = {
  "x-{11..09}.tar": ["x-11.tar", "x-10.tar", "x-09.tar"],
  "x-{09..11..2}.tar": ["x-09.tar", "x-11.tar"],
  "{a..c..2}.tar": ["a.tar", "c.tar"],
  "{c,a}.tar": ["c.tar", "a.tar"],
  "{train,val}/{0..1}.tar": [
    ...["train/0.tar", "train/1.tar", "val/0.tar", "val/1.tar"],
  ],
  "b.tar::x-{10..11}.tar": ["b.tar", "x-10.tar", "x-11.tar"],
  "a.tar::a.tar": ["a.tar", "a.tar"],
  // A file with that literal name takes precedence.
  "it{1,2}.tar": ["it{1,2}.tar"],
  "t::u.tar": ["t::u.tar"],
};

for (const [pattern, paths] of Object.entries(PATTERNS)) {
  Deno.test(`${pattern} names its tars in order`, async () => {
    using samples = await openWeb(pattern, { storage });
    assert.deepEqual(samples.paths, paths);
    const names = paths.map((path) => `${path.replaceAll("/", "-")}.txt`);
    const keys = names.map((name) => name.slice(0, name.indexOf(".")));
    assert.deepEqual(paths.map((_, i) => samples.keyOf(i)), keys);
    using container = await open(pattern, { storage });
    assert.deepEqual(container.info.parts.map(({ path }) => path), paths);
    assert.equal(container.info.files, paths.length);
    const found: string[] = [];
    for await (const { isFile, path } of container.walk()) {
      if (isFile) found.push(path.slice(path.lastIndexOf("/") + 1));
    }
    assert.deepEqual(found.sort(), names.toSorted());
  });
}

Deno.test("tars of one name are shown below their directories, a repeated one with a number", async () => {
  using apart = await open("{train,val}/{0..1}.tar", { storage });
  assert.deepEqual(await apart.list("/"), ["train", "val"]);
  assert.deepEqual(await apart.list("val"), ["0", "1"]);
  using twice = await open("a.tar::a.tar", { storage });
  assert.deepEqual(await twice.list("/"), ["a", "a~2"]);
});

Deno.test("patterns that name too many files, or several servers, are rejected with a readable message", async () => {
  for (
    const [pattern, code, reason] of [
      ["x{1..1000000000}.tar", "absurd-count", /names 1000000000 files/],
      [`${"{0,1}".repeat(64)}.tar`, "absurd-count", /names \d+ files/],
      [`{0..${"9".repeat(999)}}.tar`, "absurd-count", /more than 2\^64/],
      [`${"{".repeat(99)}1,2${"}".repeat(99)}.tar`, "absurd-count", /braces/],
      ["a.tar::https://h.invalid/b.tar", "bad-location", /of a server/],
      [
        "https://h.invalid/a.tar::https://i.invalid/b.tar",
        "bad-location",
        /several servers/,
      ],
      [
        "https://u:one@h.invalid/a.tar::https://h.invalid/b.tar",
        "bad-location",
        /passwords/,
      ],
      ["s3://a/a.tar::s3://b/b.tar", "bad-location", /several servers/],
    ] as const
  ) {
    for (const start of [open, openWeb]) {
      const refused = await assertRejects(start(pattern), code);
      assert.match(refused.message, reason);
      assert.ok(!refused.message.includes("one@"));
      assert.ok(refused.message.length < 1500);
    }
  }
});

async function assertRejects(
  promise: Promise<unknown>,
  code: string,
): Promise<Error> {
  const error = await promise.then(() => assert.fail("opened"), (e) => e);
  assert.equal(error.code, code, error.message);
  return error;
}

Deno.test("patterns work wherever they are opened: relative ones, in threads, by the command", async () => {
  await withTempDir(async (dir) => {
    for (const path of PATHS) {
      fs.mkdirSync(dirname(`${dir}/${path}`), { recursive: true });
      fs.writeFileSync(`${dir}/${path}`, tar(path));
    }
    const pattern = `${dir}/{b,c}.tar::${dir}/x-{09..10}.tar`;
    using dataset = await openWebDataset(pattern);
    const loader = new DataLoader(dataset, { batchSize: 4, numWorkers: 1 });
    const keys: string[] = [];
    for await (const batch of loader) {
      keys.push(...(batch as { __key__: string[] }).__key__);
    }
    loader.close();
    assert.deepEqual(keys, ["b", "c", "x-09", "x-10"]);
    const listed = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--no-check",
        CLI,
        "ls",
        "-R",
        "{c,b}.tar::./x-{11..10}.tar",
      ],
      cwd: dir,
    }).output();
    const lines = new TextDecoder().decode(listed.stdout).split("\n");
    assert.deepEqual(
      lines.filter((line) => line.endsWith(".txt")),
      ["c/c.tar.txt", "b/b.tar.txt", "x-11/x-11.tar.txt", "x-10/x-10.tar.txt"],
    );
  });
});
