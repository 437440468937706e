import assert from "node:assert/strict";
import { randomAssignment } from "../../../src/data/split/assignment.ts";
import { Ratios } from "../../../src/data/split/ratios.ts";
import { writeSplits } from "../../../src/cli/commands/split.ts";
import { withTempDir } from "../../support/paths.ts";

const LENGTH = 100_000;

async function namesIn(dir: string): Promise<string[]> {
  const names = await Array.fromAsync(Deno.readDir(dir), ({ name }) => name);
  return names.toSorted();
}

Deno.test("split files appear when all of them are complete", async () => {
  await withTempDir(async (dir) => {
    const files = ["a", "b"].map((name) => ({
      path: `${dir}/${name}.txt`,
      comments: [name],
    }));
    await Deno.writeTextFile(files[0]!.path, "before");
    const assignment = () => randomAssignment(LENGTH, Ratios.parse("9,1"), 1);
    const controller = new AbortController();
    const given = writeSplits(files, assignment(), LENGTH, (done) => {
      assert.ok(done > 0 && done < LENGTH);
      controller.abort(new Error("enough"));
    }, controller.signal);
    await assert.rejects(given, { message: "enough" });
    assert.deepEqual(await namesIn(dir), ["a.txt"]);
    assert.equal(await Deno.readTextFile(files[0]!.path), "before");

    const { signal } = new AbortController();
    await writeSplits(files, assignment(), LENGTH, () => {}, signal);
    assert.deepEqual(await namesIn(dir), ["a.txt", "b.txt"]);
    const lines = async (path: string) =>
      (await Deno.readTextFile(path)).trimEnd().split("\n").length;
    assert.equal(await lines(files[0]!.path), 1 + 90_000);
    assert.equal(await lines(files[1]!.path), 1 + 10_000);
  });
});
