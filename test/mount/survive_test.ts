/** A mount in the background outlives its server, however that dies. */
import assert from "node:assert/strict";
import {
  isMounted,
  isRunning,
  type MountPlace,
  namesIn,
  until,
} from "../cli/mount_place.ts";
import { run } from "../cli/run_cli.ts";
import { ffrBytes } from "../support/make_ffr.ts";
import { send } from "../support/processes.ts";
import { needs } from "../support/programs.ts";
import { asOrdinaryUser } from "../support/users.ts";
import {
  COUNT,
  pathOfRecord,
  record,
  serverOf,
  SIZE,
  sleep,
  test,
  THOROUGH,
} from "./numbers_mount.ts";
import { startReaders } from "./readers.ts";

test("servers are killed under load, and no read fails or differs", async (place) => {
  const times = THOROUGH ? 100 : 10;
  const { supervisor } = (await record(place)).supervised;
  const descriptors = await namesIn(`/proc/${supervisor.pid}/fd`);
  const readers = startReaders(
    ...[place.mountpoint, 4, COUNT, SIZE, 10 * times + 1] as const,
  );
  let atStart = 0;
  for (let killed = 0; killed < times;) {
    await sleep(300 + 1200 * Math.random());
    const server = await serverOf(supervisor.pid);
    if (server === undefined) {
      assert.ok(await isRunning(supervisor.pid), "it gave up");
      continue;
    }
    const serves = (await record(place)).pid === server;
    send(server, "SIGKILL");
    killed++;
    atStart = serves ? 0 : atStart + 1;
    if (atStart < 3) continue;
    // Five in a row are given up, which is another test's; on a busy machine a start takes long.
    await until(async () => await isRunning((await record(place)).pid));
    atStart = 0;
  }
  const results = await readers.stop();
  for (const { read, wrong } of results) {
    assert.deepEqual(wrong, []);
    assert.ok(read > 10 * times, `only ${read} files were read`);
  }
  assert.deepEqual(await namesIn(`/proc/${supervisor.pid}/fd`), descriptors);
  const { restarts } = (await record(place)).supervised;
  assert.ok(restarts > 0 && restarts <= times, `${restarts} restarts`);
  assert.equal((await place.recordfs("unmount", place.mountpoint)).code, 0);
  assert.equal(await isRunning(supervisor.pid), false);
  assert.deepEqual(await namesIn(place.state), []);
});

test("a server that is stopped for a while goes on", async (place) => {
  const { pid } = await record(place);
  const readers = startReaders(place.mountpoint, 2, COUNT, SIZE);
  for (let i = 0; i < 3; i++) {
    Deno.kill(pid, "SIGSTOP");
    await sleep(300);
    Deno.kill(pid, "SIGCONT");
    await sleep(100);
  }
  for (const { wrong } of await readers.stop()) assert.deepEqual(wrong, []);
  assert.equal((await record(place)).supervised.restarts, 0);
});

test("servers that die at their start are given up, and the mount ends", async (place) => {
  const { pid, log, supervised } = await record(place);
  const supervisor = supervised.supervisor.pid;
  Deno.kill(pid, "SIGKILL");
  const reading = Deno.readFile(`${place.mountpoint}/000007`);
  reading.catch(() => {}); // awaited below
  const killed = new Set([pid]);
  while (await isRunning(supervisor)) {
    const server = await serverOf(supervisor);
    if (server !== undefined) {
      send(server, "SIGKILL");
      killed.add(server);
    }
    await sleep(5);
  }
  assert.equal(killed.size, 6);
  assert.equal(await isMounted(place.mountpoint), false);
  await assert.rejects(reading);
  const last = (await Deno.readTextFile(log)).trimEnd().split("\n").at(-1);
  assert.match(last!, /5 servers one after another died.*the mount ends$/);
  assert.deepEqual(await namesIn(place.state), [log.split("/").at(-1)]);
});

const CHANGES: Record<string, (source: string) => Promise<void>> = {
  async replaced(source) {
    await Deno.copyFile(source, `${source}.new`);
    await Deno.rename(`${source}.new`, source);
  },
  removed: (source) => Deno.remove(source),
  cut: (source) => Deno.truncate(source, 1_000_000),
};

for (const [how, change] of Object.entries(CHANGES)) {
  test(
    `a container that was ${how} is read on until its server dies, then the mount ends`,
    async (place, source) => {
      const { pid, log, supervised } = await record(place);
      await change(source);
      assert.equal((await Deno.readFile(`${place.mountpoint}/000001`))[0], 1);
      Deno.kill(pid, "SIGKILL");
      await until(async () => !await isRunning(supervised.supervisor.pid));
      assert.equal(await isMounted(place.mountpoint), false);
      assert.match(
        await Deno.readTextFile(log),
        how === "removed"
          ? /it was removed since it was mounted/
          : /changed or replaced since it was mounted/,
      );
    },
  );
}

test("where a server cannot be replaced, its death is the end of the mount", async (place) => {
  const { pid, log, supervised } = await record(place);
  const path = await pathOfRecord(place);
  const text = await Deno.readTextFile(path);
  assert.match(text, /"resumable": true/);
  await Deno.writeTextFile(
    path,
    text.replace('"resumable": true', '"resumable": false'),
  );
  Deno.kill(pid, "SIGKILL");
  await until(async () => !await isRunning(supervised.supervisor.pid));
  assert.equal(await isMounted(place.mountpoint), false);
  assert.match(await Deno.readTextFile(log), /no other can take its place/);
});

test(
  "a server goes on when its supervisor is killed; when both are, the next mount repairs it",
  async (place, source) => {
    const { pid, supervised } = await record(place);
    const { mountpoint } = place;
    Deno.kill(supervised.supervisor.pid, "SIGKILL");
    await until(async () => !await isRunning(supervised.supervisor.pid));
    assert.equal((await Deno.readFile(`${mountpoint}/000002`))[0], 2);
    assert.equal((await place.listed())?.state, "ok");
    Deno.kill(pid, "SIGKILL");
    await until(async () => !await isRunning(pid));
    const again = await place.recordfs("mount", source, mountpoint);
    assert.deepEqual([again.stderr, again.code], ["", 0]);
    const { log } = await record(place);
    assert.match(
      await Deno.readTextFile(log),
      /^recordfs: warning: .* had lost its server; that mount was removed$/m,
    );
    assert.equal((await Deno.readFile(`${mountpoint}/000003`))[0], 3);
    const entries = (await Deno.readTextFile("/proc/self/mounts")).split("\n")
      .filter((line) => line.includes(` ${mountpoint} `));
    assert.equal(entries.length, 1);
  },
);

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  test(`${signal} to the supervisor ends the mount`, async (place) => {
    const { pid, supervised } = await record(place);
    Deno.kill(supervised.supervisor.pid, signal);
    await until(async () => !await isRunning(supervised.supervisor.pid));
    assert.equal(await isRunning(pid), false);
    assert.equal(await isMounted(place.mountpoint), false);
    assert.deepEqual(await namesIn(place.state), []);
  });
}

test(
  "mounts that come and go leave no process or record",
  async (place, source) => {
    const times = THOROUGH ? 1000 : 50;
    assert.equal((await place.recordfs("unmount", place.mountpoint)).code, 0);
    assert.deepEqual(await processesOf(place.dir), []);
    for (let i = 0; i < times; i++) {
      const mounted = await place.recordfs("mount", source, place.mountpoint);
      assert.deepEqual([mounted.stderr, mounted.code], ["", 0]);
      const { supervisor } = (await record(place)).supervised;
      // Without a Deno, which would take as long as a mount.
      assert.equal((await run(["umount", place.mountpoint])).code, 0);
      await until(async () => !await isRunning(supervisor.pid));
    }
    assert.deepEqual(await namesIn(place.state), []);
    assert.deepEqual(await processesOf(place.dir), []);
  },
  "root",
);

/** The command lines of processes that have to do with a directory. */
async function processesOf(dir: string): Promise<string[]> {
  const { stdout } = await run(["ps", "-eo", "args"]);
  return stdout.split("\n").filter((line) => line.includes(dir));
}

Deno.test({
  name: "a mount of an ordinary user outlives its server, and ends",
  ...needs("fuse", "root", "fusermount3"),
  fn: () =>
    asOrdinaryUser(async ({ home, recordfs, run }) => {
      const mountpoint = `${home}/mnt`;
      await Deno.writeFile(
        `${home}/data.ffr`,
        ffrBytes([new Uint8Array(300_000).fill(7)]),
      );
      assert.equal((await run("mkdir", mountpoint)).code, 0);
      const mounted = await recordfs("mount", `${home}/data.ffr`, mountpoint);
      assert.deepEqual([mounted.stderr, mounted.code], ["", 0]);
      const list = await recordfs("mounts", "--json");
      const { pid } = JSON.parse(list.stdout)
        .find((mount: { mountpoint: string }) =>
          mount.mountpoint === mountpoint
        );
      await sleep(300);
      Deno.kill(pid, "SIGKILL");
      const sum = await run("wc", "-c", `${mountpoint}/000000`);
      assert.match(sum.stdout, /^300000 /);
      const unmounted = await recordfs("unmount", mountpoint);
      assert.deepEqual([unmounted.stderr, unmounted.code], ["", 0]);
      assert.deepEqual(await namesIn(`${home}/run/recordfs`), []);
      // Where the servers can't start, the supervisor unmounts, by fusermount3.
      const again = await recordfs("mount", `${home}/data.ffr`, mountpoint);
      assert.deepEqual([again.stderr, again.code], ["", 0]);
      const place = { state: `${home}/run/recordfs` } as MountPlace;
      await until(async () => (await record(place)).supervised.resumable);
      const facts = await record(place);
      await Deno.rename(`${home}/project/cli.ts`, `${home}/project/gone.ts`);
      Deno.kill(facts.pid, "SIGKILL");
      const { supervisor } = facts.supervised;
      await until(async () => !await isRunning(supervisor.pid));
      assert.equal(await isMounted(mountpoint), false);
      assert.match(
        await Deno.readTextFile(facts.log),
        /5 servers one after another died at their start/,
      );
    }),
});
