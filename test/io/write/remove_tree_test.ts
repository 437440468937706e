/** Directories are removed at any depth, whatever names they contain. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { NewDirectory } from "../../../src/io/write/new_directory.ts";
import { removeTree } from "../../../src/io/write/remove_tree.ts";
import { runSync } from "../../../src/io/concurrency/steps.ts";
import { FULL, LONG } from "../../support/long.ts";
import { withTempDir } from "../../support/paths.ts";

/** Deeper than the limits of open descriptors and of path lengths. */
const DEPTH = LONG ? 30_000 : FULL ? 8000 : 3000;

/** Makes nested directories, from the innermost outwards. */
function makeDeep(path: string): void {
  fs.mkdirSync(path);
  fs.writeFileSync(`${path}/file`, "innermost");
  for (let i = 0; i < DEPTH; i++) {
    fs.mkdirSync(`${path}.outer`);
    fs.renameSync(path, `${path}.outer/inner`);
    fs.renameSync(`${path}.outer`, path);
  }
}

Deno.test("a discarded directory leaves nothing, however deep it is", async () => {
  await withTempDir((dir) => {
    const made = runSync(NewDirectory.create(`${dir}/new`));
    makeDeep(`${made.temporary}/deep`);
    made.discard();
    assert.deepEqual(fs.readdirSync(dir), []);
  });
});

Deno.test("files, links and names of every kind are removed, and nothing next to them", async () => {
  await withTempDir((dir) => {
    fs.mkdirSync(`${dir}/kept`);
    fs.writeFileSync(`${dir}/kept/file`, "");
    const root = `${dir}/root`;
    for (const name of ["moved-", "moved-0", "moved-1/moved-0", "a/b/c"]) {
      fs.mkdirSync(`${root}/${name}`, { recursive: true });
    }
    fs.writeFileSync(`${root}/moved-2`, "");
    fs.writeFileSync(`${root}/a/b/moved--0`, "");
    fs.symlinkSync("../../../kept", `${root}/a/b/link`);
    fs.symlinkSync("missing", `${root}/dangling`);
    removeTree(root);
    assert.deepEqual(fs.readdirSync(dir), ["kept"]);
    assert.deepEqual(fs.readdirSync(`${dir}/kept`), ["file"]);
  });
});

Deno.test("names that are not UTF-8 are removed", async () => {
  await withTempDir(async (dir) => {
    const script =
      'mkdir -p "$(printf "root/a/\\377/b")" && : > "$(printf "root/\\377x")"';
    await new Deno.Command("sh", { args: ["-c", script], cwd: dir }).output();
    assert.equal(fs.readdirSync(`${dir}/root`).length, 2);
    removeTree(`${dir}/root`);
    assert.deepEqual(fs.readdirSync(dir), []);
  });
});
