import assert from "node:assert/strict";
import { NumberedFiles } from "../../src/tree/numbered_files.ts";
import { ROOT } from "../../src/tree/tree.ts";

const encode = (text: string) => new TextEncoder().encode(text);

/** Returns at most `most` names from `cursor` on. */
function namesOf(files: NumberedFiles, cursor: number, most: number): string[] {
  const names: string[] = [];
  files.list(ROOT, cursor, (name, start, end) => {
    names.push(new TextDecoder().decode(name.subarray(start, end)));
    return names.length < most;
  });
  return names;
}

Deno.test("records are padded to six digits, or to those of the last one", () => {
  for (
    const [count, last] of [
      [1, "000000.jpg"],
      [1_000_000, "999999.jpg"],
      [1_000_001, "1000000.jpg"],
    ] as const
  ) {
    const files = new NumberedFiles(count, ".jpg");
    assert.deepEqual(namesOf(files, count - 1, 9), [last]);
    const zero = "0".repeat(last.length - 4) + ".jpg";
    assert.deepEqual(namesOf(files, 0, 1), [zero]);
  }
});

Deno.test("names lead to records and back, and other names do not", () => {
  const files = new NumberedFiles(3, "");
  assert.equal(files.length, 4);
  const found = namesOf(files, 0, 9).map((name) => {
    const bytes = encode(name);
    const node = files.lookup(ROOT, bytes, 0, bytes.length);
    assert.equal(files.lookup(node, bytes, 0, bytes.length), 0);
    assert.equal(files.isDirectory(node), false);
    return files.record(node);
  });
  assert.deepEqual(found, [0, 1, 2]);
  for (const name of ["000003", "0", "0000000", "00000a", ""]) {
    const bytes = encode(name);
    assert.equal(files.lookup(ROOT, bytes, 0, bytes.length), 0, name);
  }
  for (const node of [0, ROOT, 2.5, 5, NaN, -1]) {
    assert.equal(files.record(node), -1, `${node}`);
  }
});
