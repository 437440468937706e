import assert from "node:assert/strict";
import { goldenCase } from "../support/golden.ts";
import { FULL } from "../support/long.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";
import { assertFailed, recordfs, recordfsRefused, succeed } from "./run_cli.ts";

const { path } = goldenCase("ffrecord/packed_tree");
const COMMANDS = [
  "bag",
  "bench-loader",
  "cat",
  "check",
  "completions",
  "extract",
  "info",
  "ls",
  "mount",
  "mounts",
  "pack",
  "records",
  "split",
  "stat",
  "tree",
  "unmount",
  "write",
];

Deno.test("--help names every command, and each has its own", async () => {
  const { stdout } = await succeed(["--help"]);
  for (const command of COMMANDS) {
    assert.match(stdout, new RegExp(`^  ${command} `, "m"));
  }
  const help = await succeed(["ls", "--help"]);
  assert.match(help.stdout, /^Usage: recordfs ls .*SOURCE \[PATH\]/);
});

Deno.test("--version is that of deno.json", async () => {
  const manifest = await Deno.readTextFile(`${REPOSITORY}deno.json`);
  const { version } = JSON.parse(manifest);
  for (const flag of ["--version", "-v", "-V"]) {
    assert.equal((await succeed([flag])).stdout, `${version}\n`);
  }
  // Behind a command it would be that command's.
  assertFailed(await recordfs(["ls", "-v", path]), 2, /unknown option '-v'/);
});

Deno.test("a wrong command line is exit code 2", async () => {
  const cases: [string[], RegExp][] = [
    [["lss", path], /unknown command 'lss'.*Did you mean ls/],
    [["ls"], /missing required argument 'source'/],
    [["ls", path, "a", "b"], /too many arguments/],
    [["ls", "--frobnicate", path], /unknown option '--frobnicate'/],
    [["completions", "ksh"], /'ksh' is invalid.*bash, fish, zsh/],
    [["mount", path, "/mnt", "-o", "frobnicate"], /'frobnicate'/],
    [["mount", path, "/mnt", "-o", "uid=x"], /uid=x/],
    [["mount", path, "/mnt", "-o", "ro,rw"], /-o rw: containers are read-only/],
    [
      ["mount", "-f", path, "/mnt", "-o", "rw", "--format", "ffrecord"],
      /-o rw/,
    ],
    [["ls", "--ext", "a/b", path], /'a\/b' cannot be a suffix/],
    [["mount", "--ext", "a/b", path, "/mnt"], /'a\/b' cannot be a suffix/],
    [["mount", path, "/mnt", "-o", "format="], /format=/],
  ];
  for (const [args, words] of cases) {
    assertFailed(await recordfsRefused(args), 2, words);
  }
  const nothing = await recordfs([]);
  assert.equal(nothing.code, 2);
  assert.match(nothing.stderr, /^Usage: recordfs/);
});

Deno.test("reading takes --allow-read and nothing else", async () => {
  const permissions = ["--allow-read"];
  const commands = [
    ["ls", "-lR", path],
    ["cat", path, "..."],
    ["check", path],
    ["--help"],
    ["tree", path],
    ["stat", path, "..."],
    ["info", path],
    ["records", path],
    ["completions", "bash"],
  ];
  for (const args of FULL ? commands : commands.slice(0, 4)) {
    await succeed(args, { permissions });
  }
});

Deno.test("extract takes --allow-write as well", async () => {
  await withTempDir(async (dir) => {
    const permissions = ["--allow-read", `--allow-write=${dir}`];
    const line = ["extract", "--sync", "none", path, `${dir}/out`];
    await succeed(line, { permissions });
    const waiting = await recordfs(["extract", path, `${dir}/waited`], {
      permissions,
    });
    assert.equal(waiting.code, 0);
    assert.match(waiting.stderr, /^recordfs: warning: .*--allow-ffi.*\n$/);
    const odd = goldenCase("ffrecord/packed_not_utf8_names");
    const ran = await recordfs(["extract", odd.path, `${dir}/odd`], {
      permissions,
    });
    assert.equal(ran.code, 1);
    assert.match(ran.stderr, /odd\/\\377: its name is not UTF-8.*--allow-ffi/);
    const files = odd.content.entries.filter((entry) =>
      entry.type === "file" && entry.path_bytes === undefined
    );
    for (const { path, size } of files) {
      assert.equal((await Deno.stat(`${dir}/odd/${path}`)).size, size);
    }
  });
});

Deno.test("a missing permission is named, with the flags to add", async () => {
  const cases: [string[], string[], RegExp][] = [
    [["ls", path], [], /read access.*deno run -A.*--allow-read$/m],
    [
      ["extract", path, "/tmp/x"],
      ["--allow-read"],
      /write access.*--allow-write/,
    ],
    [["mount", path, "/mnt"], ["--allow-read"], /deno run -A/],
    [["mounts"], [], /deno run -A/],
    [["unmount", "/mnt"], ["--allow-read"], /deno run -A/],
  ];
  for (const [args, permissions, words] of cases) {
    const ran = await recordfs(args, { permissions });
    assertFailed(ran, 1, words);
  }
});
