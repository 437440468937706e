import assert from "node:assert/strict";
import { inFlags, inFlagsOf } from "../../src/cli/flag_words.ts";
import { goldenCase } from "../support/golden.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";
import { assertFailed, recordfs } from "./run_cli.ts";

const { path: packed } = goldenCase("ffrecord/packed_tree");
const { path: flipped, content } = goldenCase("ffrecord/bad_flip_sample");
const { path: plain } = goldenCase("ffrecord/plain_sizes");

const damaged = content.samples.findIndex(({ error }) => error).toString()
  .padStart(6, "0");

/** Options of the API that no command passes on, or that no command line can get wrong. */
const OF_THE_API_ONLY = new Set(["colorspace", "decode", "label", "transform"]);

Deno.test("options of the API are flags on the command line", () => {
  const cases: [string, string][] = [
    ["The option `lossy` converts it", "--lossy converts it"],
    ["say it by the option `to`", "say it by --to"],
    ["with the option `checkData: false`", "with --no-verify"],
    ['the option `format: "gulp"` reads it', "--format gulp reads it"],
    ["`check()` names them", "`recordfs check` names them"],
    [
      "the option `unknown` of an adapter",
      "the option `unknown` of an adapter",
    ],
    ["an option to choose", "an option to choose"],
    ["the file `option`", "the file `option`"],
  ];
  for (const [api, line] of cases) assert.equal(inFlags(api), line);
  assert.equal(inFlags("the option `at`", { at: "--at" }), "--at");
  assert.equal(inFlagsOf("the option `format`", "convert"), "--format");
  assert.equal(inFlagsOf("the option `format`", "constructor"), "--format");
});

Deno.test("a message that names an option names it so that it can become a flag", async () => {
  const found = new Set<string>();
  for (const folder of ["src", "fuse"]) {
    for await (const [file, text] of sources(`${REPOSITORY}${folder}`)) {
      if (file.includes("/src/cli/")) continue;
      const code = text.replaceAll(/\/\*.*?\*\/|\/\/[^\n]*/gs, "")
        .replaceAll(/["`]\s*\+\s*["`]/g, "");
      for (const [, name] of code.matchAll(/\boption \\?`([^`\\$]+)/g)) {
        found.add(name!);
      }
      // Of the convertible and mounted, and whatever else a command opens.
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
  assert.ok(found.has("lossy") && found.has("format") && found.size > 8);
  for (const name of found) {
    if (OF_THE_API_ONLY.has(name)) continue;
    const text = `the option \`${name}\``;
    assert.notEqual(inFlags(text), text, `${name} has no flag`);
  }
});

Deno.test("commands speak of flags, whatever the library says", async () => {
  await withTempDir(async (dir) => {
    await Deno.writeTextFile(`${dir}/notes.txt`, "no container at all");
    const notes = `${dir}/notes.txt`;
    const cases: [string[], number, RegExp][] = [
      [["ls", notes], 1, /; --format forces one$/m],
      [["convert", notes, `${dir}/x/`], 1, /; --format forces one$/m],
      [["convert", packed, `${dir}/x`], 2, /or say it by --to$/m],
      [
        ["convert", packed, `${dir}/x/`, "--shard-size", "9"],
        2,
        /: --shard-size is not for folder$/m,
      ],
      [
        ["convert", packed, `${dir}/x.ffr`, "--to", "ffrecord-samples"],
        1,
        /nothing was written\. --lossy converts it all the same$/m,
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
