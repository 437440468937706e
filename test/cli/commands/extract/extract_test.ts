import assert from "node:assert/strict";
import { goldenCase, sha256 } from "../../../support/golden.ts";
import { ffrBytes, packedSamples } from "../../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../../support/paths.ts";
import { send } from "../../../support/programs/processes.ts";
import { assertFailed, CLI, recordfs, run, succeed } from "../../run_cli.ts";

const tree = goldenCase("ffrecord/packed_tree");
const { entries } = tree.content;

/** Lists everything below a directory by find(1), which prints names as their bytes. */
async function found(directory: string): Promise<string[]> {
  const { bytes } = await run(
    ["find", directory, "-mindepth", "1", "-printf", "%P %y\\0"],
  );
  return bytes.toHex().match(/(?:..)*?00/g)?.map((hex) => hex.slice(0, -2))
    .sort() ?? [];
}

function hexOf(text: string): string {
  return new TextEncoder().encode(text).toHex();
}

Deno.test("extract writes every file and directory", async () => {
  await withTempDir(async (dir) => {
    await succeed(["extract", tree.path, `${dir}/new/out`]);
    const expected = entries.map(({ path, type }) =>
      hexOf(`${path} ${type === "file" ? "f" : "d"}`)
    );
    assert.deepEqual(await found(`${dir}/new/out`), expected.sort());
    const { mtime } = await Deno.stat(tree.path);
    for (const entry of entries) {
      if (entry.type !== "file") continue;
      const path = `${dir}/new/out/${entry.path}`;
      assert.equal(sha256(await Deno.readFile(path)), entry.sha256, path);
      assert.deepEqual((await Deno.stat(path)).mtime, mtime);
    }
  });
});

Deno.test("extract keeps names that are not UTF-8", async () => {
  const { path, content } = goldenCase("ffrecord/packed_not_utf8_names");
  await withTempDir(async (dir) => {
    await succeed(["extract", path, dir]);
    const expected = content.entries.map(({ path_bytes, type }) =>
      path_bytes! + hexOf(type === "file" ? " f" : " d")
    );
    assert.deepEqual(await found(dir), expected.sort());
    const sums = await run(
      ["sh", "-c", `cd "$0" && find . -type f -exec sha256sum {} +`, dir],
    );
    const actual = sums.stdout.match(/[0-9a-f]{64}/g)!.sort();
    const files = content.entries.filter(({ type }) => type === "file");
    assert.deepEqual(actual, files.map(({ sha256 }) => sha256).sort());
  });
});

Deno.test("extract of some paths writes no others", async () => {
  await withTempDir(async (dir) => {
    const args = ["extract", tree.path, dir, "words", "words/Å", "..."];
    await succeed(args);
    const expected = entries.filter(({ path }) =>
      path === "..." || path === "words" || path.startsWith("words/")
    ).map(({ path, type }) => hexOf(`${path} ${type === "file" ? "f" : "d"}`));
    assert.deepEqual(await found(dir), expected.sort());
    const ran = await recordfs(["extract", tree.path, `${dir}/2`, "nope"]);
    assert.match(ran.stderr, /'nope'.*no such file/);
    assert.equal(ran.code, 1);
    assert.deepEqual(await found(`${dir}/2`), []);
  });
});

Deno.test("extract overwrites only on request", async () => {
  await withTempDir(async (dir) => {
    await Deno.writeTextFile(`${dir}/...`, "mine");
    const ran = await recordfs(["extract", tree.path, dir, "..."]);
    assert.match(ran.stderr, /it exists\. Replace it with --force/);
    assert.equal(ran.code, 1);
    assert.equal(await Deno.readTextFile(`${dir}/...`), "mine");
    for (const flag of ["--force", "-f", "--overwrite"]) {
      await Deno.writeTextFile(`${dir}/...`, "mine");
      await succeed(["extract", flag, tree.path, dir, "..."]);
      assert.equal((await Deno.stat(`${dir}/...`)).size, 28);
    }
    await Deno.mkdir(`${dir}/2/...`, { recursive: true });
    const blocked = await recordfs([
      "extract",
      "-f",
      tree.path,
      `${dir}/2`,
      "...",
    ]);
    assert.match(blocked.stderr, /2\/\.\.\.: it is a directory$/m);
    assert.equal(blocked.code, 1);
  });
});

Deno.test("extract follows no symbolic link out of the directory", async () => {
  await withTempDir(async (dir) => {
    await Deno.mkdir(`${dir}/outside`);
    await Deno.mkdir(`${dir}/out`);
    await Deno.writeTextFile(`${dir}/outside/target`, "untouched");
    await Deno.symlink(`${dir}/outside`, `${dir}/out/words`);
    await Deno.symlink(`${dir}/outside/target`, `${dir}/out/...`);
    await Deno.symlink(`${dir}/outside/made`, `${dir}/out/.hidden`);
    const ran = await recordfs(["extract", "--force", tree.path, `${dir}/out`]);
    assert.match(ran.stderr, /out\/words: it is a symbolic link/);
    assert.equal(ran.code, 1);
    assert.deepEqual(await found(`${dir}/outside`), [hexOf("target f")]);
    assert.equal(
      await Deno.readTextFile(`${dir}/outside/target`),
      "untouched",
    );
    // Links in place of files were replaced, because of --force.
    assert.equal((await Deno.lstat(`${dir}/out/...`)).isFile, true);
    assert.equal((await Deno.lstat(`${dir}/out/.hidden`)).isFile, true);
  });
});

Deno.test("extract refuses names that lead out of the directory", async () => {
  const { path } = goldenCase("ffrecord/hostile_traversal");
  await withTempDir(async (dir) => {
    const ran = await recordfs(["extract", path, `${dir}/in/out`]);
    assertFailed(ran, 1, /lead out/);
    const names = await found(dir);
    assert.ok(
      names.every((name) => !name.includes(hexOf("up.txt"))),
      "nothing may be written outside",
    );
  });
});

Deno.test("extract names damaged files, and writes the others", async () => {
  const { path, content } = goldenCase("ffrecord/bad_flip_sample");
  await withTempDir(async (dir) => {
    const ran = await recordfs(["extract", path, `${dir}/a`]);
    assert.equal(ran.code, 1);
    const bad = content.samples.findIndex(({ error }) => error);
    assert.match(
      ran.stderr,
      new RegExp(
        `read '${String(bad).padStart(6, "0")}' .*: checksum mismatch`,
      ),
    );
    const good = content.samples.flatMap(({ error }, i) =>
      error ? [] : [hexOf(`${String(i).padStart(6, "0")} f`)]
    );
    assert.deepEqual(await found(`${dir}/a`), good);
    await succeed(["extract", "--no-verify", path, `${dir}/b`]);
    assert.equal((await found(`${dir}/b`)).length, content.n);
  });
});

Deno.test("extract streams large files, and a damaged one leaves nothing", async () => {
  await withTempDir(async (dir) => {
    const sample = new Uint8Array(9_000_000).map((_, i) => i * 3 >> 2);
    const bytes = ffrBytes([sample, sample]);
    bytes[bytes.length - 1]! ^= 1;
    await Deno.writeFile(`${dir}/a.ffr`, bytes);
    const ran = await recordfs(["extract", `${dir}/a.ffr`, `${dir}/out`]);
    assert.match(ran.stderr, /read '000001' of .*: checksum mismatch/);
    assert.equal(ran.code, 1);
    assert.deepEqual(await found(`${dir}/out`), [hexOf("000000 f")]);
    const written = await Deno.readFile(`${dir}/out/000000`);
    assert.equal(sha256(written), sha256(sample));
  });
});

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  Deno.test(`${signal} ends extract and leaves no partial file`, async () => {
    await withTempDir(async (dir) => {
      const files: Record<string, Uint8Array> = {};
      for (let i = 0; i < 60_000; i++) {
        files[`f${i}`] = new TextEncoder().encode(`content of ${i}`);
      }
      await Deno.writeFile(`${dir}/a.ffr`, ffrBytes(packedSamples(files)));
      const extract = async () => {
        const child = new Deno.Command(Deno.execPath(), {
          args: ["run", "-A", CLI, "extract", `${dir}/a.ffr`, `${dir}/out`],
          stderr: "piped",
        }).spawn();
        const out = child.output();
        while (!await hasEntries(`${dir}/out`)) await pause();
        send(child.pid, signal);
        return await out;
      };
      let { code, stderr } = await extract();
      for (let again = 0; code === 0 && again < 20; again++) { // it ended before the signal
        await Deno.remove(`${dir}/out`, { recursive: true });
        ({ code, stderr } = await extract());
      }
      const number = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 }[signal];
      assert.deepEqual([code, stderr.length], [128 + number, 0]);
      let written = 0;
      for await (const { name } of Deno.readDir(`${dir}/out`)) {
        const text = await Deno.readTextFile(`${dir}/out/${name}`);
        assert.equal(text, `content of ${name.slice(1)}`);
        written++;
      }
      assert.ok(written > 0 && written < 60_000, `${written} files`);
    });
  });
}

async function hasEntries(directory: string): Promise<boolean> {
  try {
    for await (const _ of Deno.readDir(directory)) return true;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return false;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}
