import assert from "node:assert/strict";
import { FULL } from "../../support/long.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { makeSampleTree } from "../../support/sample_tree.ts";
import { withTmpfs } from "../../support/programs/tmpfs.ts";
import {
  assertFailed,
  CLI,
  recordfs,
  recordfsRefused,
  run,
  runBash,
  succeed,
} from "../run_cli.ts";

/** Lists a directory, hidden files included. */
function namesIn(dir: string): string[] {
  return [...Deno.readDirSync(dir)].map(({ name }) => name).sort();
}

/** Creates files whose content is their path. Paths with a trailing slash are directories. */
async function makeTree(dir: string, paths: readonly string[]): Promise<void> {
  await Deno.mkdir(dir, { recursive: true });
  for (const path of paths) {
    const parent = `${dir}/${path}`.replace(/[^/]*$/, "");
    await Deno.mkdir(parent, { recursive: true });
    if (!path.endsWith("/")) await Deno.writeTextFile(`${dir}/${path}`, path);
  }
}

/** Extracts a container, and compares it with a directory. */
async function assertHolds(
  container: string,
  original: string,
  dir: string,
): Promise<void> {
  await succeed(["extract", container, `${dir}/extracted`]);
  const difference = await run(["diff", "-r", original, `${dir}/extracted`]);
  assert.deepEqual([difference.stdout, difference.stderr], ["", ""]);
  await Deno.remove(`${dir}/extracted`, { recursive: true });
}

/** Returns the paths in a container, in its order. Directories have a trailing slash. */
async function pathsIn(container: string): Promise<string[]> {
  const { stdout } = await succeed(["ls", "-R", "--json", container]);
  const entries: { path: string; type: string }[] = JSON.parse(stdout);
  return entries.map(({ path, type }) =>
    type === "directory" ? `${path}/` : path
  );
}

Deno.test("--parts 1 creates a directory, unless the name is that of a file", async () => {
  await withTempDir(async (dir) => {
    await Deno.mkdir(`${dir}/in`);
    await Deno.writeTextFile(`${dir}/in/a`, "a");
    for (const out of ["parts", "dir.ffr/", "file.ffr"]) {
      await succeed(["pack", `${dir}/in`, `${dir}/${out}`, "--parts", "1"]);
      const file = out === "file.ffr" ? out : `${out}/PART_00000.ffr`;
      assert.equal((await Deno.stat(`${dir}/${file}`)).isFile, true);
      await assertHolds(`${dir}/${out}`, `${dir}/in`, dir);
    }
    const forced = ["pack", `${dir}/in`, `${dir}/file.ffr`, "--parts", "1"];
    await succeed([...forced, "--force"]);
  });
});

Deno.test("pack contains what the directory contains, in one file or in parts", async () => {
  await withTempDir(async (dir) => {
    const files = makeSampleTree(dir);
    const original = `${dir}/original`;
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    const found = await run(["find", original, "-mindepth", "1", "-type", "d"]);
    const directories = found.stdout.trim().split("\n").length;
    const { stdout } = await succeed(["pack", original, `${dir}/a.ffr`]);
    assert.match(
      stdout,
      new RegExp(
        `/a\\.ffr: ${files.length} files, ${directories} directories, ${bytes} b`,
      ),
    );
    await assertHolds(`${dir}/a.ffr`, original, dir);

    const args = ["pack", original, `${dir}/parts`, "--parts", "3", "--json"];
    const { seconds, ...report } = JSON.parse((await succeed(args)).stdout);
    assert.ok(seconds > 0);
    assert.deepEqual(report, {
      files: files.length,
      directories,
      bytes,
      paths: [0, 1, 2].map((i) => `${dir}/parts/PART_0000${i}.ffr`),
      skipped: [],
    });
    await assertHolds(`${dir}/parts`, original, dir);
  });
});

Deno.test({
  name: "pack accepts any names, including that of the directory (needs bash)",
  ...needs("bash"),
  async fn() {
    await withTempDir(async (dir) => {
      const script = `mkdir -p $'odd\\xff/sub\\xfe/empty' &&
        printf one > $'odd\\xff/a\\x80' && printf two > $'odd\\xff/sub\\xfe/\\xc3' &&
        "$0" run -A "$1" pack $'odd\\xff' a.ffr --exclude $'a\\x80' >&2 &&
        "$0" run -A "$1" extract a.ffr out >&2 && cd out && find . -print`;
      const { bytes, stderr, code } = await runBash(script, [
        Deno.execPath(),
        CLI,
      ], { cwd: dir });
      assert.equal(code, 0, stderr);
      const names = new TextDecoder("latin1").decode(bytes).trim().split("\n");
      assert.deepEqual(
        names.sort(),
        [
          ".",
          "./sub\xfe",
          "./sub\xfe/empty",
          "./sub\xfe/\xc3",
        ].sort(),
      );
    });
  },
});

Deno.test("pack chooses files by --include and --exclude", async () => {
  await withTempDir(async (dir) => {
    const paths = [
      "a.jpg",
      "a.txt",
      "sub/a.jpg",
      "sub/x/b.txt",
      "tmp/c.jpg",
      "e/",
    ];
    await makeTree(`${dir}/data`, paths);
    const packed = async (...options: string[]) => {
      await succeed(["pack", "-f", `${dir}/data`, `${dir}/a.ffr`, ...options]);
      return await pathsIn(`${dir}/a.ffr`);
    };
    assert.deepEqual(await packed(), [
      ...["a.jpg", "a.txt", "e/", "sub/", "sub/a.jpg", "sub/x/"],
      ...["sub/x/b.txt", "tmp/", "tmp/c.jpg"],
    ]);
    assert.deepEqual(
      await packed("--include", "*.jpg", "--include=/a.*", "--exclude", "tmp"),
      ["a.jpg", "a.txt", "sub/", "sub/a.jpg"],
    );
    assert.deepEqual(
      await packed("--exclude", "sub/**", "--exclude=*.{jpg,txt}"),
      ["e/", "sub/", "tmp/"],
    );
  });
});

Deno.test("pack replaces only with --force, and never a directory", async () => {
  await withTempDir(async (dir) => {
    await makeTree(`${dir}/data`, ["a"]);
    const out = `${dir}/a.ffr`;
    await Deno.writeTextFile(out, "mine");
    const args = ["pack", `${dir}/data`, out];
    assertFailed(
      await recordfs(args),
      1,
      /it exists\. Replace it with --force/,
    );
    assert.equal(await Deno.readTextFile(out), "mine");
    await succeed([...args, "--force"]);
    assert.deepEqual(await pathsIn(out), ["a"]);
    const parts = ["pack", `${dir}/data`, `${dir}/data`, "--parts", "2"];
    assertFailed(await recordfs(parts), 1, /exists and is not empty/);
    assert.deepEqual(namesIn(dir), ["a.ffr", "data"]);
  });
});

Deno.test("an invalid command line of pack has exit code 2", async () => {
  const cases: [string[], RegExp][] = [
    [["d"], /missing required argument 'target'/],
    [["", "a.ffr"], /is empty/],
    [["d", ""], /is empty/],
    [["d", "a"], /name of an FFRecord file must end in \.ffr/],
    [["d", "a", "--parts", "0"], /--parts .*'0'.*from 1 on/],
    [["d", "a", "--parts", "2.5"], /'2\.5'/],
    [["d", "a", "--parts", "2", "--force"], /--force replaces a file/],
    [["d", "a.ffr", "--include", "{a"], /pattern '\{a' is invalid/],
  ];
  for (const [args, words] of cases) {
    assertFailed(await recordfsRefused(["pack", ...args]), 2, words);
  }
  assertFailed(
    await recordfs(["pack", "/nowhere", "/tmp/nowhere.ffr"]),
    1,
    /Cannot pack \/nowhere: /,
  );
});

Deno.test("pack lists entries that cannot be packed, and writes nothing", async () => {
  await withTempDir(async (dir) => {
    await makeTree(`${dir}/data`, ["a", "sub/b"]);
    await Deno.symlink("nowhere", `${dir}/data/sub/link`);
    await Deno.symlink("..", `${dir}/data/sub/round`);
    await run(["mkfifo", `${dir}/data/pipe`]);
    const args = ["pack", `${dir}/data`, `${dir}/a.ffr`];
    const told = [
      /^recordfs: \/.*\/data\/pipe: it is a socket, a pipe or a device$/m,
      /^recordfs: \/.*\/data\/sub\/link: it is a symbolic link to nowhere$/m,
      /^recordfs: \/.*\/data\/sub\/round: it is a link to a folder/m,
    ];
    const refused = await recordfs(args);
    for (const words of told) assert.match(refused.stderr, words);
    assert.match(
      refused.stderr,
      /^recordfs: Cannot pack 3 entries of .*; nothing was written\. Skip them with --skip-problems/m,
    );
    assert.deepEqual(
      [refused.code, refused.stdout, refused.stderr.split("\n").length],
      [1, "", 5],
    );
    assert.deepEqual(namesIn(dir), ["data"]);

    const packed = await recordfs([...args, "--skip-problems", "--json"]);
    for (const words of told) assert.match(packed.stderr, words);
    assert.match(packed.stderr, /^recordfs: 3 entries of .* were not packed$/m);
    assert.equal(packed.code, 1);
    const { files, skipped } = JSON.parse(packed.stdout);
    assert.equal(files, 2);
    assert.deepEqual(
      skipped.map(({ path, code }: Record<string, string>) => [path, code]),
      [
        ["pipe", "special-file"],
        ["sub/link", "broken-link"],
        ["sub/round", "cycle"],
      ],
    );
    assert.deepEqual(await pathsIn(`${dir}/a.ffr`), ["a", "sub/", "sub/b"]);

    // Entries that are excluded are no problem.
    await succeed([...args, "-f", "--exclude", "pipe", "--exclude", "sub"]);
    assert.deepEqual(await pathsIn(`${dir}/a.ffr`), ["a"]);
  });
});

Deno.test("pack skips its own output", async () => {
  await withTempDir(async (dir) => {
    await makeTree(dir, ["a", "b"]);
    for (const force of [[], ["-f"]]) {
      const ran = await recordfs(["pack", ".", "out.ffr", ...force], {
        cwd: dir,
      });
      assert.equal(ran.code, 0);
      const lines = force.length === 0 ? 0 : 1; // the output does not exist yet the first time
      assert.equal(ran.stderr.split("\n").length - 1, lines);
      if (lines > 0) {
        assert.match(
          ran.stderr,
          /^recordfs: warning: out\.ffr: it is the output itself/,
        );
      }
      assert.deepEqual(await pathsIn(`${dir}/out.ffr`), ["a", "b"]);
    }
  });
});

Deno.test("pack needs only --allow-read and --allow-write", async () => {
  await withTempDir(async (dir) => {
    await makeTree(`${dir}/data`, ["a", "sub/b"]);
    const permissions = [`--allow-read=${dir}`, `--allow-write=${dir}`];
    const include = ["--include", "*"];
    await succeed(["pack", `${dir}/data`, `${dir}/a.ffr`, ...include], {
      permissions,
    });
    await succeed(["write", `${dir}/b.ffr`, `${dir}/data/a`], { permissions });
    for (
      const args of [
        ["pack", `${dir}/data`, `${dir}/c.ffr`],
        ["write", `${dir}/c.ffr`, `${dir}/data/a`],
      ]
    ) {
      const ran = await recordfs(args, { permissions: ["--allow-read"] });
      assertFailed(ran, 1, /write access.*--allow-read --allow-write/);
    }
  });
});

Deno.test({
  name: "a full disk is reported in one line, and changes nothing (needs root)",
  ...needs("root"),
  async fn() {
    await withTempDir(async (dir) => {
      await makeTree(`${dir}/data`, ["a"]);
      await Deno.writeFile(`${dir}/data/b`, new Uint8Array(3_000_000));
      await withTmpfs("2m", async (small) => {
        const out = `${small}/a.ffr`;
        await Deno.writeTextFile(out, "mine");
        for (
          const args of [
            ["pack", "-f", `${dir}/data`, out],
            ["pack", `${dir}/data`, `${small}/parts`, "--parts", "2"],
            ["write", "-f", out, `${dir}/data/b`],
          ]
        ) {
          assertFailed(await recordfs(args), 1, /the disk is full/);
          assert.deepEqual(namesIn(small), ["a.ffr"]);
        }
        assert.equal(await Deno.readTextFile(out), "mine");
      });
    });
  },
});

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
  for (const parts of FULL ? [1, 2] : [signal === "SIGINT" ? 1 : 2]) {
    Deno.test(`${signal} ends pack of ${parts} and leaves nothing`, async () => {
      await withTempDir(async (dir) => {
        await makeTree(`${dir}/data`, ["a"]);
        using file = await Deno.create(`${dir}/data/large`);
        await file.truncate(4 * 2 ** 30); // more than can be read before the signal
        await Deno.mkdir(`${dir}/out`);
        const out = parts === 1 ? "a.ffr" : "parts";
        const child = new Deno.Command(Deno.execPath(), {
          args: [
            ...["run", "-A", CLI, "pack", `${dir}/data`, `${dir}/out/${out}`],
            ...["--parts", String(parts)],
          ],
          stderr: "piped",
        }).spawn();
        const ended = child.output();
        while (namesIn(`${dir}/out`).length === 0) await pause();
        child.kill(signal);
        const { code: actual, stderr } = await ended;
        assert.deepEqual([actual, stderr.length], [code, 0]);
        assert.deepEqual(namesIn(`${dir}/out`), []);
      });
    });
  }
}

Deno.test({
  name: "pack shows progress on a terminal only (needs script)",
  ...needs("script"),
  async fn() {
    await withTempDir(async (dir) => {
      await makeTree(`${dir}/data`, ["a", "b"]);
      await Deno.writeFile(`${dir}/data/c`, new Uint8Array(5_000_000));
      const command = `'${Deno.execPath()}' run -A '${CLI}' pack ${dir}/data ` +
        `${dir}/a.ffr`;
      const ran = await run(["script", "-qec", command, "/dev/null"]);
      assert.equal(ran.code, 0);
      assert.match(ran.stdout, /listing \d+ files/);
      assert.match(ran.stdout, /packing .*100% {2}[\d.]+ [kM]?B\/s {2}0s left/);
      await succeed(["pack", `${dir}/data`, `${dir}/b.ffr`]);
    });
  },
});

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}
