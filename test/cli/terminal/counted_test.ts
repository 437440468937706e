import assert from "node:assert/strict";
import { counted } from "../../../src/cli/terminal/amounts.ts";

Deno.test("one thing is one, and none are several", () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => counted(count, "file")),
    ["0 files", "1 file", "2 files"],
  );
  assert.deepEqual(
    [0, 1, 2].map((count) => counted(count, "entry", "entries")),
    ["0 entries", "1 entry", "2 entries"],
  );
});
