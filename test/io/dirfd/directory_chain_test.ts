import assert from "node:assert/strict";
import * as fs from "node:fs";
import { DirectoryChain } from "../../../src/io/dirfd/directory_chain.ts";
import type { Directory } from "../../../src/io/dirfd/directory.ts";
import { openDirectory } from "../../../src/io/dirfd/open_directory.ts";
import { descriptorsBelow } from "../../support/programs/descriptors.ts";
import { withTempDir } from "../../support/paths.ts";

/** Tracks how many of a directory and its descendants are open. */
function counted(
  directory: Directory,
  open: { now: number; most: number },
): Directory {
  open.most = Math.max(open.most, ++open.now);
  const own: Partial<Directory> = {
    open: (name, links) => counted(directory.open(name, links), open),
    openAgain: () => counted(directory.openAgain(), open),
    close() {
      open.now--;
      directory.close();
    },
  };
  return new Proxy(directory, {
    get(_, key) {
      const value = Reflect.get(own, key) ?? Reflect.get(directory, key);
      return typeof value === "function" ? value.bind(directory) : value;
    },
  });
}

Deno.test("a chain of any length holds few descriptors, and can go back", async () => {
  await withTempDir((dir) => {
    const open = { now: 0, most: 0 };
    const chain = new DirectoryChain(counted(openDirectory(dir), open), "keep");
    const identities = [chain.last.identity];
    for (let level = 1; level <= 1000; level++) {
      chain.last.makeDirectory(`level ${level}`);
      identities.push(chain.enter(`level ${level}`).identity);
    }
    assert.equal(chain.depth, 1000);
    assert.ok(open.most <= 40, `${open.most} were open at once`);
    for (const depth of [999, 970, 967, 500, 499, 1, 0]) {
      chain.leaveTo(depth);
      assert.equal(chain.last.identity, identities[depth]);
      assert.equal(chain.nameAt(depth), depth ? `level ${depth}` : undefined);
    }
    assert.ok(open.most <= 40, `${open.most} were open at once`);
    chain.close();
    assert.equal(open.now, 0);
  });
});

Deno.test("a directory that was replaced is not returned to", async () => {
  await withTempDir(async (dir) => {
    const chain = new DirectoryChain(openDirectory(dir), "follow");
    for (let level = 1; level <= 50; level++) {
      chain.last.makeDirectory("d");
      chain.enter("d");
    }
    fs.renameSync(`${dir}/d/d/d`, `${dir}/moved`);
    fs.mkdirSync(`${dir}/d/d/d/d`, { recursive: true });
    assert.throws(() => chain.leaveTo(4), {
      code: "changed",
      message: /Cannot use .*d\/d\/d: it was replaced by another directory/,
    });
    // The chain now ends at the last unchanged directory, and remains usable.
    assert.equal(chain.depth, 2);
    assert.deepEqual(chain.last.list().names, ["d"]);
    chain.close();
    assert.equal(await descriptorsBelow(dir), 0);
  });
});
