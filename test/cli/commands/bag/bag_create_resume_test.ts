/** `recordfs bag create` of generation 3 can be resumed. The other generations leave nothing behind. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { setTimeout } from "node:timers/promises";
import { filesBelow } from "../../../support/bags/naive_bags.ts";
import { withTempDir } from "../../../support/paths.ts";
import { send } from "../../../support/programs/processes.ts";
import { needs } from "../../../support/programs/programs.ts";
import { withTmpfs } from "../../../support/programs/tmpfs.ts";
import { until } from "../../mount/mount_place.ts";
import { assertFailed, CLI, recordfs, succeed } from "../../run_cli.ts";

const SPEC = '{"n": "int", "raw": "bytes"}';
const COUNT = 4000;

/** Writes lines of several kilobytes each, so that they are processed in many chunks. */
function writeLines(path: string): void {
  const lines = Array.from({ length: COUNT }, (_, n) => {
    const raw = new Uint8Array(3000 + n % 1000).fill(n).toBase64();
    return `{"n": ${n}, "raw": {"$bytes": "${raw}"}}\n`;
  });
  fs.writeFileSync(path, lines.join(""));
}

Deno.test("a killed process can be resumed, with the result of an uninterrupted one", async () => {
  await withTempDir(async (dir) => {
    const lines = `${dir}/lines`;
    writeLines(lines);
    for (const shards of [[], ["--shard-length", "900"]]) {
      const [whole, killed] = [`${dir}/whole`, `${dir}/killed`];
      for (const path of [whole, killed]) {
        fs.rmSync(path, { recursive: true, force: true });
      }
      const args = ["--spec", SPEC, ...shards];
      await succeed(["bag", "create", whole, lines, ...args]);
      const child = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", CLI, "bag", "create", killed, "-", ...args],
        stdin: "piped",
        stdout: "null",
        stderr: "null",
      }).spawn();
      // The command waits for more lines, since standard input stays open.
      const input = child.stdin.getWriter();
      const written = input.write(fs.readFileSync(lines)).catch(() => {});
      await until(() => sizeBelow(killed) > 2_000_000);
      send(child.pid, "SIGKILL");
      const { signal } = await child.status;
      assert.equal(signal, "SIGKILL");
      await written;
      await input.abort().catch(() => {});
      // The state after a kill at the start of a dataset or shard.
      const last = shards.length === 0
        ? killed
        : `${killed}/${fs.readdirSync(killed).sort().at(-1)}`;
      fs.writeFileSync(`${last}/.spec.json.recordfs-1-1.part`, "{");
      const again = ["bag", "create", killed, lines, ...args];
      assertFailed(
        await recordfs(again),
        1,
        /datapoints already\. Add the others with --resume/,
      );
      const { stdout } = await succeed([...again, "--resume"]);
      assert.match(stdout, /4000 datapoints \(\d+ of them written before\), /);
      assert.deepEqual(filesBelow(killed), filesBelow(whole));
      const nothing = await succeed([...again, "--resume", "--json"]);
      const { datapoints, added } = JSON.parse(nothing.stdout);
      assert.deepEqual([datapoints, added], [COUNT, 0]);
    }
  });
});

Deno.test("shards of a directory can be resumed, too", async () => {
  await withTempDir(async (dir) => {
    for (let shard = 0; shard < 3; shard++) {
      for (let row = 0; row < 2; row++) {
        const path = `${dir}/in/00000${shard}/00000${row}`;
        fs.mkdirSync(path, { recursive: true });
        fs.writeFileSync(`${path}/n`, `${shard}${row}`);
      }
    }
    const args = ["--spec", '{"n": "int"}'];
    const whole = ["bag", "create", `${dir}/whole`, `${dir}/in`, ...args];
    await succeed(whole);
    const moved = `${dir}/in/000001/000001/n`;
    fs.renameSync(moved, `${dir}/n`);
    const out = ["bag", "create", `${dir}/out`, `${dir}/in`, ...args];
    const failed = await recordfs(out);
    assertFailed(
      failed,
      1,
      /000001\/000001: .*it has no 'n'.*has 3 datapoints;/,
    );
    fs.renameSync(`${dir}/n`, moved);
    const { stdout } = await succeed([...out, "--resume"]);
    assert.match(
      stdout,
      /: 6 datapoints \(3 of them written before\), .* 3 shards/,
    );
    assert.deepEqual(filesBelow(`${dir}/out`), filesBelow(`${dir}/whole`));
    fs.rmSync(`${dir}/in/000002/000001`, { recursive: true });
    assertFailed(
      await recordfs([...out, "--resume"]),
      1,
      /in: it has 1 datapoint, fewer than the 2 that are written already/,
    );
  });
});

for (const generation of ["2", "3"]) {
  Deno.test(
    `Ctrl-C ends generation ${generation} and leaves ${
      generation === "3" ? "what is complete" : "nothing"
    }`,
    async () => {
      await withTempDir(async (dir) => {
        fs.mkdirSync(`${dir}/out`);
        const out = `${dir}/out/a`;
        const args = ["bag", "create", out, "--spec", '{"n": "int"}'];
        const child = new Deno.Command(Deno.execPath(), {
          args: ["run", "-A", CLI, ...args, "--generation", generation],
          stdin: "piped",
          stdout: "null",
          stderr: "piped",
        }).spawn();
        const writer = child.stdin.getWriter();
        await writer.write(new TextEncoder().encode('{"n": 1}\n{"n": 2}\n'));
        await until(() => fs.readdirSync(`${dir}/out`).length > 0);
        await setTimeout(300); // the lines may have been read by now; in either case nothing is partial
        child.kill("SIGINT");
        const { code, stderr } = await child.output();
        await writer.close().catch(() => {});
        assert.equal(code, 130);
        const said = new TextDecoder().decode(stderr);
        if (generation === "2") {
          assert.equal(said, "");
          assert.deepEqual(fs.readdirSync(`${dir}/out`), []);
          return;
        }
        // If the command ended before the first datapoint, there is nothing to resume.
        const { size } =
          fs.statSync(`${out}/n.bag`, { throwIfNoEntry: false }) ?? { size: 0 };
        assert.match(
          said,
          size > 0
            ? /^recordfs: stopped: .*a has 2 datapoints; add the others with --resume/
            : /^$/,
        );
        fs.writeFileSync(`${dir}/lines`, '{"n": 1}\n{"n": 2}\n{"n": 3}\n');
        await succeed([...args.toSpliced(3, 0, `${dir}/lines`), "--resume"]);
        await succeed([
          "bag",
          "create",
          `${dir}/b`,
          `${dir}/lines`,
          ...args.slice(3),
        ]);
        assert.deepEqual(filesBelow(out), filesBelow(`${dir}/b`));
      });
    },
  );
}

/** Returns the size of the files below a directory that is being written, in bytes. */
function sizeBelow(directory: string): number {
  if (!fs.existsSync(directory)) return 0;
  const names = fs.readdirSync(directory, { recursive: true }) as string[];
  return names.reduce((sum, name) => {
    const stat = fs.statSync(`${directory}/${name}`, { throwIfNoEntry: false });
    return sum + (stat?.isFile() ? stat.size : 0);
  }, 0);
}

Deno.test({
  name: "a full disk is reported without a wrong number, and can be resumed",
  ...needs("root"),
  async fn() {
    await withTmpfs("2m", async (dir, remount) => {
      await withTempDir(async (inputs) => {
        const lines = `${inputs}/lines`;
        writeLines(lines);
        const args = ["bag", "create", `${dir}/a`, lines, "--spec", SPEC];
        const { stderr } = await recordfs(args);
        assert.match(
          stderr,
          /disk is full.* keeps the datapoints written so far/,
        );
        assert.doesNotMatch(stderr, /has \d+ datapoints/);
        await remount("size=40m");
        const { stdout } = await succeed([...args, "--resume"]);
        assert.match(stdout, /4000 datapoints/);
      });
    });
  },
});
