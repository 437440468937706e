/** Many shards and many threads in a process with a low limit of open files. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { output } from "../../fuse/support/mounting.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { FileServer } from "../../support/remote/file_server.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";

/** Number of shards: all threads together would exceed the limit. */
const SHARDS = 60;
const SAMPLES = 3;

function writeShards(dir: string, count: number, samples = SAMPLES): void {
  for (let i = 0; i < count; i++) {
    const name = String(i).padStart(6, "0");
    const members = Array.from({ length: samples }, (_, k) => ({
      name: `${name}${k}.txt`,
      data: `${name}${k}`,
    }));
    fs.writeFileSync(`${dir}/shard-${name}.tar`, tarBytes(members));
  }
}

/** Runs a module with a soft and hard limit of open files. */
function runLimited(limit: number, module: string, ...args: string[]) {
  return output(
    ...["prlimit", `--nofile=${limit}:${limit}`, Deno.execPath(), "run"],
    ...["-A", "--no-check", "--unstable-net", "--config"],
    ...[`${REPOSITORY}deno.json`, `${REPOSITORY}${module}`, ...args],
  );
}

Deno.test({
  name:
    "eight threads load 60 shards with 128 descriptors; with too few for the threads, the loader reports it and leaves nothing behind",
  ...needs("prlimit"),
  fn: () =>
    withTempDir(async (dir) => {
      writeShards(dir, SHARDS);
      const { stdout, stderr } = await output(
        ...[Deno.execPath(), "run", "-A", "--no-check", "--config"],
        ...[`${REPOSITORY}deno.json`],
        `${REPOSITORY}test/support/programs/descriptors_cli.ts`,
        ...[dir, "8"],
      );
      const [loaded, first, refused, left] = stdout.trimEnd().split("\n")
        .map((line) => JSON.parse(line));
      assert.deepEqual(loaded, { samples: SAMPLES * SHARDS }, stderr);
      for (const { code, message } of [first, refused]) {
        assert.equal(code, "EMFILE", message);
        assert.match(
          message,
          /^Cannot start 8 threads of a loader: too many files are open\. .*`ulimit -n`$/,
        );
      }
      assert.deepEqual(left.after, left.before);
      assert.equal(left.after.workers, 0);
    }),
});

Deno.test({
  name:
    "a server with too few descriptors for its threads reports it, and does not panic",
  ...needs("prlimit"),
  fn: () =>
    withTempDir(async (dir) => {
      writeShards(dir, 80);
      const { code, stdout, stderr } = await runLimited(
        ...[64, "cli.ts", "serve", "--no-token", "--workers", "8"] as const,
        ...["--port", "0", dir],
      );
      assert.deepEqual(
        { code, stdout, stderr },
        {
          code: 1,
          stdout: "",
          stderr:
            "recordfs: Cannot start 7 threads of the server: too many files are open. Raise the limit of the process with `ulimit -n`\n",
        },
      );
    }),
});

Deno.test({
  name: "files of many directories are extracted with 128 descriptors",
  ...needs("prlimit"),
  fn: () =>
    withTempDir(async (dir) => {
      fs.mkdirSync(`${dir}/in`);
      writeShards(`${dir}/in`, 250, 6);
      const { code, stderr } = await runLimited(
        ...[128, "cli.ts", "extract", "--sync", "none"] as const,
        ...[`${dir}/in`, `${dir}/out`],
      );
      assert.equal(code, 0, stderr);
      const files = fs.readdirSync(`${dir}/out`, { recursive: true })
        .filter((name) => String(name).endsWith(".txt"));
      assert.equal(files.length, 250 * 6);
    }),
});

Deno.test({
  name:
    "the command opens as many files as the hard limit permits, up to 65,536",
  ...needs("prlimit"),
  fn: () =>
    withTempDir(async (dir) => {
      writeShards(dir, 1);
      const script = `
        import { main } from ${
        JSON.stringify(`file://${REPOSITORY}src/cli/main.ts`)
      };
        const limit = (name) => Number(
          new RegExp("^Max open files +" + name, "m").exec(Deno.readTextFileSync("/proc/self/limits"))[1]
        );
        const args = ["--pid", String(Deno.pid), "--nofile=300:"];
        new Deno.Command("prlimit", { args }).outputSync();
        const [soft, hard] = ["(\\\\d+)", "\\\\d+ +(\\\\d+)"];
        const before = limit(soft);
        await main(["--version"]);
        const version = limit(soft);
        await main(["ls", ${JSON.stringify(`${dir}/shard-000000.tar`)}]);
        console.log(JSON.stringify([before, version, limit(soft), Math.min(limit(hard), 65536)]));
        Deno.exit();`;
      fs.writeFileSync(`${dir}/script.ts`, script);
      const { stdout, stderr } = await output(
        ...[Deno.execPath(), "run", "-A", "--no-check", "--config"],
        ...[`${REPOSITORY}deno.json`, `${dir}/script.ts`],
      );
      const last = stdout.trimEnd().split("\n").at(-1)!;
      assert.match(last, /^\[/, stderr);
      const [before, version, after, expected] = JSON.parse(last);
      assert.deepEqual([before, version, after], [300, 300, expected]);
    }),
});

for (const how of ["read", "mounted"]) {
  Deno.test({
    name:
      `400 shards on a server are ${how} with a cache where 384 files may be open`,
    ...needs("prlimit", ...how === "mounted" ? ["fuse"] as const : []),
    fn: () =>
      withTempDir(async (dir) => {
        const [www, cache, mnt] = ["www", "cache", "mnt"].map((name) => {
          fs.mkdirSync(`${dir}/${name}`, { mode: 0o700 });
          return `${dir}/${name}`;
        }) as [string, string, string];
        writeShards(www, 400);
        await using server = await FileServer.start(www);
        const url = `${server.url}/shard-{000000..000399}.tar`;
        const run = (...args: string[]) => runLimited(384, "cli.ts", ...args);
        const path = "shard-000399/0003992.txt";
        const kept = ["--cache-dir", cache];
        const ran = how === "read"
          ? await run("cat", url, path, ...kept)
          : await run("mount", url, mnt, ...kept);
        assert.deepEqual([ran.code, ran.stderr], [0, ""]);
        if (how === "read") assert.equal(ran.stdout, "0003992");
        else {
          try {
            assert.equal(await Deno.readTextFile(`${mnt}/${path}`), "0003992");
          } finally {
            await run("unmount", mnt);
          }
        }
        assert.equal(fs.globSync(`${cache}/objects/*/*/data`).length, 400);
      }),
  });
}
