import assert from "node:assert/strict";
import { RecordfsError } from "../../src/base/errors.ts";
import {
  type NamedOption,
  optionText,
  UNCHECKED,
} from "../../src/base/named_option.ts";
import {
  deserializeError,
  serializeError,
} from "../../src/base/serialized_error.ts";
import {
  flagMessageOf,
  inFlags,
  ownFlagsOf,
} from "../../src/cli/flag_words.ts";
import { goldenCase } from "../support/golden.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";
import { assertFailed, recordfs } from "./run_cli.ts";

const { path: packed } = goldenCase("ffrecord/packed_tree");
const { path: flipped, content } = goldenCase("ffrecord/bad_flip_sample");
const { path: plain } = goldenCase("ffrecord/plain_sizes");

const damaged = content.samples.findIndex(({ error }) => error).toString()
  .padStart(6, "0");

Deno.test("options of the API are flags on the command line", () => {
  const cases: [NamedOption, string][] = [
    [{ name: "lossy" }, "--lossy"],
    [{ name: "shardSize" }, "--shard-size"],
    [{ name: "checkData", value: false }, "--no-verify"],
    [{ name: "format", value: "gulp" }, "--format gulp"],
    [{ name: "replace" }, "--force"],
    [{ name: "unknown" }, "the option `unknown`"],
    [{ name: "constructor" }, "the option `constructor`"],
  ];
  for (const [option, flag] of cases) {
    const message = `Cannot do it: no. Do it with ${optionText(option)}`;
    assert.equal(
      inFlags(message, [option]),
      `Cannot do it: no. Do it with ${flag}`,
    );
    assert.equal(inFlags(message), message);
  }
  const at = { name: "at" };
  assert.equal(inFlags(optionText(at), [at], { at: "--at" }), "--at");
});

Deno.test("only options that an error names become flags", () => {
  const other = optionText({ name: "format" });
  const error = new RecordfsError(
    "code",
    `${other}.bag: read it with ${optionText(UNCHECKED)}`,
    { namedOptions: [UNCHECKED] },
  );
  const flags = `${other}.bag: read it with --no-verify`;
  assert.equal(flagMessageOf(error), flags);
  const outer = new Error(`Failed: ${error.message}`, { cause: error });
  assert.equal(flagMessageOf(outer), `Failed: ${flags}`);
  const restored = deserializeError(structuredClone(serializeError(outer)));
  assert.equal(flagMessageOf(restored), `Failed: ${flags}`);
  assert.match(
    flagMessageOf(error, ownFlagsOf("convert")),
    /with `recordfs extract --no-verify`$/,
  );
  assert.equal(flagMessageOf(error, ownFlagsOf("constructor")), flags);
});

Deno.test("each message that names an option carries it, and the option has a flag", async () => {
  const named = new Map<string, NamedOption>();
  for (const folder of ["src", "fuse"]) {
    for await (const [file, text] of sources(`${REPOSITORY}${folder}`)) {
      const code = text.replaceAll(/\/\*.*?\*\/|\/\/[^\n]*/gs, "")
        .replaceAll(/["`]\s*\+\s*["`]/g, "");
      for (
        const [, name, value] of code.matchAll(
          /NamedOption = \{ name: "([\w.]+)"(?:, value: (\w+))? \}/g,
        )
      ) {
        named.set(name!, { name: name!, value: value && value === "true" });
      }
      for (const [, option] of code.matchAll(/optionText\(([A-Z_]+)\)/g)) {
        const isCarried = new RegExp(
          String.raw`\[[A-Z_, \n]*\b${option}\b|amedOptions.*\b${option}\b`,
        );
        assert.match(code, isCarried, `${file} names ${option} in text only`);
      }
      if (file.includes("/src/cli/")) continue;
      if (file.endsWith("/src/base/named_option.ts")) continue;
      assert.doesNotMatch(code, /\boption \\?`/, file);
      // Messages about converting, mounting and opening name an option only with its value.
      if (/\/(convert|vfs|fuse)\//.test(file)) {
        assert.doesNotMatch(code, /["`][^"`\n]*\b[Tt]he option [a-z${]/, file);
      }
      assert.doesNotMatch(
        code,
        /["`' ]--(force|format|no-verify|lossy|to)\b/,
        file,
      );
    }
  }
  assert.ok(named.has("checkData") && named.has("format") && named.size > 8);
  for (const [name, option] of named) {
    const text = optionText(option);
    assert.notEqual(inFlags(text, [option]), text, `${name} has no flag`);
  }
});

Deno.test("commands name flags, whatever option the library names", async () => {
  await withTempDir(async (dir) => {
    await Deno.writeTextFile(`${dir}/notes.txt`, "no container at all");
    const notes = `${dir}/notes.txt`;
    const cases: [string[], number, RegExp][] = [
      [["ls", notes], 1, /; force one with --format$/m],
      [["convert", notes, `${dir}/x/`], 1, /; force one with --format$/m],
      [["convert", packed, `${dir}/x`], 2, /or give the format with --to$/m],
      [
        ["convert", packed, `${dir}/x/`, "--shard-size", "9"],
        2,
        /: The target folder does not support --shard-size$/m,
      ],
      [
        ["convert", packed, `${dir}/x.ffr`, "--to", "ffrecord-samples"],
        1,
        /nothing was written\. Convert it anyway with --lossy$/m,
      ],
      [["convert", packed, `${dir}/x`, "--to", "bags"], 1, /them by --spec, /],
      [["ls", plain, "--format", "ffrecord-packed"], 1, /--format ffrecord-s/],
      [["cat", flipped, damaged], 1, /read it unchecked with --no-verify$/m],
    ];
    for (const [args, code, words] of cases) {
      const ran = await recordfs(args);
      assert.match(ran.stderr, words);
      assert.doesNotMatch(ran.stderr, /option/);
      assert.equal(ran.code, code);
    }
    const json = await recordfs(["check", "--json", flipped]);
    assert.match(json.stdout, /unchecked with --no-verify"/);
    assertFailed(
      await recordfs(["ls", "--format", "x", packed]),
      2,
      /--format/,
    );
  });
});

async function* sources(dir: string): AsyncGenerator<[string, string]> {
  for await (const { name, isDirectory } of Deno.readDir(dir)) {
    const path = `${dir}/${name}`;
    if (isDirectory) yield* sources(path);
    else if (name.endsWith(".ts")) yield [path, await Deno.readTextFile(path)];
  }
}
