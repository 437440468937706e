import assert from "node:assert/strict";
import { encodeName } from "../../../src/base/names.ts";
import { goldenCase } from "../../support/golden.ts";
import { needs } from "../../support/programs/programs.ts";
import {
  assertFailed,
  CLI,
  recordfs,
  run,
  runBash,
  succeed,
} from "../run_cli.ts";

const tree = goldenCase("ffrecord/packed_tree");
const notUtf8 = goldenCase("ffrecord/packed_not_utf8_names");
const damaged = goldenCase("ffrecord/bad_offset_beyond_end");
const { entries } = tree.content;

/** Returns the names in a directory. */
function below(directory: string): string[] {
  const prefix = directory === "" ? "" : `${directory}/`;
  return entries.map(({ path }) => path).filter((path) =>
    path.startsWith(prefix) && !path.slice(prefix.length).includes("/")
  ).map((path) => path.slice(prefix.length));
}

/** Compares a listing as a whole, since names may contain newlines. */
function assertLists(stdout: string, names: readonly string[]): void {
  const text = names.map((name) => `${name}\n`);
  const lines = (text: string) => text.split("\n").sort();
  assert.deepEqual(lines(stdout), lines(text.join("")));
}

Deno.test("ls lists a directory, one name per line", async () => {
  assertLists((await succeed(["ls", tree.path])).stdout, below(""));
  const words = await succeed(["ls", tree.path, "words"]);
  assertLists(words.stdout, below("words"));
  const file = await succeed(["ls", tree.path, "..."]);
  assert.equal(file.stdout, "...\n");
});

Deno.test("ls -R lists relative paths of everything below", async () => {
  const { stdout } = await succeed(["ls", "-R", tree.path]);
  assertLists(stdout, entries.map(({ path }) => path));
  const words = await succeed(["ls", "-R", tree.path, "/words/"]);
  const prefix = "words/";
  assertLists(
    words.stdout,
    entries.filter(({ path }) => path.startsWith(prefix))
      .map(({ path }) => path.slice(prefix.length)),
  );
});

Deno.test("ls -l shows permissions and sizes", async () => {
  const { stdout } = await succeed(["ls", "-l", tree.path]);
  const entry = entries.find(({ path }) => path === "-dash")!;
  assert.match(
    stdout,
    new RegExp(
      `^-rw-r--r-- +${entry.size} \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d -dash$`,
      "m",
    ),
  );
  assert.match(stdout, /^drwxr-xr-x +0 .* words$/m);
});

Deno.test("ls --json gives paths, types and sizes", async () => {
  const { stdout } = await succeed(["ls", "-R", "--json", tree.path]);
  const expected = entries.map(({ path, type, size }) =>
    type === "file"
      ? { path, type, size }
      : { path, type: "directory", size: 0 }
  );
  const byPath = (a: { path: string }, b: { path: string }) =>
    a.path < b.path ? -1 : 1;
  const listed = JSON.parse(stdout) as { path: string }[];
  assert.deepEqual(listed.sort(byPath), expected.sort(byPath));
  const empty = await succeed(["ls", "--json", tree.path, "empty dir"]);
  assert.deepEqual(JSON.parse(empty.stdout), []);
});

Deno.test("ls writes names that are not UTF-8 as their bytes", async () => {
  const { bytes } = await succeed(["ls", "-R", notUtf8.path]);
  const names = notUtf8.content.entries.map(({ path_bytes }) => path_bytes!);
  const lines = bytes.toHex().match(/(?:..)*?0a/g)!.map((hex) =>
    hex.slice(0, -2)
  );
  assert.deepEqual(lines.sort(), names.sort());
});

Deno.test("ls shows a damaged sample as ? and continues", async () => {
  const ran = await recordfs(["ls", "-l", damaged.path]);
  const { samples } = damaged.content;
  const bad = samples.filter(({ error }) => error !== undefined).length;
  const sizes = ran.stdout.trimEnd().split("\n").map((line) =>
    line.split(/ +/)[1]
  );
  assert.equal(sizes.length, samples.length);
  assert.equal(sizes.filter((size) => size === "?").length, bad);
  assertFailed(ran, 1, /damaged/);
});

Deno.test("tree draws what ls lists, and counts", async () => {
  const { stdout } = await succeed(["tree", tree.path]);
  const files = entries.filter(({ type }) => type === "file").length;
  const directories = entries.length - files;
  const lines = stdout.trimEnd().split("\n");
  assert.equal(lines[0], tree.path);
  assert.equal(lines.at(-1), `${directories} directories, ${files} files`);
  assert.ok(lines.includes("└── 한글"), "the last entry ends the drawing");
  const wanted = below("words").length;
  const words = await succeed(["tree", "-L", "1", tree.path, "words"]);
  assert.equal(words.stdout.match(/^[├└]── /gm)?.length, wanted);
});

Deno.test("tree requires a directory and a depth", async () => {
  assertFailed(
    await recordfs(["tree", tree.path, "..."]),
    1,
    /'\.\.\.'.*a file/,
  );
  assertFailed(await recordfs(["tree", "-L", "0", tree.path]), 2, /level/);
});

Deno.test("stat describes files and directories", async () => {
  const entry = entries.find(({ path }) => path === "-dash")!;
  const { mtime } = await Deno.stat(tree.path);
  const json = await succeed([
    "stat",
    "--json",
    tree.path,
    "/",
    "words",
    "--",
    "-dash",
  ]);
  const described = JSON.parse(json.stdout) as Record<string, unknown>[];
  assert.deepEqual(
    described.map(({ path, type, size }) => ({ path, type, size })),
    [
      { path: "/", type: "directory", size: 0 },
      { path: "words", type: "directory", size: 0 },
      { path: "-dash", type: "file", size: entry.size },
    ],
  );
  assert.equal(described[0]!.mtime, mtime!.toISOString());
  const text = await succeed(["stat", tree.path, "--", "-dash"]);
  assert.match(text.stdout, new RegExp(`size: ${entry.size}\n`));
});

Deno.test("stat names what is missing and shows the rest", async () => {
  const ran = await recordfs(["stat", "--json", tree.path, "nope", "words"]);
  assertFailed(ran, 1, /'nope'.*no such file/);
  const [missing, found] = JSON.parse(ran.stdout);
  assert.equal(missing.error.code, "not-found");
  assert.equal(found.type, "directory");
});

Deno.test("info counts files, directories and parts", async () => {
  const parts = goldenCase("ffrecord/parts_dump");
  const json = await succeed(["info", "--json", parts.path]);
  const info = JSON.parse(json.stdout);
  assert.equal(info.format, "ffrecord");
  assert.equal(info.files, parts.content.n);
  assert.deepEqual(
    info.parts.map((part: { samples: number }) => part.samples),
    parts.content.files.map(({ n }) => n),
  );
  const text = await succeed(["info", parts.path]);
  assert.match(text.stdout, new RegExp(`files: ${parts.content.n}\n`));
});

Deno.test("--format and --ext change what is shown", async () => {
  const args = [
    "ls",
    "--format",
    "ffrecord-samples",
    "--ext",
    "bin",
    tree.path,
  ];
  const { stdout } = await succeed(args);
  assert.match(stdout, /^000000\.bin\n000001\.bin\n/);
  assertFailed(
    await recordfs(["ls", "--format", "rar", tree.path]),
    2,
    /rar.*ffrecord-samples/,
  );
});

Deno.test("a container that cannot be opened, or a missing path, is one clear line", async () => {
  const missing = await recordfs(["ls", "/no/such.ffr"]);
  assertFailed(missing, 1, /\/no\/such\.ffr.*no such file/);
  assertFailed(
    await recordfs(["ls", CLI]),
    1,
    /Cannot open .*: its format is unknown.*ffrecord/,
  );
  assertFailed(await recordfs(["ls", tree.path, "a\nb"]), 1, /'a\\nb'/);
});

Deno.test({
  name: "a closed pipe ends a listing silently (needs bash)",
  ...needs("bash"),
  async fn() {
    const script =
      `"$0" run -A "$1" ls -R "$2" | true; exit "\${PIPESTATUS[0]}"`;
    const ran = await runBash(script, [Deno.execPath(), CLI, tree.path]);
    assert.deepEqual([ran.stderr, ran.code], ["", 141]);
  },
});

Deno.test({
  name:
    "a failure to write output is distinguished from other failures (needs bash)",
  ...needs("bash"),
  async fn() {
    const script = `"$0" run -A "$1" ls -R "$2" > /dev/full`;
    const ran = await runBash(script, [Deno.execPath(), CLI, tree.path]);
    assert.match(
      ran.stderr,
      /^recordfs: Cannot write to standard output: No space left .*\n$/,
    );
    assert.equal(ran.code, 1);
  },
});

Deno.test({
  name: "on a terminal control characters are escaped (needs script)",
  ...needs("script"),
  async fn() {
    const command =
      `'${Deno.execPath()}' run -A '${CLI}' ls -R '${notUtf8.path}'`;
    const { stdout } = await run(["script", "-qec", command, "/dev/null"]);
    const escaped = notUtf8.content.entries.map(({ path }) =>
      [...encodeName(path)].map((byte) =>
        byte < 0x80 ? String.fromCharCode(byte) : `\\${byte.toString(8)}`
      ).join("")
    );
    assert.deepEqual(stdout.trimEnd().split("\r\n").sort(), escaped.sort());
  },
});
