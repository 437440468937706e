/** Random folders are packed and read in every way, byte for byte, names included. */
import assert from "node:assert/strict";
import { FULL, LONG } from "../../support/long.ts";
import fc from "../../support/random.ts";
import { PackedFolder, packFolder } from "../../../src/formats/ffrecord/mod.ts";
import { open } from "../../../src/open/open.ts";
import {
  type Contents,
  contentsOf,
  type ExactFolder,
  hexPath,
  readExactTree,
  writeExactTree,
} from "../../support/exact_tree.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { withMountPlace } from "../mount/mount_place.ts";
import { run, succeed } from "../run_cli.ts";

/** Any bytes except `/` and NUL, and not `.` or `..`. */
const name = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.uint8Array({ min: 1, minLength: 1, maxLength: 9 }),
  },
  {
    weight: 1,
    arbitrary: fc.uint8Array({ min: 1, minLength: 200, maxLength: 255 }),
  },
  {
    weight: 2,
    arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 20 })
      .map((text) => new TextEncoder().encode(text)),
  },
).map((bytes) => bytes.filter((byte) => byte !== 0x2f && byte !== 0))
  .filter((bytes) => bytes.some((byte) => byte !== 0x2e))
  .map((bytes) => bytes.toHex());

/** Mostly small, sometimes at the limits of single reads and writes. */
const size = fc.oneof(
  { weight: 20, arbitrary: fc.nat(300) },
  { weight: 4, arbitrary: fc.nat(140_000) },
  { weight: 1, arbitrary: fc.constantFrom(65_535, 65_536, 65_537) },
  { weight: 1, arbitrary: fc.constantFrom(2 ** 20 - 1, 2 ** 20, 2 ** 20 + 1) },
  { weight: 1, arbitrary: fc.nat(2_000_000) },
);

const file = fc.record({ size, seed: fc.nat() }).map(({ size, seed }) => {
  const bytes = new Uint8Array(size);
  for (let i = 0, state = seed; i < size; i++) {
    state = Math.imul(state, 1_103_515_245) + 12_345 | 0;
    bytes[i] = state >>> 16;
  }
  return bytes;
});

const { folder } = fc.letrec<{
  folder: ExactFolder;
  entry: Uint8Array<ArrayBuffer> | ExactFolder;
}>((tie) => ({
  entry: fc.oneof({ depthSize: "small" }, file, tie("folder")),
  folder: fc.dictionary(name, tie("entry"), { maxKeys: 12 }),
}));

function assertSame(actual: Contents, expected: Contents): void {
  assert.deepEqual([...actual.keys()].sort(), [...expected.keys()].sort());
  for (const [path, bytes] of expected) {
    assert.deepEqual(actual.get(path), bytes, path);
  }
}

async function throughPackedFolder(out: string): Promise<Contents> {
  using folder = await PackedFolder.open(out);
  const paths = folder.list("", { recursive: true });
  const files = paths.filter((path) => folder.isFile(path));
  const contents: Contents = new Map(
    paths.map((path) => [hexPath(path), null]),
  );
  for (const [i, bytes] of (await folder.read(files)).entries()) {
    contents.set(hexPath(files[i]!), new Uint8Array(bytes));
  }
  return contents;
}

async function throughVirtualFs(out: string): Promise<Contents> {
  using fs = await open(out);
  const contents: Contents = new Map();
  for await (const { path, isFile } of fs.walk()) {
    const bytes = isFile ? new Uint8Array(await fs.read(path)) : null;
    contents.set(hexPath(path), bytes);
  }
  return contents;
}

async function throughMount(out: string): Promise<Contents> {
  let contents: Contents = new Map();
  await withMountPlace(async ({ recordfs, mountpoint, dir }) => {
    const mounted = await recordfs("mount", out, mountpoint);
    assert.deepEqual([mounted.stderr, mounted.code], ["", 0]);
    const copied = await run(["cp", "-r", `${mountpoint}/.`, `${dir}/copy`]);
    assert.deepEqual([copied.stderr, copied.code], ["", 0]);
    contents = readExactTree(`${dir}/copy`);
    await recordfs("unmount", mountpoint);
  });
  return contents;
}

/** Packs a folder, and calls `body` with the path. */
async function withPacked(
  folder: ExactFolder,
  parts: number,
  body: (out: string, expected: Contents, dir: string) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    writeExactTree(`${dir}/in`, folder);
    const expected = contentsOf(folder);
    assertSame(readExactTree(`${dir}/in`), expected);
    const out = parts === 1 ? `${dir}/out.ffr` : `${dir}/out`;
    const report = await packFolder(`${dir}/in`, out, { parts });
    assert.equal(report.files + report.directories, expected.size);
    await body(out, expected, dir);
  });
}

const parts = fc.constantFrom(1, 1, 3);

Deno.test("random folders are restored through the API", async () => {
  await fc.assert(
    fc.asyncProperty(
      folder,
      parts,
      (folder, parts) =>
        withPacked(folder, parts, async (out, expected) => {
          assertSame(await throughPackedFolder(out), expected);
          assertSame(await throughVirtualFs(out), expected);
        }),
    ),
    { numRuns: LONG ? 25 : FULL ? 8 : 4 },
  );
});

Deno.test({
  name: "random folders are restored through extract and through a mount",
  ...needs("fuse"),
  async fn() {
    await fc.assert(
      fc.asyncProperty(
        folder,
        parts,
        (folder, parts) =>
          withPacked(folder, parts, async (out, expected, dir) => {
            await succeed(["extract", out, `${dir}/extracted`]);
            assertSame(readExactTree(`${dir}/extracted`), expected);
            assertSame(await throughMount(out), expected);
          }),
      ),
      { numRuns: LONG ? 6 : FULL ? 3 : 2 },
    );
  },
});
