/** A directory that is opened as its shards, and has more of them in subdirectories. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { gzipSync } from "node:zlib";
import { open } from "../../mod.ts";
import { openDeferred } from "../../src/open/open_deferred.ts";
import { withTempDir } from "../support/paths.ts";
import { tarBytes } from "../support/tar/make_tar.ts";

const TAR = tarBytes([{ name: "a.bin", data: new Uint8Array(3) }]);

/** Opens a directory of these files, and returns the warnings; a mount opens it by `openDeferred`. */
async function warningsOf(
  files: readonly string[],
  options: Parameters<typeof open>[1] = {},
): Promise<string[]> {
  let found: string[] | undefined;
  await withTempDir(async (dir) => {
    for (const file of files) {
      const path = `${dir}/x/${file}`;
      fs.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      fs.writeFileSync(path, file.endsWith(".gz") ? gzipSync(TAR) : TAR);
    }
    for (const openIt of [open, openDeferred]) {
      const warnings: string[] = [];
      const onWarning = (message: string) =>
        void warnings.push(message.replaceAll(`${dir}/`, ""));
      const opened = await openIt(`${dir}/x`, { ...options, onWarning });
      if ("close" in opened) opened.close();
      else opened.tree.close();
      found ??= warnings;
      assert.deepEqual(warnings, found);
    }
  });
  return found!;
}

const WARNING =
  "x has more .tar files in sub/, which are not read: open it with --nested (nested in TypeScript), or name all shards by a pattern";

for (const end of [".tar", ".tar.gz"]) {
  Deno.test(`a directory of ${end} warns of more in a subdirectory, unless nested ones are shown`, async () => {
    const files = [`a${end}`, `b${end}`, "readme.txt", `sub/c${end}`];
    assert.deepEqual(await warningsOf(files), [WARNING]);
    assert.deepEqual(await warningsOf(files, { nested: true }), []);
  });

  Deno.test(`a directory of ${end} does not warn of subdirectories with other files`, async () => {
    const files = [`a${end}`, `b${end}`, "sub/notes.txt", "tar/x.bin"];
    assert.deepEqual(await warningsOf(files), []);
    assert.deepEqual(await warningsOf([`a${end}`]), []);
  });
}

Deno.test("at most eight entries are listed to find more shards", async () => {
  const files = Array.from({ length: 9 }, (_, i) => `d${i}/x.txt`);
  const first = ["a.tar", ...files.slice(0, 7), "sub/x.tar"];
  assert.deepEqual(await warningsOf(first), [WARNING]);
  assert.deepEqual(await warningsOf(["a.tar", ...files, "sub/x.tar"]), []);
});
