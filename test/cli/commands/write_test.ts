import assert from "node:assert/strict";
import { FFRecordReader } from "../../../src/formats/ffrecord/mod.ts";
import { type GoldenCase, goldenCase } from "../../support/golden.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import {
  assertFailed,
  CLI,
  recordfs,
  run,
  runBash,
  succeed,
} from "../run_cli.ts";

const sizes = goldenCase("ffrecord/plain_sizes");

/** Writes each sample of a golden file to a file of its own, and returns the paths. */
async function sampleFiles(
  { path }: GoldenCase,
  dir: string,
): Promise<string[]> {
  using reader = FFRecordReader.openSync(path);
  await Deno.mkdir(`${dir}/samples`);
  return reader.readSync(Array(reader.length).keys()).map((bytes, i) => {
    const file = `${dir}/samples/sample ${i}`;
    Deno.writeFileSync(file, bytes);
    return file;
  });
}

async function assertSameFile(actual: string, expected: string): Promise<void> {
  assert.deepEqual(await Deno.readFile(actual), await Deno.readFile(expected));
}

/** Runs `recordfs` with this text as standard input. */
async function withInput(
  args: readonly string[],
  input: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", CLI, ...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  await new Blob([input]).stream().pipeTo(child.stdin).catch(() => {});
  const { code, stdout, stderr } = await child.output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

/** Lists a directory, hidden files included. */
function namesIn(dir: string): string[] {
  return [...Deno.readDirSync(dir)].map(({ name }) => name).sort();
}

Deno.test("write of files creates the file that the original creates", async () => {
  await withTempDir(async (dir) => {
    const files = await sampleFiles(sizes, dir);
    const out = `${dir}/out.ffr`;
    const { stdout } = await succeed(["write", out, ...files]);
    await assertSameFile(out, sizes.path);
    const { samples } = sizes.content;
    const bytes = samples.reduce((sum, { size }) => sum + size, 0);
    const [said] = stdout.split(/, [\d.]+ [kMGT]?B\/s/); // no rate if it took no time
    assert.equal(
      said!.trimEnd(),
      `${out}: ${samples.length} samples, ${bytes} bytes`,
    );
    const json = await succeed(["write", "--json", "-f", out, ...files]);
    const report = JSON.parse(json.stdout);
    assert.ok(report.seconds > 0);
    delete report.seconds;
    assert.deepEqual(report, { path: out, samples: samples.length, bytes });
  });
});

Deno.test("write takes the names of files from a list", async () => {
  await withTempDir(async (dir) => {
    const files = await sampleFiles(sizes, dir);
    await Deno.writeTextFile(`${dir}/list`, files.join("\n"));
    await succeed(["write", `${dir}/a.ffr`, "--list", `${dir}/list`]);
    await assertSameFile(`${dir}/a.ffr`, sizes.path);
    const nulls = files.map((file) => `${file}\0`).join("");
    const args = ["write", `${dir}/b.ffr`, "-0", "--list", "-"];
    assert.equal((await withInput(args, nulls)).stderr, "");
    await assertSameFile(`${dir}/b.ffr`, sizes.path);
  });
});

Deno.test("write takes samples from JSON lines", async () => {
  await withTempDir(async (dir) => {
    using reader = FFRecordReader.openSync(sizes.path);
    const lines = reader.readSync(Array(reader.length).keys()).map((bytes, i) =>
      JSON.stringify(i % 2 ? bytes.toBase64() : { base64: bytes.toBase64() })
    ).join("\n");
    await Deno.writeTextFile(`${dir}/lines`, `${lines}\n`);
    await succeed(["write", `${dir}/a.ffr`, "--jsonl", `${dir}/lines`]);
    await assertSameFile(`${dir}/a.ffr`, sizes.path);
    const ran = await withInput(
      ["write", `${dir}/b.ffr`, "--jsonl", "-"],
      lines,
    );
    assert.deepEqual([ran.code, ran.stderr], [0, ""]);
    await assertSameFile(`${dir}/b.ffr`, sizes.path);
  });
});

Deno.test("an empty list makes a file without samples", async () => {
  const { path } = goldenCase("ffrecord/plain_zero");
  await withTempDir(async (dir) => {
    await succeed(["write", `${dir}/a.ffr`, "--list", "/dev/null"]);
    await assertSameFile(`${dir}/a.ffr`, path);
    await Deno.writeTextFile(`${dir}/empty`, "");
    await succeed(["write", `${dir}/b.ffr`, "--jsonl", `${dir}/empty`]);
    await assertSameFile(`${dir}/b.ffr`, path);
  });
});

Deno.test("files of many megabytes are written whole", async () => {
  await withTempDir(async (dir) => {
    const files: string[] = [];
    const contents = [1 << 20, 3_000_001, 2 << 20, 5].map((size, i) =>
      new Uint8Array(size).map((_, k) => k * (i + 3) >> 3)
    );
    for (const [i, bytes] of contents.entries()) {
      files.push(`${dir}/${i}`);
      await Deno.writeFile(`${dir}/${i}`, bytes);
    }
    await succeed(["write", `${dir}/a.ffr`, ...files]);
    using reader = FFRecordReader.openSync(`${dir}/a.ffr`);
    assert.deepEqual(reader.readSync([0, 1, 2, 3]), contents);
  });
});

Deno.test("an existing file is replaced only with --force", async () => {
  await withTempDir(async (dir) => {
    await Deno.writeTextFile(`${dir}/data`, "data");
    await Deno.writeTextFile(`${dir}/a.ffr`, "mine");
    const args = ["write", `${dir}/a.ffr`, `${dir}/data`];
    assertFailed(
      await recordfs(args),
      1,
      /a\.ffr: it exists\. Replace it with --force/,
    );
    assert.equal(await Deno.readTextFile(`${dir}/a.ffr`), "mine");
    // A failure does not remove an existing file, even with --force.
    assertFailed(
      await recordfs([...args, "-f", "/nowhere"]),
      1,
      /no such file/,
    );
    assert.equal(await Deno.readTextFile(`${dir}/a.ffr`), "mine");
    await succeed([...args, "--force"]);
    await succeed(["check", `${dir}/a.ffr`]);
    await Deno.symlink("nowhere", `${dir}/b.ffr`);
    assertFailed(
      await recordfs(["write", `${dir}/b.ffr`, `${dir}/data`]),
      1,
      /it exists\./,
    );
  });
});

Deno.test("a failed write leaves nothing behind", async () => {
  await withTempDir(async (dir) => {
    await Deno.mkdir(`${dir}/out`);
    await Deno.writeTextFile(`${dir}/data`, "data");
    await run(["mkfifo", `${dir}/pipe`]);
    const list = `${dir}/data\n/nowhere\n`;
    await Deno.writeTextFile(`${dir}/list`, list);
    await Deno.writeTextFile(`${dir}/gap`, `${dir}/data\n\n${dir}/data\n`);
    await Deno.writeTextFile(`${dir}/lines`, '"QUJD"\n\n"QUJD"\n');
    const out = `${dir}/out/a.ffr`;
    const cases: [string[], RegExp][] = [
      [[`${dir}/data`, "/nowhere"], /Cannot open \/nowhere: there is no such/],
      [[`${dir}/data`, dir], /: it is a directory/],
      [[`${dir}/data`, `${dir}/pipe`], /pipe: it is not a regular file/],
      [["--list", `${dir}/list`], /list, line 2: .*\/nowhere.*no such file/],
      [["--list", `${dir}/gap`], /gap, line 2: it is empty/],
      [["--jsonl", `${dir}/lines`], /lines, line 2: it is empty/],
      [["--jsonl", "/nowhere"], /Cannot open \/nowhere/],
      [["--list", dir], /directory/],
    ];
    for (const [args, words] of cases) {
      assertFailed(await recordfs(["write", out, ...args]), 1, words);
      assert.deepEqual(namesIn(`${dir}/out`), [], args.join(" "));
    }
    const ran = await withInput(["write", out, "--jsonl", "-"], '"QUJD"\n"QU"');
    assertFailed(
      { ...ran, bytes: new Uint8Array() },
      1,
      /standard input, line 2: its base64 is invalid/,
    );
    assert.deepEqual(namesIn(`${dir}/out`), []);
  });
});

Deno.test("an invalid command line of write has exit code 2", async () => {
  const data = "/nowhere/data";
  const cases: [string[], RegExp][] = [
    [["a.ffr"], /SOURCE, --list and --jsonl exclude each other: give one/],
    [["a.ffr", data, "--list", data], /give one of them/],
    [["a.ffr", "--jsonl", data, "--list", data], /give one of them/],
    [["a.ffr", "--null", data], /--null needs --list/],
    [["a", data], /name of an FFRecord file must end in \.ffr/],
    [["", data], /is empty/],
    [["a.ffr", "--list", ""], /is empty/],
  ];
  for (const [args, words] of cases) {
    assertFailed(await recordfs(["write", ...args], { cwd: "/" }), 2, words);
  }
});

Deno.test({
  name: "write takes files whose names are not UTF-8 (needs bash)",
  ...needs("bash"),
  async fn() {
    await withTempDir(async (dir) => {
      const script = `
        printf one > $'a\\xff'; printf two > $'b\\xfe'
        "$0" run -A "$1" write a.ffr $'a\\xff' b* &&
        printf '%s\\n' * | grep -a $'[\\xfe\\xff]' |
          "$0" run -A "$1" write b.ffr --list <(cat)`;
      const ran = await runBash(script, [Deno.execPath(), CLI], { cwd: dir });
      assert.deepEqual([ran.stderr, ran.code], ["", 0]);
      for (const name of ["a", "b"]) {
        using reader = FFRecordReader.openSync(`${dir}/${name}.ffr`);
        const samples = reader.readSync([0, 1]);
        const texts = samples.map((bytes) => new TextDecoder().decode(bytes));
        assert.deepEqual([reader.length, texts], [2, ["one", "two"]]);
      }
    });
  },
});

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
  Deno.test(`${signal} ends write, and leaves nothing of the file`, async () => {
    await withTempDir(async (dir) => {
      const child = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", CLI, "write", `${dir}/a.ffr`, "--jsonl", "-"],
        stdin: "piped",
        stderr: "piped",
      }).spawn();
      const writer = child.stdin.getWriter();
      await writer.write(new TextEncoder().encode('"QUJD"\n'));
      while (namesIn(dir).length === 0) await pause(); // it waits for more
      child.kill(signal);
      const { code: ended, stderr } = await child.output();
      assert.deepEqual([ended, stderr.length], [code, 0]);
      assert.deepEqual(namesIn(dir), []);
      await writer.close().catch(() => {});
    });
  });
}

Deno.test({
  name: "write shows progress on a terminal only (needs script)",
  ...needs("script"),
  async fn() {
    await withTempDir(async (dir) => {
      await Deno.writeFile(`${dir}/data`, new Uint8Array(3_000_000));
      await Deno.writeTextFile(`${dir}/list`, `${dir}/data\n`);
      const onTerminal = async (args: string) => {
        const command = `'${Deno.execPath()}' run -A '${CLI}' write ${args}`;
        const ran = await run(["script", "-qec", command, "/dev/null"]);
        assert.equal(ran.code, 0, ran.stdout);
        return ran.stdout;
      };
      const bytes = await onTerminal(`${dir}/a.ffr ${dir}/data`);
      assert.match(bytes, /writing .*100% {2}[\d.]+ [kM]?B\/s {2}0s left/);
      const files = await onTerminal(`${dir}/b.ffr --list ${dir}/list`);
      assert.match(files, /writing .*100% {2}\d+ files\/s {2}0s left/);
      const unknown = await onTerminal(
        `${dir}/c.ffr --list - < ${dir}/list`,
      );
      assert.match(unknown, /writing 1 files/);
      const { stderr } = await succeed([
        "write",
        `${dir}/d.ffr`,
        `${dir}/data`,
      ]);
      assert.equal(stderr, "");
    });
  },
});

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}
