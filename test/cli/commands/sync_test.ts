/** Which files commands flush to the disk before they end. */
import assert from "node:assert/strict";
import { ffrBytes, packedSamples } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { CLI, recordfs, run, succeed } from "../run_cli.ts";

/** Runs a command under strace, and counts its flushing system calls. */
async function syncs(
  dir: string,
  args: readonly string[],
): Promise<Record<"fsync" | "syncfs", number>> {
  const log = `${dir}/trace`;
  const trace = ["strace", "-f", "-y", "-e", "trace=fsync,fdatasync,syncfs"];
  const deno = [Deno.execPath(), "run", "-A", CLI];
  const ran = await run([...trace, "-o", log, ...deno, ...args]);
  assert.equal(ran.code, 0, ran.stderr);
  const calls = (await Deno.readTextFile(log)).split("\n")
    .filter((line) => line.includes(`<${dir}`)) // not Deno's own files
    .flatMap((line) => /(\w+)\(\d+</.exec(line)?.[1] ?? []);
  return {
    fsync: calls.filter((call) => call !== "syncfs").length,
    syncfs: calls.filter((call) => call === "syncfs").length,
  };
}

const FILES = ["a", "b", "c"];

async function makeContainer(dir: string): Promise<string> {
  const file = `${dir}/in.ffr`;
  const content = new TextEncoder().encode("content");
  const tree = Object.fromEntries(FILES.map((name) => [name, content]));
  await Deno.writeFile(file, ffrBytes(packedSamples(tree)));
  return file;
}

Deno.test({
  name:
    "extract flushes to the disk once, for each file as well, or not at all",
  ...needs("strace"),
  fn: () =>
    withTempDir(async (dir) => {
      const file = await makeContainer(dir);
      const extract = (out: string, ...options: string[]) =>
        syncs(dir, ["extract", file, `${dir}/${out}`, ...options]);
      assert.deepEqual(await extract("1"), { fsync: 0, syncfs: 1 });
      assert.deepEqual(await extract("2", "--sync", "end"), {
        fsync: 0,
        syncfs: 1,
      });
      assert.deepEqual(await extract("3", "--sync", "files"), {
        fsync: FILES.length,
        syncfs: 1,
      });
      assert.deepEqual(await extract("4", "--sync", "none"), {
        fsync: 0,
        syncfs: 0,
      });
      for (const out of ["1", "2", "3", "4"]) {
        const { stdout } = await run(["ls", `${dir}/${out}`]);
        assert.deepEqual(stdout.trim().split("\n"), FILES);
      }
    }),
});

Deno.test({
  name: "pack flushes its file and the file's name, or nothing",
  ...needs("strace"),
  fn: () =>
    withTempDir(async (dir) => {
      await Deno.mkdir(`${dir}/in`);
      for (const name of FILES) {
        await Deno.writeTextFile(`${dir}/in/${name}`, "");
      }
      const pack = (out: string, ...options: string[]) =>
        syncs(dir, ["pack", `${dir}/in`, `${dir}/${out}`, ...options]);
      assert.deepEqual(await pack("1.ffr"), { fsync: 2, syncfs: 0 });
      const none = ["--sync", "none"];
      assert.deepEqual(await pack("2.ffr", ...none), { fsync: 0, syncfs: 0 });
      const parts = ["--parts", "2"];
      // Each part and its name, and then the directory's name.
      assert.deepEqual(await pack("3", ...parts), { fsync: 5, syncfs: 0 });
      assert.deepEqual(await pack("4", ...parts, ...none), {
        fsync: 0,
        syncfs: 0,
      });
      const [one, two] = ["1.ffr", "2.ffr"].map((out) => `${dir}/${out}`);
      assert.equal((await run(["cmp", one!, two!])).code, 0);
    }),
});

Deno.test("without FFI, extract reports that nothing is flushed", async () => {
  await withTempDir(async (dir) => {
    const file = await makeContainer(dir);
    const permissions = ["--allow-read", "--allow-write"];
    const options = { permissions };
    const said = await recordfs(["extract", file, `${dir}/1`], options);
    assert.equal(said.code, 0, said.stderr);
    assert.match(said.stderr, /may not be on the disk yet.*--allow-ffi/);
    const none = ["extract", file, `${dir}/2`, "--sync", "none"];
    await succeed(none, options);
  });
});

Deno.test("--sync accepts only these values", async () => {
  for (const command of [["extract", "a", "b"], ["pack", "a", "b.ffr"]]) {
    const ran = await recordfs([...command, "--sync", "later"]);
    assert.equal(ran.code, 2);
    assert.match(ran.stderr, /later.*none/s);
  }
});
