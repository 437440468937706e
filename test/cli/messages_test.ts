/** Names and errors as messages show them. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { systemMessage } from "../../src/cli/system_message.ts";
import {
  FormatError,
  PathError,
  RecordfsError,
} from "../../src/base/errors.ts";
import { open } from "../../src/open/open.ts";
import { messageText } from "../../src/base/message_text.ts";
import { goldenCase } from "../support/golden.ts";
import { ffrBytes, packedSamples } from "../support/ffrecord/make_ffr.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";
import { needs, PYTHON } from "../support/programs/programs.ts";
import { assertFailed, CLI, recordfs, run, runBash } from "./run_cli.ts";

const { path: packed } = goldenCase("ffrecord/packed_tree");

/** Maximum length of a message line. */
const LONGEST = 15_000;

/** Bidirectional, zero-width and tag characters, Unicode line separators, and two control characters. */
const UNSHOWN = "\u202e\u2066\u200b\ufeff\u{e0041}\u2028\u2029\x1b\x85";
const ESCAPED =
  "\\u202e\\u2066\\u200b\\ufeff\\udb40\\udc41\\u2028\\u2029\\033\\205";

function assertShown(text: string): void {
  assert.doesNotMatch(text.trimEnd(), /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
}

Deno.test("characters that cannot be shown become escapes", () => {
  assert.equal(messageText(`a${UNSHOWN}b`), `a${ESCAPED}b`);
  assert.equal(messageText("tab\tline\n\udcff"), "tab\\tline\\n\\377");
  const shown = "Übung 数据集 한글 😀 é back\\slash";
  assert.equal(messageText(shown), shown);
  assert.equal(messageText(messageText(UNSHOWN)), ESCAPED);
});

Deno.test("a long message keeps its start and its end", () => {
  const text = `Cannot read '${"k".repeat(3e6)}': check it`;
  const shown = messageText(text);
  assert.ok(shown.length < 2200);
  assert.match(
    shown,
    /^Cannot read 'k+ … \(\d+ characters omitted\) … k+': check it$/,
  );
  const hostile = messageText("\u202e".repeat(1e6));
  assert.ok(hostile.length < LONGEST);
  const whole = `Cannot open ${"d/".repeat(600)}file: there is no such file`;
  assert.equal(messageText(whole), whole);
});

Deno.test("errors have bounded messages, and complete fields", async () => {
  using fs = await open(packed);
  const path = `${UNSHOWN}${"x".repeat(70_000)}`;
  await assert.rejects(fs.stat(path), (error) => {
    assert.ok(error instanceof PathError);
    assert.equal(error.path, path);
    assert.ok(error.message.length < 2200, `${error.message.length}`);
    assert.ok(error.message.includes(ESCAPED));
    assert.ok(error.stack!.length < LONGEST);
    return true;
  });
  const cause = new FormatError("bad-meta", path);
  const error = new RecordfsError("outer", `${path}: ${cause.message}`, {
    cause,
  });
  assert.ok(error.message.length < 2200);
});

/** Containers that cause very long messages. */
const ENDLESS: Record<string, () => Uint8Array> = {
  "a class name of 3 MB": () => {
    const start = Buffer.from("piouhjgbr\x80\x02c", "latin1");
    const name = Buffer.from(`module${UNSHOWN}\n${"A".repeat(3e6)}\n.`);
    return ffrBytes([Buffer.concat([start, name])]);
  },
  "a name of 70 KB": () =>
    ffrBytes(packedSamples({ [`${UNSHOWN}${"k".repeat(70_000)}`]: {} })),
  "a name with a slash": () =>
    ffrBytes(packedSamples({ [`a/${UNSHOWN}`]: new Uint8Array(1) })),
};

for (const [what, make] of Object.entries(ENDLESS)) {
  Deno.test(`${what} makes a line of bounded length`, async () => {
    await withTempDir(async (dir) => {
      await Deno.writeFile(`${dir}/a.ffr`, make());
      for (const command of ["info", "ls", "check"]) {
        const ran = await recordfs([
          command,
          `${dir}/a.ffr`,
          "--format",
          "ffrecord-packed",
        ]);
        assert.equal(ran.code, 1, what);
        const said = ran.stderr + ran.stdout;
        assert.ok(said.length > 20 && said.length < LONGEST, `${said.length}`);
        for (const line of said.trimEnd().split("\n")) assertShown(line);
      }
    });
  });
}

Deno.test({
  name: "listings on a terminal escape names, in JSON too",
  ...needs("script"),
  async fn() {
    await withTempDir(async (dir) => {
      const name = `${UNSHOWN}.jpg`;
      const folder = { [name]: { [name]: new Uint8Array(3) } };
      const file = `${dir}/${"\u202e"}.ffr`;
      await Deno.writeFile(file, ffrBytes(packedSamples(folder)));
      const commands = [
        ["ls", "-R"],
        ["ls", "-lR"],
        ["ls", "-R", "--json"],
        ["tree"],
        ["info"],
        ["info", "--json"],
        ["stat", file, name],
        ["stat", "--json", file, name],
        ["check"],
        ["cat", file, `no ${name}`],
      ];
      for (const given of commands) {
        const args = given.includes(file) ? given : [...given, file];
        const quoted = [Deno.execPath(), "run", "-A", CLI, ...args]
          .map((arg) => `'${arg}'`).join(" ") +
          (args[0] === "check" ? " 2>/dev/null" : ""); // its progress bar moves the cursor
        const ran = await run(["script", "-qec", quoted, "/dev/null"]);
        for (const line of ran.stdout.trimEnd().split("\r\n")) {
          assertShown(line);
        }
        assert.match(ran.stdout, /\\u202e/, args.join(" "));
        if (!args.includes("--json")) continue;
        const { stdout } = await recordfs(args);
        assert.deepEqual(JSON.parse(ran.stdout), JSON.parse(stdout));
        assert.ok(stdout.includes("\u202e")); // output to a program is not escaped
      }
    });
  },
});

Deno.test("system errors are explained in words", async () => {
  await withTempDir(async (dir) => {
    await Deno.writeTextFile(`${dir}/file`, "");
    await Deno.mkdir(`${dir}/full/of/it`, { recursive: true });
    const acts: [() => void, RegExp][] = [
      [
        () => Deno.mkdirSync(`${dir}/file`),
        /^Cannot make the directory .*file: it exists\. Remove it/,
      ],
      [
        () => Deno.mkdirSync(`${dir}/file/a`),
        /^Cannot make the directory .*a: a part of the path is not a directory/,
      ],
      [
        () => Deno.removeSync(`${dir}/full`),
        /^Cannot remove .*full: the directory is not empty/,
      ],
      [
        () => Deno.readTextFileSync(`${dir}/none`),
        /^Cannot read .*none: there is no such file or directory/,
      ],
      [
        () => Deno.renameSync(`${dir}/file`, `${dir}/full`),
        /^Cannot rename .*file: it is a directory/,
      ],
    ];
    for (const [act, words] of acts) {
      assert.throws(act, (error) => {
        const message = systemMessage(error as Error);
        assert.match(message, words);
        assert.doesNotMatch(message, /os error|E[A-Z]{4,}/);
        return true;
      });
    }
    const node = Object.assign(
      new Error("EACCES: permission denied, mkdir '/root/x'"),
      { code: "EACCES", syscall: "mkdir", path: "/root/x" },
    );
    assert.match(
      systemMessage(node),
      /^Cannot make the directory \/root\/x: permission denied\. Check who may/,
    );
    const bare = Object.assign(new Error("EEXIST"), { code: "EEXIST" });
    assert.match(
      systemMessage(bare),
      /^Cannot complete the command: it exists\./,
    );
  });
});

Deno.test("extract to a path that is not a directory reports it", async () => {
  await withTempDir(async (dir) => {
    await Deno.writeTextFile(`${dir}/file`, "");
    for (const out of [`${dir}/file`, `${dir}/file/below`]) {
      const ran = await recordfs(["extract", packed, out]);
      assertFailed(ran, 1, /Cannot extract to .*file.*: it is not a directory/);
    }
    const ran = await recordfs(["extract", packed, "/proc/none/below"]);
    assertFailed(
      ran,
      1,
      /Cannot extract to \/proc\/none\/below: there is no such/,
    );
  });
});

Deno.test("a working directory that was removed is named", async () => {
  const script = `${REPOSITORY}test/support/programs/gone_directory_cli.ts`;
  for (
    const args of [
      ["ls", "a.ffr"],
      ["check", "a.ffr"],
      ["extract", packed, "out"],
      ["convert", packed, "out/"],
      ["mount", "a.ffr", "mnt"],
      ["mount", packed, "mnt"],
      ["unmount", "mnt"],
    ]
  ) {
    const ran = await run([Deno.execPath(), "run", "-A", script, ...args]);
    assertFailed(
      ran,
      1,
      /the working directory was removed\. Go to another one/,
    );
  }
  const whole = await run([Deno.execPath(), "run", "-A", script, "ls", packed]);
  assert.deepEqual([whole.code, whole.stderr], [0, ""]);
});

/** Runs a shell line in which `$0` stands for recordfs. */
function shell(line: string): ReturnType<typeof run> {
  const program = `${Deno.execPath()} run -A ${CLI}`;
  return runBash(line.replaceAll("$0", program));
}

for (
  const args of [
    `ls -R ${packed}`,
    `ls --json ${packed}`,
    "--help",
    "--version",
  ]
) {
  Deno.test({
    name: `output of ${
      args.replace(packed, "FILE")
    } that cannot be written is reported`,
    ...needs("bash"),
    async fn() {
      assertFailed(
        await shell(`$0 ${args} >&-`),
        1,
        /standard output: it is closed/,
      );
      assertFailed(
        await shell(`$0 ${args} >/dev/full`),
        1,
        /standard output: No space left/,
      );
      const silent = await shell(`$0 ${args} >&- 2>&-`);
      assert.equal(silent.code, 1);
      const wanted = await shell(`$0 ${args} >/dev/null`);
      assert.deepEqual([wanted.code, wanted.stderr], [0, ""]);
    },
  });
}

Deno.test({
  name: "a reader that stops ends a command silently",
  ...needs("bash"),
  async fn() {
    const ran = await shell(
      `$0 ls -R ${packed} | head -1; exit $\{PIPESTATUS[1]}`,
    );
    assert.deepEqual([ran.code, ran.stderr], [0, ""]);
    assert.equal(ran.stdout.split("\n").length, 2);
  },
});

Deno.test({
  name: "messages that cannot be written change nothing",
  ...needs("bash"),
  async fn() {
    assert.equal((await shell(`$0 ls /none 2>&-`)).code, 1);
    assert.equal((await shell(`$0 ls ${packed} 2>&-`)).code, 0);
    assert.equal((await shell(`$0 ls ${packed} <&-`)).code, 0);
  },
});

Deno.test({
  name: "a program may close its output on purpose",
  ...needs("python3"),
  async fn() {
    const command = JSON.stringify([
      Deno.execPath(),
      "run",
      "-A",
      CLI,
      "ls",
      packed,
    ]);
    const program = `import subprocess, sys
sys.exit(subprocess.run(${command}, stdout=subprocess.DEVNULL).returncode)`;
    const ran = await run([PYTHON, "-c", program]);
    assert.deepEqual([ran.code, ran.stderr], [0, ""]);
  },
});
