/** `mount --replace`: another server takes over a live mount. */
import assert from "node:assert/strict";
import { isRunning, namesIn, until } from "../cli/mount/mount_place.ts";
import {
  COUNT,
  pathOfRecord,
  record,
  serverOf,
  SIZE,
  test,
  testWith,
} from "./numbers_mount.ts";
import { startReaders } from "./readers.ts";

test(
  "a server is replaced by one with other options while it is read",
  async (place, source) => {
    const { mountpoint } = place;
    const { supervised: { supervisor } } = await record(place);
    const readers = startReaders(mountpoint, 4, COUNT, SIZE);
    const pids = new Set([(await record(place)).pid]);
    for (const option of ["--workers=1", "--trace", "--workers=2"]) {
      const { stderr, code } = await place.recordfs(
        "mount",
        "--replace",
        option,
        source,
        mountpoint,
      );
      assert.deepEqual([stderr, code], ["", 0]);
      const { pid } = await record(place);
      pids.add(pid);
      const command = await Deno.readTextFile(`/proc/${pid}/cmdline`);
      assert.ok(command.split("\0").includes(option));
    }
    assert.equal(pids.size, 4);
    const log = async () => await Deno.readTextFile((await record(place)).log);
    assert.equal((await log()).match(/as mount --replace asks/g)?.length, 3);
    assert.doesNotMatch(await log(), /died/);
    // The successor of a killed server has the options of the last --replace.
    const { pid } = await record(place);
    Deno.kill(pid, "SIGKILL");
    await until(async () => (await record(place)).pid !== pid);
    const command = await Deno.readTextFile(
      `/proc/${(await record(place)).pid}/cmdline`,
    );
    assert.ok(command.split("\0").includes("--workers=2"));
    assert.match(await log(), /the server died \(signal 9\)/);
    for (const { wrong } of await readers.stop()) assert.deepEqual(wrong, []);
    assert.equal((await place.recordfs("unmount", mountpoint)).code, 0);
    assert.equal(await isRunning(supervisor.pid), false);
    assert.deepEqual(await namesIn(place.state), []);
  },
);

testWith(
  { options: ["--workers=1"] },
  "a mount gets more threads than it started with, and keeps them after its server is killed",
  async (place, source) => {
    const { mountpoint } = place;
    const readers = startReaders(mountpoint, 4, COUNT, SIZE);
    for (const workers of [4, 12]) {
      const args = ["mount", "--replace", `--workers=${workers}`];
      const { stderr, code } = await place.recordfs(
        ...args,
        source,
        mountpoint,
      );
      assert.deepEqual([stderr, code], ["", 0]);
      const { pid } = await record(place);
      assert.equal(await threadsOf(pid), workers);
      await Deno.readFile(`${mountpoint}/000004`);
      Deno.kill(pid, "SIGKILL");
      await until(async () => (await record(place)).pid !== pid);
      assert.equal(await threadsOf((await record(place)).pid), workers);
    }
    for (const { read, wrong } of await readers.stop()) {
      assert.deepEqual(wrong, []);
      assert.ok(read > 0);
    }
  },
);

/** Counts the serving threads of a server. */
async function threadsOf(pid: number): Promise<number> {
  const threads = await namesIn(`/proc/${pid}/task`);
  const names = threads.map((name) =>
    Deno.readTextFile(`/proc/${pid}/task/${name}/comm`)
  );
  // Deno names its workers' threads so.
  return (await Promise.all(names)).filter((name) => /^worker-/.test(name))
    .length;
}

test(
  "a replacement that dies at its start is abandoned, and the mount continues",
  async (place, source) => {
    const { pid, supervised } = await record(place);
    const replaced = place.recordfs(
      "mount",
      "--replace",
      "--workers=1",
      source,
      place.mountpoint,
    );
    let first: number | undefined;
    await until(async () => {
      first = await serverOf(supervised.supervisor.pid);
      return first !== undefined && first !== pid;
    });
    Deno.kill(first!, "SIGKILL");
    const { stderr, code } = await replaced;
    assert.match(stderr, /^recordfs: Cannot replace .* died at its start.*\n$/);
    assert.equal(code, 1);
    const now = await record(place);
    const command = await Deno.readTextFile(`/proc/${now.pid}/cmdline`);
    assert.ok(!command.includes("--workers"));
    assert.equal((await Deno.readFile(`${place.mountpoint}/000004`))[0], 4);
  },
);

test(
  "a replacement that the kernel does not support reports which kernels do",
  async (place, source) => {
    const { supervised: { supervisor }, pid } = await record(place);
    const file = await pathOfRecord(place);
    const text = await Deno.readTextFile(file);
    // Flags that Linux 6.8 agrees on.
    const older = text.replace(/("moreFlags":) \d+/, "$1 0")
      .replace(/("resumable":) true/, "$1 false");
    assert.notEqual(older, text);
    const replace = () =>
      place.recordfs("mount", "--replace", source, place.mountpoint);
    await Deno.writeTextFile(file, older);
    const { stderr, code } = await replace();
    assert.match(
      stderr,
      /^recordfs: Cannot replace [^\n]*\(Linux 6\.9 or later can\)\. Unmount it, and mount it again\n$/,
    );
    assert.equal(code, 1);
    await Deno.writeTextFile(file, text);
    assert.equal((await replace()).code, 0);
    assert.notEqual((await record(place)).pid, pid);
    assert.ok(await isRunning(supervisor.pid));
  },
);

test(
  "a replacement that would change the tree is rejected",
  async (place, source) => {
    const { pid } = await record(place);
    const { mountpoint } = place;
    const replace = async (...args: string[]) => {
      const ran = await place.recordfs(
        "mount",
        "--replace",
        ...args,
        mountpoint,
      );
      assert.notEqual(ran.code, 0);
      assert.match(ran.stderr, /^recordfs: [^\n]+\n$/);
      return ran.stderr;
    };
    assert.match(await replace("--ext=jpg", source), /--ext cannot change/);
    assert.match(await replace("-o", "uid=5", source), /-o cannot change/);
    assert.match(await replace("-f", source), /not -f/);
    await Deno.copyFile(source, `${source}.other`);
    assert.match(await replace(`${source}.other`), /the mounted container is /);
    await Deno.rename(`${source}.other`, source);
    assert.match(await replace(source), /the mounted container is /);
    assert.equal((await record(place)).pid, pid);
    assert.equal((await place.recordfs("unmount", mountpoint)).code, 0);
    assert.match(await replace(source), /nothing of yours is mounted there/);
  },
);
