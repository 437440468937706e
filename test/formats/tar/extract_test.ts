/** Result of `recordfs extract` for a tar, compared with that of tar. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import fc from "fast-check";
import { open } from "../../../src/open/open.ts";
import { recordfs, succeed } from "../../cli/run_cli.ts";
import { output } from "../../fuse/support/mounting.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { pax, tarBytes } from "../../support/tar/make_tar.ts";

/** Returns for each name below a directory its type, its modification time in milliseconds, and its link target. */
async function facts(dir: string): Promise<string[]> {
  const { stdout } = await output(
    "find",
    dir,
    "-mindepth",
    "1",
    "-printf",
    "%P %y %T@ %l\\n",
  );
  return stdout.trim().split("\n").sort().map((line) =>
    line.replace(/(\.\d{3})\d+/, "$1")
  );
}

/** Makes a typical directory: links of all kinds that stay inside, and times. */
function makeTree(dir: string): void {
  fs.mkdirSync(`${dir}/a/deep/er`, { recursive: true });
  fs.mkdirSync(`${dir}/empty`);
  fs.writeFileSync(`${dir}/a/file`, "content");
  fs.writeFileSync(`${dir}/a/deep/er/large`, new Uint8Array(3_000_000).fill(7));
  fs.linkSync(`${dir}/a/file`, `${dir}/a/hard`);
  fs.symlinkSync("../file", `${dir}/a/deep/to-file`);
  fs.symlinkSync("a/deep", `${dir}/to-directory`);
  fs.symlinkSync("not/there", `${dir}/to-nothing`);
  fs.symlinkSync("to-directory", `${dir}/to-link`);
  fs.symlinkSync(".", `${dir}/a/to-here`);
  const names = [
    ...["a/deep/to-file", "to-directory", "to-nothing", "to-link", "a/to-here"],
    ...["a/file", "a/deep/er/large", "a/deep/er", "a/deep", "a", "empty"],
  ];
  for (const [i, name] of names.entries()) {
    const time = 1_500_000_000 + i * 1000 + 0.25;
    fs.lutimesSync(`${dir}/${name}`, time, time);
  }
}

Deno.test({
  name: "links, times and contents are those of tar x",
  ...needs("tar", "find"),
  fn: () =>
    withTempDir(async (dir) => {
      fs.mkdirSync(`${dir}/from`);
      makeTree(`${dir}/from`);
      for (const format of ["gnu", "pax"]) {
        const tar = `${dir}/${format}.tar`;
        await output(
          "tar",
          `--format=${format}`,
          "-cf",
          tar,
          "-C",
          `${dir}/from`,
          "a",
          "empty",
          "to-directory",
          "to-link",
          "to-nothing",
        );
        const [theirs, ours] = [`${dir}/${format}-tar`, `${dir}/${format}-own`];
        fs.mkdirSync(theirs);
        await output("tar", "-xf", tar, "-C", theirs);
        const said = JSON.parse(
          (await succeed(["extract", "--json", tar, ours])).stdout,
        );
        assert.deepEqual([said.files, said.directories, said.links], [3, 4, 5]);
        assert.deepEqual(await facts(ours), await facts(theirs));
        const diff = await output(
          "diff",
          "-r",
          "--no-dereference",
          ours,
          theirs,
        );
        assert.deepEqual([diff.code, diff.stdout], [0, ""]);
        // The same without FFI, with Deno's own functions.
        const plain = `${dir}/${format}-plain`;
        await recordfs(["extract", "--sync", "none", tar, plain], {
          permissions: ["--allow-read", "--allow-write", "--allow-env"],
        });
        assert.deepEqual(await facts(plain), await facts(theirs));
        // Again, over existing files.
        await succeed(["extract", "--force", tar, ours]);
        assert.deepEqual(await facts(ours), await facts(theirs));
        assert.deepEqual(
          fs.readdirSync(ours).sort(),
          fs.readdirSync(theirs).sort(),
        );
      }
      // A part of it; a link that is itself requested is extracted as its target.
      const tar = `${dir}/gnu.tar`;
      await succeed([
        "extract",
        tar,
        `${dir}/part`,
        "a/deep",
        "to-link/to-file",
      ]);
      assert.equal(fs.readlinkSync(`${dir}/part/a/deep/to-file`), "../file");
      assert.equal(
        fs.statSync(`${dir}/part/a/deep`).mtimeMs,
        Math.floor(fs.statSync(`${dir}/from/a/deep`).mtimeMs / 1000) * 1000,
      );
    }),
});

Deno.test("no link leads out of the target, whatever the tar and the extracted paths", () =>
  withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/secret`, "secret");
    const link = (name: string, to: string) => ({ name, type: "2", link: to });
    fs.writeFileSync(
      `${dir}/a.tar`,
      tarBytes([
        { name: "in/d/file", data: "1" },
        { name: "beside", data: "2" },
        link("up", "../secret"),
        link("absolute", `${dir}/secret`),
        // It descends to a missing directory and up again, so its target depends on what is created later.
        link("in/round", "d/nothing/../../../../secret"),
        link("in/d/back", "../../beside"),
        link("in/good", "d/file"),
      ]),
    );
    const run = (args: string[]) => recordfs(["extract", ...args]);
    const all = await run([`${dir}/a.tar`, `${dir}/all`]);
    assert.equal(all.code, 1);
    assert.match(all.stderr, /in\/round.* leads out/);
    const shown = fs.readdirSync(`${dir}/all`, { recursive: true }).map(String);
    assert.deepEqual(shown.sort(), [
      "beside",
      "in",
      "in/d",
      "in/d/back",
      "in/d/file",
      "in/good",
    ]);
    assert.equal(fs.readFileSync(`${dir}/all/in/d/back`, "utf8"), "2");
    // Extracts a directory as the root; links that lead out of it are not created.
    const part = await run(["--prefix", "in", `${dir}/a.tar`, `${dir}/part`]);
    assert.match(part.stderr, /d\/back.* leads out/);
    assert.deepEqual(fs.readdirSync(`${dir}/part`).sort(), ["d", "good"]);
    assert.deepEqual(fs.readdirSync(`${dir}/part/d`), ["file"]);
    // An existing link is not followed.
    fs.mkdirSync(`${dir}/there`);
    fs.mkdirSync(`${dir}/elsewhere`);
    fs.symlinkSync(`${dir}/elsewhere`, `${dir}/there/in`);
    const there = await run(["--force", `${dir}/a.tar`, `${dir}/there`]);
    assert.equal(there.code, 1);
    assert.deepEqual(fs.readdirSync(`${dir}/elsewhere`), []);
  }));

Deno.test({
  name:
    "directories and files replace each other like with tar x, and what tar cannot place is skipped",
  ...needs("tar", "root"), // tar applies the files' modes to such directories, which other users could not list
  fn: () =>
    withTempDir(async (dir) => {
      const member = fc.record({
        name: fc.constantFrom("a", "a/b", "a/b/c", "d", "d/a"),
        type: fc.constantFrom("0", "5"),
      });
      let skipped = 0;
      let replaced = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(member, { minLength: 1, maxLength: 6 }),
          async (members) => {
            const bytes = tarBytes(
              members.map(({ name, type }, i) => ({
                name,
                type,
                data: type === "0" ? `${i}` : "",
              })),
            );
            fs.writeFileSync(`${dir}/t.tar`, bytes);
            fs.rmSync(`${dir}/theirs`, { recursive: true, force: true });
            fs.mkdirSync(`${dir}/theirs`);
            const tar = await output(
              ...["tar", "-xf", `${dir}/t.tar`, "-C", `${dir}/theirs`],
            );
            using container = await open(`${dir}/t.tar`, {
              onWarning() {},
            });
            const { length } = container.skipped;
            assert.equal(tar.code === 0, length === 0, tar.stderr);
            skipped += length;
            const ours: Record<string, string> = {};
            for await (const { path, isFile } of container.walk()) {
              ours[path] = isFile
                ? new TextDecoder().decode(await container.read(path))
                : "directory";
            }
            assert.deepEqual(ours, contentsBelow(`${dir}/theirs`));
            const types = new Map<string, string>();
            for (const { name, type } of members) {
              if ((types.get(name) ?? type) !== type) replaced++;
              types.set(name, type);
            }
          },
        ),
        { numRuns: 300, seed: 1 },
      );
      assert.ok(skipped > 10, `${skipped} were skipped`);
      assert.ok(replaced > 10, `${replaced} took another's place`);
    }),
});

/** Returns each path below a directory, with the content of files or a marker of directories. */
function contentsBelow(dir: string): Record<string, string> {
  return Object.fromEntries(
    fs.readdirSync(dir, { recursive: true, encoding: "utf8" }).map((path) => [
      path,
      fs.statSync(`${dir}/${path}`).isFile()
        ? fs.readFileSync(`${dir}/${path}`, "utf8")
        : "directory",
    ]),
  );
}

Deno.test("holes take no space on disk", () =>
  withTempDir(async (dir) => {
    const sparse = (size: number, offset: number) => [
      pax({
        "GNU.sparse.map": `${offset},3`,
        "GNU.sparse.size": String(size),
        "GNU.sparse.name": `of ${size}`,
      }),
      { name: "GNUSparseFile.0/x", data: "abc" },
    ];
    const members = [
      ...sparse(40_000_000, 20_000_001),
      ...sparse(5_000_000, 4_999_997),
    ];
    fs.writeFileSync(`${dir}/t.tar`, tarBytes(members));
    await succeed(["extract", "--sync", "none", `${dir}/t.tar`, `${dir}/x`]);
    for (
      const [size, offset] of [[40_000_000, 20_000_001], [5_000_000, 4_999_997]]
    ) {
      const path = `${dir}/x/of ${size}`;
      const right = Buffer.alloc(size!);
      right.write("abc", offset!);
      assert.ok(right.equals(fs.readFileSync(path)));
      assert.ok(fs.statSync(path).blocks * 512 < 1_000_000, path);
    }
  }));
