/** Extraction of so many files that a second thread helps. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { ffrBytes, packedSamples } from "../../../support/ffrecord/make_ffr.ts";
import { withMemoryDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import { withTmpfs } from "../../../support/programs/tmpfs.ts";
import { assertFailed, recordfs, succeed } from "../../run_cli.ts";

const FOLDERS = 20;
const FILES = 500;

function textOf(folder: number, file: number): string {
  return `content of ${folder}/${file}`.repeat(file % 7);
}

/** Makes a container of many small files, and a large one, which is read by itself. */
function makeContainer(dir: string): string {
  const folders: Record<string, Record<string, Uint8Array>> = {};
  for (let folder = 0; folder < FOLDERS; folder++) {
    const files = folders[`folder ${folder}`] = {} as Record<
      string,
      Uint8Array
    >;
    for (let file = 0; file < FILES; file++) {
      files[`f${file}`] = new TextEncoder().encode(textOf(folder, file));
    }
  }
  const large = new Uint8Array(5_000_000).map((_, i) => i * 5 >> 3);
  const tree = { ...folders, large };
  const path = `${dir}/many.ffr`;
  fs.writeFileSync(path, ffrBytes(packedSamples(tree)));
  return path;
}

/** Asserts that files have their contents, except for some. Returns their number. */
function assertExtracted(out: string, without: ReadonlySet<string>): number {
  let count = 0;
  for (const folder of fs.readdirSync(out)) {
    if (folder === "large") continue;
    const number = Number(/^folder (\d+)$/.exec(folder)![1]);
    for (const name of fs.readdirSync(`${out}/${folder}`)) {
      const path = `${folder}/${name}`;
      if (without.has(path)) continue;
      const text = fs.readFileSync(`${out}/${path}`, "utf8");
      assert.equal(text, textOf(number, Number(name.slice(1))), path);
      count++;
    }
  }
  return count;
}

for (const options of [[], ["--force"], ["--sync", "none"]]) {
  Deno.test(`ten thousand files are extracted, ${options.join(" ")}`, () =>
    withMemoryDir(async (dir) => {
      const file = makeContainer(dir);
      const out = `${dir}/out`;
      const line = ["extract", file, out, "--json", ...options];
      const { stdout } = await succeed(line);
      const { files, directories, failed } = JSON.parse(stdout);
      const expected = FOLDERS * FILES;
      assert.deepEqual([files, directories, failed], [
        expected + 1,
        FOLDERS,
        [],
      ]);
      assert.equal(assertExtracted(out, new Set()), expected);
      assert.equal(fs.statSync(`${out}/large`).size, 5_000_000);
      const { mtimeMs } = fs.statSync(file);
      const times = fs.readdirSync(`${out}/folder 19`)
        .map((name) => fs.statSync(`${out}/folder 19/${name}`).mtimeMs);
      assert.deepEqual(new Set(times), new Set([mtimeMs]));
    }));
}

Deno.test("one of many files whose place is taken is named, and the existing file stays", () =>
  withMemoryDir(async (dir) => {
    const file = makeContainer(dir);
    const out = `${dir}/out`;
    const there = ["folder 0/f3", "folder 11/f77", "folder 19/f499"];
    for (const path of there) {
      fs.mkdirSync(`${out}/${path.split("/")[0]}`, { recursive: true });
      fs.writeFileSync(`${out}/${path}`, "mine");
    }
    fs.mkdirSync(`${out}/folder 7/f5`, { recursive: true });
    const ran = await recordfs(["extract", file, out, "--json"]);
    assert.equal(ran.code, 1);
    const { files, bytes, failed } = JSON.parse(ran.stdout);
    const places = [...there, "folder 7/f5"];
    assert.equal(files, FOLDERS * FILES + 1 - places.length);
    assert.deepEqual(
      failed.map(({ path, code }: { path: string; code: string }) => [
        path,
        code,
      ]).sort(),
      places.map((path) => [path, "in-the-way"]).sort(),
    );
    const messages = failed.map(({ message }: { message: string }) => message);
    for (const path of there) {
      assert.equal(fs.readFileSync(`${out}/${path}`, "utf8"), "mine");
      const said = `Cannot extract to ${out}/${path}: it exists. ` +
        `Replace it with --force`;
      assert.ok(messages.includes(said), `${messages}`);
    }
    const refused = new Set(places);
    assert.equal(assertExtracted(out, refused), files - 1);
    let expected = 5_000_000;
    for (let folder = 0; folder < FOLDERS; folder++) {
      for (let n = 0; n < FILES; n++) {
        if (refused.has(`folder ${folder}/f${n}`)) continue;
        expected += textOf(folder, n).length;
      }
    }
    assert.equal(bytes, expected);
    await succeed(["extract", "--force", file, `${dir}/again`]);
    fs.rmdirSync(`${out}/folder 7/f5`);
    await succeed(["extract", "--force", file, out]);
    assert.equal(assertExtracted(out, new Set()), FOLDERS * FILES);
  }));

Deno.test({
  name: "a full disk ends it, and leaves no partial file (needs root)",
  ...needs("root"),
  fn: () =>
    withMemoryDir(async (dir) => {
      const file = makeContainer(dir);
      await withTmpfs("30m", async (disk) => {
        const ran = await recordfs(["extract", file, `${disk}/out`]);
        assertFailed(ran, 1, /the disk is full/);
        const count = assertExtracted(`${disk}/out`, new Set());
        assert.ok(count > 512 && count < FOLDERS * FILES, `${count} files`);
      });
    }),
});
