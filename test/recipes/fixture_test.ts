/** The recipes rely on `packed.ffr` being `just_a_folder`. */
import assert from "node:assert/strict";
import { PackedFolder } from "../../src/formats/ffrecord/mod.ts";
import { fromFileUrl } from "../support/paths.ts";

const RECIPES = fromFileUrl(new URL(".", import.meta.url));

Deno.test("packed.ffr contains the files of just_a_folder", async () => {
  using folder = await PackedFolder.open(`${RECIPES}packed.ffr`);
  const paths = folder.list("", { recursive: true, dirs: false });
  assert.equal(paths.length, 9);
  for (const path of paths) {
    const original = await Deno.readFile(`${RECIPES}just_a_folder/${path}`);
    assert.deepEqual(await folder.read(path), original, path);
  }
});
