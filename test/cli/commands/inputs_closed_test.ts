/** Inputs are closed where what they were to become can't be made. */
import assert from "node:assert/strict";
import { withTempDir } from "../../support/paths.ts";
import { descriptorsBelowNow } from "../../support/programs/descriptors.ts";
import { recordfs } from "../run_cli.ts";

Deno.test("an input is closed where its target can't be made", () =>
  withTempDir(async (dir) => {
    const lines = `${dir}/lines.jsonl`;
    await Deno.writeTextFile(lines, '"a"\n');
    for (
      const args of [
        ["bag", "create", lines, `${dir}/out`, "--spec", '{"a": "\\u0000"}'],
        ["bag", "create", lines, `${dir}/no/such`, "--spec", '{"a": "utf8"}'],
        ["write", `${dir}/no/such.ffr`, "--jsonl", lines],
        ["write", `${dir}/no/such.ffr`, "--list", lines],
      ]
    ) {
      const { code, stderr } = await recordfs(args);
      assert.equal(code, 1, stderr);
      assert.equal(descriptorsBelowNow(dir), 0, args.join(" "));
    }
  }));
