/** Samples that a tree leaves out, since they are damaged. */
import assert from "node:assert/strict";
import { LONGEST_NAME } from "../../src/tree/names/name_table_builder.ts";
import { samplesOf } from "../../src/tree/samples_of.ts";
import { open } from "../../src/open/mod.ts";
import { decodeName } from "../../src/base/names.ts";
import { gulpCase } from "../support/gulp/gulp_golden.ts";

Deno.test("videos that are left out keep their places among the samples", async () => {
  const name = new Uint8Array(LONGEST_NAME);
  for (const damaged of ["v2_bad_frame_beyond_end", "v1_bad_truncated_data"]) {
    const { path, content } = gulpCase(damaged);
    using vfs = await open(path, { onWarning() {} });
    const samples = await samplesOf(vfs.tree);
    assert.equal(samples.length, content.videos.length);
    let missing = 0;
    for (const [i, { id, error }] of content.videos.entries()) {
      const node = samples.node(i);
      const length = vfs.tree.nameOf!(node, name);
      if (error === undefined) assert.equal(decodeName(name, 0, length), id);
      else missing += Number(node === 0);
    }
    assert.equal(missing, 1, damaged);
  }
});
