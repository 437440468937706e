/** Errors for sample indices out of range. */
import assert from "node:assert/strict";
import { nameOfFiles, requireIndices } from "../../src/tree/sample_indices.ts";

Deno.test("an index beyond all samples names the files that the samples count through", () => {
  const refused = (paths: string[]) => () =>
    requireIndices([0, 7], 7, () => nameOfFiles(paths), "record");
  assert.throws(refused(["a"]), {
    name: "IndexError",
    message:
      "Cannot read record 7 of a: index out of range: valid indices are 0 to 6",
  });
  assert.throws(
    refused(["a", "b"]),
    /of a and 1 more file: index out of range: valid/,
  );
  assert.throws(
    refused(["a", "b", "c"]),
    /of a and 2 more files: index out of range: valid/,
  );
  assert.deepEqual(requireIndices(6, 7, () => ""), [6]);
});
