/**
 * Runs every shell block of the documents. Each has its own directory with the files it uses, directories in /mnt, and
 * network and process namespaces, which end with it.
 */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { needs, PYTHON } from "../support/programs/programs.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";
import { type Block, blocksOf, documentBlocks } from "./blocks.ts";
import { TOY_FORMAT } from "../support/toy_format/write_toy.ts";
import { makePlace } from "./place.ts";

const BLOCKS = documentBlocks();
const SHELL = BLOCKS.filter(({ info }) => /^(sh|bash|console)\b/.test(info));

/** Number of blocks per document that no test runs. */
const NOT_RUN: Readonly<Record<string, number>> = {
  "CONTRIBUTING.md": 1,
  "README.md": 2,
  "docs/administer.md": 1,
  "docs/compressed.md": 2,
  "docs/docker.md": 3,
  "docs/install.md": 1,
  "docs/look.md": 1,
  "docs/mounting.md": 1,
  "docs/remote.md": 3,
  "docs/serve.md": 2,
  "docs/training.md": 2,
};

Deno.test("blocks that no test runs give a reason, and their number is as expected", () => {
  const marked = BLOCKS.filter(({ notRun }) => notRun !== undefined);
  assert.deepEqual(
    Object.fromEntries(
      Map.groupBy(marked, ({ document }) => document)
        .entries().map(([document, blocks]) => [document, blocks.length]),
    ),
    NOT_RUN,
  );
  const ignored = BLOCKS.filter(({ info }) => /\bignore\b/.test(info));
  for (const { document, line, notRun } of ignored) {
    assert.ok(notRun, `${document}:${line}: ignored without a reason`);
  }
});

Deno.test("docs/own-format.md shows the format that tests run", () => {
  const shown = BLOCKS.filter(({ document, info }) =>
    document === "docs/own-format.md" && info === "ts"
  ).map(({ text }) => `${text}\n`);
  assert.ok(shown.includes(fs.readFileSync(TOY_FORMAT, "utf8")));
});

Deno.test("a block, its position and its mark are found in a document", () => {
  const [first, second, ...rest] = blocksOf(
    "a.md",
    "# A\n\n```sh\nls\n\nls\n```\n\n<!-- Not run as a test: a reason. -->\n\n- x\n\n" +
      "<!-- Not run as a test: a reason. -->\n\n  ```ts ignore\n  a\n  ```\n",
  );
  assert.deepEqual(rest, []);
  assert.deepEqual(first, {
    document: "a.md",
    line: 4,
    info: "sh",
    text: "ls\n\nls",
    notRun: undefined,
  });
  assert.deepEqual(second, {
    document: "a.md",
    line: 16,
    info: "ts ignore",
    text: "a",
    notRun: "a reason.",
  });
});

for (const block of SHELL.filter(({ notRun }) => notRun === undefined)) {
  Deno.test({
    name: `${block.document}:${block.line}: ${block.text.split("\n")[0]}`,
    ...needs(
      ...["root", "fuse", "unshare", "ip", "curl", "ffmpeg", "jq", "numpy"],
    ),
    fn: () =>
      withTempDir(async (dir) => {
        const sample = await samplePlace();
        await runBlock(block, dir, (place) => copyFolder(sample, place));
      }),
  });
}

/** The sample files, made only once, since making them takes longer than most blocks. */
let sample: Promise<string> | undefined;

function samplePlace(): Promise<string> {
  return sample ??= (async () => {
    const place = fs.mkdtempSync(`${tmpdir()}/recordfs-documents-`);
    addEventListener("unload", () => fs.rmSync(place, { recursive: true }));
    await makePlace(place);
    return place;
  })();
}

function copyFolder(from: string, to: string): void {
  fs.cpSync(from, to, { recursive: true, preserveTimestamps: true });
}

Deno.test({
  name: "a block that fails, or prints something else, fails its test",
  ...needs("root", "unshare", "ip"),
  async fn() {
    const block = (info: string, text: string): Block => ({
      ...{ document: "x.md", line: 1, notRun: undefined },
      ...{ info, text },
    });
    const inPlace = (info: string, text: string) =>
      withTempDir((dir) => runBlock(block(info, text), dir, () => {}));
    await inPlace("sh", "true");
    await assert.rejects(inPlace("sh", "false\ntrue"));
    await assert.rejects(inPlace("sh", "false | true"));
    await inPlace("console", "$ echo one; echo two 3\none\ntwo …");
    await inPlace("console", "$ (sleep 1; echo one) &\none\n$ echo two\ntwo");
    await assert.rejects(inPlace("console", "$ false &\none"));
    await inPlace(
      "console",
      "$ python3 -c 'import sys; print(sys.executable)'\n" + PYTHON,
    );
    await assert.rejects(inPlace("console", "$ echo one\ntwo"));
    await assert.rejects(inPlace("console", "$ echo one; echo two\none"));
  },
});

/** Runs a block in its own directory. With prompts, each command must print the text after it. */
async function runBlock(
  block: Block,
  dir: string,
  fill: (place: string) => void,
): Promise<void> {
  const place = `${dir}/place`;
  fs.mkdirSync(place);
  fill(place);
  putPrograms(`${dir}/bin`);
  const steps = block.info.startsWith("console")
    ? prompted(block.text)
    : [{ command: block.text, output: undefined }];
  fs.writeFileSync(`${dir}/script`, script(block, place, steps));
  const { code, stdout, stderr } = await new Deno.Command("unshare", {
    args: [
      ...["--mount", "--propagation", "private", "--net"],
      ...["--pid", "--fork", "--kill-child", "--mount-proc"],
      ...["bash", `${dir}/script`],
    ],
    env: {
      PATH: `${dir}/bin:${Deno.env.get("PATH")}`,
      DENO_LOG: "warn",
    },
    stdin: "null",
    signal: AbortSignal.timeout(LIMIT_MS),
  }).output();
  const decoder = new TextDecoder();
  const printed = decoder.decode(stdout);
  assert.equal(code, 0, `${block.text}\n\n${printed}${decoder.decode(stderr)}`);
  const parts = printed.split(MARK).slice(1);
  steps.forEach(({ command, output }, i) => {
    if (output === undefined) return;
    const said = `${command}\n${parts[i]}`;
    assert.match(parts[i]!, likePrinted(output), said);
  });
}

/** Timeout of a block, in milliseconds. */
const LIMIT_MS = 300_000;

/** Separates the output of commands. */
const MARK = "\0";

/** Returns a bash script that runs the steps, and ends at the first failure. */
function script(
  { text }: Block,
  place: string,
  steps: readonly Step[],
): string {
  const directories = new Set(text.match(/\/mnt\/\w+/g));
  return [
    "set -euo pipefail",
    "mount -t tmpfs none /mnt",
    // Records of other blocks name processes that are not visible here.
    "mkdir -p -m 700 /run/recordfs",
    "mount -t tmpfs -o mode=700 none /run/recordfs",
    "ip link set lo up",
    `cd '${place}'`,
    ...[...directories].map((path) => `mkdir '${path}'`),
    ...steps.flatMap((step) => ["printf '\\0'", runnable(step)]),
    "",
  ].join("\n");
}

interface Step {
  readonly command: string;
  readonly output: string | undefined;
}

/** Returns a step's command. A command in the background must print its output before the next step. */
function runnable({ command, output }: Step): string {
  if (output === undefined || !command.endsWith(" &")) return command;
  const lines = output.trimEnd().split("\n").length;
  return `log=$(mktemp); ${command.slice(0, -1)} > $log 2>&1 &
until [ "$(wc -l < $log)" -ge ${lines} ]; do kill -0 $!; sleep 0.1; done; cat $log`;
}

/** Splits text with prompts into commands and their output. */
function prompted(text: string): Step[] {
  return text.split(/^\$ /m).slice(1).map((step) => {
    const end = step.indexOf("\n");
    return end < 0
      ? { command: step, output: "" }
      : { command: step.slice(0, end), output: step.slice(end + 1) };
  });
}

/** Returns a pattern for printed text, in which `…` stands for any text within a line. */
function likePrinted(text: string): RegExp {
  const lines = text.trimEnd().split("\n").map((line) =>
    line.split("…").map((part) => RegExp.escape(part)).join(".*")
  );
  return new RegExp(`^${lines.join("\n")}\n?$`);
}

/** Creates the command `recordfs`, like an installation, and `python3` with the packages that documents import. */
function putPrograms(bin: string): void {
  fs.mkdirSync(bin);
  putProgram(`${bin}/python3`, [PYTHON]);
  putProgram(`${bin}/recordfs`, [
    ...[Deno.execPath(), "run", "--allow-all"],
    ...["--config", `${REPOSITORY}deno.json`, `${REPOSITORY}cli.ts`],
  ]);
}

function putProgram(path: string, words: readonly string[]): void {
  const command = words.map((word) => `'${word}'`).join(" ");
  fs.writeFileSync(path, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
}
