import assert from "node:assert/strict";
import * as fs from "node:fs";
import { COMMANDS } from "../../src/cli/command_list.ts";
import { manualPages } from "../../src/cli/manual/manual_pages.ts";
import { makeProgram } from "../../src/cli/program.ts";
import { TOPICS } from "../../src/cli/topics/topics.ts";
import { formatNames } from "../../src/formats/registry.ts";
import { targetNames } from "../../src/open/convert/find_target.ts";
import { REPOSITORY } from "../support/paths.ts";
import { assertFailed, recordfs, succeed } from "./run_cli.ts";

Deno.test("each topic has a page, which the manual page of the program contains", async () => {
  const overviewText = (await succeed(["help"])).stdout;
  const [manual] = await manualPages(await makeProgram(undefined));
  const text = manual!.text.replaceAll("\\", "");
  for (const [name, { description, load }] of Object.entries(TOPICS)) {
    assert.ok(overviewText.includes(`  ${name.padEnd(10)}  ${description}\n`));
    const { stdout } = await succeed(["help", name]);
    const { title, sections } = await load();
    assert.ok(stdout.startsWith(`${title}\n\n`), name);
    assert.ok(text.includes(`.SH "${title.toUpperCase()}"\n`), name);
    const terms = sections.flatMap(({ items = [] }) =>
      items.map(([term]) => term)
    );
    assert.ok(terms.length > 3, name);
    for (const term of terms) {
      assert.match(stdout, RegExp(`^  ${RegExp.escape(term)}  `, "m"), term);
      assert.ok(text.includes(`.B "${term.trim()}"\n`), term);
    }
  }
  for (const name of ["nope", "mout", "constructor", "completion"]) {
    assertFailed(
      await recordfs(["help", name]),
      2,
      RegExp(`there is no command or topic '${name}'`),
    );
  }
});

Deno.test("the topic on formats lists those of the registry, and one's own", async () => {
  const own = `${REPOSITORY}test/support/toy_format/toy_format.ts`;
  const ran = await succeed(["help", "formats", "--format-module", own]);
  const named = [...ran.stdout.matchAll(/^ {2,4}([a-z0-9-]+) {2}/gm)]
    .map(([, name]) => name);
  const expected = [
    "toy",
    ...formatNames(),
    ...targetNames().map(({ name }) => name),
  ];
  for (const name of expected) assert.ok(named.includes(name), name);
  const { stdout } = await succeed(["help", "formats"]);
  assert.doesNotMatch(stdout, /\btoy\b/);
});

Deno.test("the topic on servers names the environment variables that are read", async () => {
  const { stdout } = await succeed(["help", "servers"]);
  const read = new Set<string>();
  const directory = `${REPOSITORY}src/io/remote`;
  for (const name of fs.readdirSync(directory, { recursive: true })) {
    if (!`${name}`.endsWith(".ts")) continue;
    const text = fs.readFileSync(`${directory}/${name}`, "utf8");
    for (const [, name] of text.matchAll(/\bvariable\(\s*"(\w+)"/g)) {
      read.add(name!);
    }
  }
  read.delete("HOME");
  assert.ok(read.size >= 10);
  for (const name of read) assert.match(stdout, RegExp(`^  ${name}  `, "m"));
});

Deno.test("the topic on exit codes names commands that exist", async () => {
  const { sections } = await TOPICS["exit-codes"]!.load();
  for (const [term] of sections[1]!.items!) {
    for (const name of term.split(", ")) {
      assert.ok(Object.hasOwn(COMMANDS, name.split(" ")[0]!), name);
    }
  }
});
