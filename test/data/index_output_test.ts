import assert from "node:assert/strict";
import { readIndexFile } from "../../src/data/index_file.ts";
import { IndexOutput } from "../../src/data/index_output.ts";
import { runAsync, runSync } from "../../src/io/concurrency/steps.ts";
import { withTempDir } from "../support/paths.ts";

/** Writes indices, and returns the text. */
async function written(
  path: string,
  indices: readonly number[],
  comments: readonly string[] = [],
): Promise<string> {
  const output = await runAsync(IndexOutput.create(path, comments));
  for (const index of indices) {
    output.add(index);
    if (output.full) await runAsync(output.flush());
  }
  await runAsync(output.finish());
  await runAsync(output.publish());
  output.discard(); // no effect after completion
  return await Deno.readTextFile(path);
}

Deno.test("indices are decimal, one per line, after the comments", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/some.txt`;
    const indices = [0, 9, 10, 2 ** 32, Number.MAX_SAFE_INTEGER, 7, 1e15];
    const lines = indices.map((index) => `${index}\n`).join("");
    assert.equal(await written(path, indices), lines);
    const comments = ["a b", "two\r\n lines", "é"];
    assert.equal(
      await written(path, indices, comments),
      `# a b\n# two lines\n# é\n${lines}`,
    );
    assert.equal(await written(path, []), "");
  });
});

Deno.test("a file of indices may be longer than the buffer", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/some.txt`;
    const indices = Array.from({ length: 50_000 }, (_, i) => i ** 3);
    await written(path, indices, ["cubes"]);
    const read = await readIndexFile(path, Number.MAX_SAFE_INTEGER);
    assert.deepEqual([...read], indices);
  });
});

Deno.test("a file of indices appears when it is complete, or not at all", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/some.txt`;
    const before = await written(path, [1, 2, 3]);
    const output = await runAsync(IndexOutput.create(path, ["new"]));
    output.add(4);
    await runAsync(output.flush());
    assert.equal(await Deno.readTextFile(path), before);
    output.discard();
    const names = await Array.fromAsync(Deno.readDir(dir), ({ name }) => name);
    assert.deepEqual(names, ["some.txt"]);
    assert.throws(() => runSync(IndexOutput.create(`${dir}/no/such.txt`, [])), {
      name: "WriteError",
      message: /directory .*no does not exist/,
    });
  });
});
