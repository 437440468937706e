/** Inputs are closed if their output cannot be created. */
import assert from "node:assert/strict";
import { withTempDir } from "../../support/paths.ts";
import { descriptorsBelowNow } from "../../support/programs/descriptors.ts";
import { recordfs } from "../run_cli.ts";

Deno.test("an input is closed if its target cannot be created", () =>
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

Deno.test("a directory of datapoints is closed, whether it becomes a dataset or not", () =>
  withTempDir(async (dir) => {
    const input = `${dir}/in`;
    await Deno.mkdir(`${input}/000000`, { recursive: true });
    await Deno.writeTextFile(`${input}/000000/a`, "text");
    const create = (...options: string[]) =>
      recordfs(["bag", "create", `${dir}/out`, input, ...options]);

    const untyped = await create();
    assert.equal(untyped.code, 2, untyped.stderr);
    assert.equal(descriptorsBelowNow(dir), 0, "no types were given");

    const unfit = await create("--spec", '{"b": "utf8"}');
    assert.equal(unfit.code, 1, unfit.stderr);
    assert.equal(descriptorsBelowNow(dir), 0, "its keys are others");

    const written = await create("--spec", '{"a": "utf8"}');
    assert.equal(written.code, 0, written.stderr);
    assert.equal(descriptorsBelowNow(dir), 0, "it was written");
  }));
