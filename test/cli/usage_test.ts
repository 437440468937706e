import assert from "node:assert/strict";
import { goldenCase } from "../support/golden.ts";
import { FULL } from "../support/long.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";
import { makeProgram, overview } from "../../src/cli/program.ts";
import { usageLine } from "../../src/cli/usage.ts";
import { sizeOf } from "../../src/base/size_text.ts";
import { parseMountOptions } from "../../fuse/mounting/mount_options.ts";
import {
  assertFailed,
  recordfs,
  recordfsRefused,
  run,
  succeed,
} from "./run_cli.ts";

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

Deno.test("--help names every command, and each command has its own help", async () => {
  const { stdout } = await succeed(["--help"]);
  for (const command of COMMANDS) {
    assert.match(stdout, new RegExp(`^  ${command} `, "m"));
  }
  const help = await succeed(["ls", "--help"]);
  assert.match(help.stdout, /^Usage: recordfs ls .*SOURCE \[PATH\]/);
});

Deno.test("--version prints the version of deno.json", async () => {
  const manifest = await Deno.readTextFile(`${REPOSITORY}deno.json`);
  const { version } = JSON.parse(manifest);
  for (const flag of ["--version", "-v", "-V"]) {
    assert.equal((await succeed([flag])).stdout, `${version}\n`);
  }
  // After a command, the option belongs to the command.
  assertFailed(await recordfs(["ls", "-v", path]), 2, /unknown option '-v'/);
});

Deno.test("an invalid command line has exit code 2", async () => {
  const cases: [string[], RegExp][] = [
    [["lss", path], /unknown command 'lss'.*Did you mean ls/],
    [["ls"], /missing required argument 'source'/],
    [["ls", path, "a", "b"], /too many arguments/],
    [["ls", "--frobnicate", path], /unknown option '--frobnicate'/],
    [["completions", "ksh"], /'ksh' is invalid.*bash, fish, zsh/],
    [["mount", path, "/mnt", "-o", "frobnicate"], /'frobnicate'/],
    [["mount", path, "/mnt", "-o", "uid=x"], /uid=x/],
    [
      ["mount", path, "/mnt", "-o", "ro,rw"],
      /-o rw is not possible: mounts are read-only/,
    ],
    [
      ["mount", "-f", path, "/mnt", "-o", "rw", "--format", "ffrecord"],
      /-o rw/,
    ],
    [["ls", "--ext", "a/b", path], /'a\/b' is not a valid suffix/],
    [["mount", "--ext", "a/b", path, "/mnt"], /'a\/b' is not a valid suffix/],
    [["mount", path, "/mnt", "-o", "format="], /format=/],
  ];
  for (const [args, words] of cases) {
    assertFailed(await recordfsRefused(args), 2, words);
  }
  const nothing = await recordfs([]);
  assert.equal(nothing.code, 2);
  assert.match(nothing.stderr, /^Usage: recordfs/);
});

Deno.test("reading needs only --allow-read", async () => {
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

Deno.test("extract needs --allow-write as well", async () => {
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

Deno.test("the overview matches the commands' own help, and loads none of them", async () => {
  const all = await makeProgram(undefined);
  assert.equal(overview().helpInformation(), all.helpInformation());
  for (const line of [["--help"], ["help"], ["-h"]]) {
    const { stdout } = await succeed(line);
    assert.ok(stdout.startsWith(all.helpInformation()), line.join(" "));
  }
  const info = [
    ...["info", "--json", `${REPOSITORY}src/cli/program.ts`],
  ];
  const { stdout } = await run([Deno.execPath(), ...info]);
  const { modules } = JSON.parse(stdout) as {
    modules: { specifier: string; dependencies?: Dependency[] }[];
  };
  interface Dependency {
    readonly code?: { readonly specifier: string };
    readonly isDynamic?: boolean;
  }
  const importsOf = new Map(
    modules.map(({ specifier, dependencies = [] }) => [
      specifier,
      dependencies.filter(({ isDynamic }) => isDynamic !== true)
        .map(({ code }) => code?.specifier),
    ]),
  );
  const reached = new Set([`file://${REPOSITORY}src/cli/program.ts`]);
  for (const module of reached) {
    for (const one of importsOf.get(module) ?? []) if (one) reached.add(one);
  }
  const commands = [...reached].filter((one) =>
    /src\/cli\/commands\//.test(one)
  );
  assert.deepEqual(commands, []);
});

Deno.test("all usage lines name inputs SOURCE and outputs TARGET", async () => {
  const program = await makeProgram(undefined);
  const lines = program.commands.flatMap((command) => [
    ...command.commands.length > 0 ? command.commands : [command],
  ]).map(usageLine);
  for (const line of lines) {
    assert.doesNotMatch(
      line,
      /\b(DIR|OUT|DST|INPUT|LOCATION|FILE)\b|[<>]/,
      line,
    );
  }
  for (
    const [name, words] of [
      ["extract", "SOURCE TARGET [PATH...]"],
      ["pack", "SOURCE TARGET"],
      ["convert", "SOURCE TARGET"],
      ["write", "TARGET [SOURCE...]"],
      ["gulp image-folder", "FOLDER TARGET"],
      ["gulp repair", "SOURCE TARGET"],
      ["bag create", "TARGET [SOURCE]"],
      ["cache fill", "SOURCE"],
    ]
  ) assert.ok(lines.includes(`recordfs ${name} [options] ${words}`), name);
});

Deno.test("options for servers are described once, and accepted by all commands that take a URL", async () => {
  const help = (await succeed(["help", "servers"])).stdout;
  const program = await makeProgram(undefined);
  const able = program.commands.filter(({ options }) =>
    options.some(({ long }) => long === "--endpoint")
  );
  assert.ok(able.length >= 12);
  for (
    const flag of ["--header", "--endpoint", "--cache-size", "--max-requests"]
  ) {
    assert.match(help, RegExp(`^  ${flag} <`, "m"));
    for (const command of able) {
      assert.doesNotMatch(
        command.helpInformation(),
        RegExp(`^  ${flag}\\b`, "m"),
      );
    }
  }
  for (const name of ["ls", "mount", "convert"]) {
    assert.match(
      (await succeed([name, "--help"])).stdout,
      /`recordfs help servers`/,
    );
  }
});

Deno.test("an option has one name in all commands, and earlier names still work", async () => {
  await withTempDir(async (dir) => {
    for (const flag of ["--format", "--from"]) {
      const line = ["convert", flag, "ffrecord", path, `${dir}/${flag}/`];
      await recordfs(line).then(({ code, stderr }) =>
        assert.equal(code, 0, stderr)
      );
    }
    const both = [
      "convert",
      "--from",
      "tar",
      "--format",
      "zip",
      path,
      `${dir}/x/`,
    ];
    assertFailed(await recordfs(both), 2, /--from and --format mean the same/);
    const program = await makeProgram(undefined);
    const flags = program.commands.flatMap((command) =>
      [command, ...command.commands].flatMap(({ options }) =>
        options.filter(({ short }) => short === "-f").map(({ long }) =>
          [command.name(), long] as const
        )
      )
    );
    for (const [name, long] of flags) {
      assert.equal(long, name === "mount" ? "--foreground" : "--force");
    }
    assert.ok(flags.length >= 6);
    for (
      const { name, options } of program.commands.flatMap((
        one,
      ) => [one, ...one.commands]).map((one) => ({
        name: one.name(),
        options: one.options,
      }))
    ) {
      const shuffle = options.find(({ long }) => long === "--shuffle");
      assert.equal(shuffle?.required === true, name === "mount");
      const workers = options.some(({ long }) => long === "--num-workers");
      if (workers) assert.ok(options.some(({ long }) => long === "--workers"));
    }
    const size = (text: string) =>
      recordfsRefused([
        "convert",
        path,
        `${dir}/s/`,
        "--to",
        "mds",
        "--shard-size",
        text,
      ]);
    assertFailed(
      await size("9 parsec"),
      2,
      /number of bytes from 1 on, such as 500M/,
    );
    assert.doesNotMatch((await size("64M")).stderr, /shard-size/);
  });
});

Deno.test("commands that write take --force, or their help explains why not", async () => {
  for (const command of ["pack", "write", "convert", "extract", "split"]) {
    const { stdout } = await succeed([command, "--help"]);
    assert.match(stdout, /^ {2}-f, --force /m, command);
  }
  const { stdout } = await succeed(["gulp", "--help"]);
  const gulps = [...stdout.matchAll(/^ {2}(\S+) \[options\] .*TARGET/gm)]
    .map(([, name]) => name!);
  assert.ok(gulps.length >= 5, stdout);
  for (
    const command of [...gulps.map((name) => ["gulp", name]), ["bag", "create"]]
  ) {
    const help = await succeed([...command, "--help"]);
    assert.match(
      help.stdout,
      /^There is no --force: [^]*Remove TARGET\s+first/m,
    );
    assertFailed(
      await recordfs([...command, "--force"]),
      2,
      /unknown option '--force'/,
    );
  }
});

Deno.test("sizes have the suffixes of GNU programs", () => {
  const sizes: Record<string, number | undefined> = {
    ...{ "0": 0, "12": 12, "12B": 12, "1K": 1024, "1k": 1024, "1KiB": 1024 },
    ...{ "1kB": 1000, "1 MB": 1e6, "1.5M": 1572864, "2GiB": 2 ** 31 },
    ...{ "3T": 3 * 2 ** 40, "": undefined, "M": undefined, "-1": undefined },
    ...{ "1 parsec": undefined, "1e3": undefined, "9999999T": undefined },
  };
  for (const [text, bytes] of Object.entries(sizes)) {
    assert.equal(sizeOf(text), bytes, text);
  }
  assert.equal(parseMountOptions("max_read=128K").maxRead, 131_072);
});

Deno.test("--json prints one value, also for an error", async () => {
  await withTempDir(async (dir) => {
    const none = `${dir}/none`;
    const lines = [
      "ls",
      "info",
      "stat",
      "records",
      "extract",
      "pack",
      "write",
      "convert",
    ]
      .map((name) => [name, "--json"]);
    for (const [name, json] of lines) {
      const rest: Record<string, string[]> = {
        ...{
          stat: [none, "a"],
          extract: [none, `${dir}/x`],
          pack: [none, `${dir}/x.ffr`],
        },
        ...{ write: [`${dir}/x.ffr`, none], convert: [none, `${dir}/x/`] },
      };
      const ran = await recordfs([name!, json!, ...rest[name!] ?? [none]]);
      assert.equal(ran.code, 1);
      const { error } = JSON.parse(ran.stdout);
      assert.equal(error.code, "ENOENT", name);
      assert.ok(ran.stderr.includes(error.message), `${name}: ${ran.stderr}`);
      const wrong = await recordfsRefused([name!, json!, "--frobnicate"]);
      assert.equal(wrong.code, 2);
      assert.equal(JSON.parse(wrong.stdout).error.code, "usage");
    }
    assert.equal((await recordfs(["ls", none])).stdout, "");
    const long = JSON.parse(
      (await succeed(["ls", "-l", "--json", path])).stdout,
    );
    for (const { path: entry, mtime } of long) {
      const [stat] = JSON.parse(
        (await succeed(["stat", "--json", path, "--", entry])).stdout,
      );
      assert.equal(mtime, stat.mtime);
      assert.match(mtime, /^\d{4}-\d\d-\d\dT/);
      break;
    }
    const [short] = JSON.parse((await succeed(["ls", "--json", path])).stdout);
    assert.equal("mtime" in short, false);
    const missing = await recordfs(["ls", "--json", path, "zzz*"]);
    assert.equal(JSON.parse(missing.stdout)[0].error.code, "not-found");
    const written = await succeed([
      "extract",
      "--json",
      "--sync",
      "none",
      path,
      `${dir}/out`,
    ]);
    assert.match(written.stdout, /^\{\n {2}"path": /);
  });
});
