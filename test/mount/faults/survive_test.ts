/** A background mount survives the death of its server or its supervisor. */
import assert from "node:assert/strict";
import {
  isMounted,
  isRunning,
  namesIn,
  until,
} from "../../cli/mount/mount_place.ts";
import { run } from "../../cli/run_cli.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { send } from "../../support/programs/processes.ts";
import { needs } from "../../support/programs/programs.ts";
import { asOrdinaryUser } from "../../support/programs/users.ts";
import {
  bothAlive,
  COUNT,
  record,
  SIZE,
  sleep,
  test,
  THOROUGH,
} from "../numbers_mount.ts";
import { startReaders } from "../readers.ts";

/** The processes of a mount. */
const KINDS = ["server", "supervisor"] as const;

test("server and supervisor are killed at random under load, and no read fails or differs", async (place) => {
  const times = THOROUGH ? 100 : 5;
  const first = await bothAlive(place);
  const held = (await namesIn(`/proc/${first.supervisor}/fd`)).length;
  const readers = startReaders(
    ...[place.mountpoint, 4, COUNT, SIZE, 10 * times + 1] as const,
  );
  const killed = { server: 0, supervisor: 0 };
  const pids: number[] = [];
  for (let i = 0; i < times; i++) {
    await sleep(1500 * Math.random());
    // The survivor replaces the killed process. The next is killed only when both are running.
    const alive = await bothAlive(place);
    const kind = i < 4 ? KINDS[i % 2]! : KINDS[Math.floor(2 * Math.random())]!;
    send(alive[kind], "SIGKILL");
    pids.push(alive[kind]);
    killed[kind]++;
    await until(async () => !await isRunning(alive[kind]));
  }
  const { server, supervisor } = await bothAlive(place);
  for (const { read, wrong } of await readers.stop()) {
    assert.deepEqual(wrong, []);
    assert.ok(read > 10 * times, `only ${read} files were read`);
  }
  const { supervised, log } = await record(place);
  assert.equal(supervised.restarts, killed.server);
  const text = await Deno.readTextFile(log);
  const said = text.split(/the supervisor, process \d+, died/).length - 1;
  assert.equal(said, killed.supervisor);
  // The new supervisor has as many descriptors as the first once it waits; until then, its shell keeps a copy of
  // standard error.
  await until(async () =>
    (await namesIn(`/proc/${supervisor}/fd`)).length === held
  );
  // No killed process is left as a zombie.
  for (const pid of pids) {
    await until(() => Deno.stat(`/proc/${pid}`).then(() => false, () => true));
  }
  assert.equal((await place.recordfs("unmount", place.mountpoint)).code, 0);
  for (const pid of [server, supervisor]) {
    await until(async () => !await isRunning(pid));
  }
  assert.deepEqual(await namesIn(place.state), []);
  assert.deepEqual(await processesOf(place.dir), []);
});

test("a server keeps no descriptor of supervisors that were killed", async (place) => {
  const counts: number[] = [];
  for (let i = 0; i < (THOROUGH ? 20 : 4); i++) {
    const { server, supervisor } = await bothAlive(place);
    counts.push((await namesIn(`/proc/${server}/fd`)).length);
    Deno.kill(supervisor, "SIGKILL");
    await until(async () => !await isRunning(supervisor));
  }
  // After the first death, the server starts the supervisors itself, and keeps a pipe to the current one only.
  const [, second] = counts as [number, number];
  assert.ok(counts.every((count) => count <= second + 3), counts.join());
});

for (const last of KINDS) {
  test(
    `signals end a mount whose ${last} was killed`,
    async (place, source) => {
      for (const whom of KINDS) {
        for (const kind of last === "server" ? [...KINDS].reverse() : [last]) {
          const alive = await bothAlive(place);
          Deno.kill(alive[kind], "SIGKILL");
          await until(async () => !await isRunning(alive[kind]));
        }
        const { server, supervisor } = await bothAlive(place);
        Deno.kill({ server, supervisor }[whom], "SIGTERM");
        for (const pid of [server, supervisor]) {
          await until(async () => !await isRunning(pid));
        }
        assert.equal(await isMounted(place.mountpoint), false);
        assert.deepEqual(await namesIn(place.state), []);
        const mount = ["mount", source, place.mountpoint];
        assert.equal((await place.recordfs(...mount)).code, 0);
        await until(async () => (await record(place)).supervised.resumable);
      }
    },
  );
}

test("a signal to all of a mount's processes at once ends it", async (place) => {
  const { server, supervisor } = await bothAlive(place);
  for (const pid of [supervisor, server]) Deno.kill(pid, "SIGTERM");
  for (const pid of [server, supervisor]) {
    await until(async () => !await isRunning(pid));
  }
  assert.equal(await isMounted(place.mountpoint), false);
  assert.deepEqual(await namesIn(place.state), []);
});

test("a server that is stopped for a while continues", async (place) => {
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
  "mounts that are made and ended leave no process or record",
  async (place, source) => {
    const times = THOROUGH ? 1000 : 4;
    assert.equal((await place.recordfs("unmount", place.mountpoint)).code, 0);
    assert.deepEqual(await processesOf(place.dir), []);
    for (let i = 0; i < times; i++) {
      const mounted = await place.recordfs("mount", source, place.mountpoint);
      assert.deepEqual([mounted.stderr, mounted.code], ["", 0]);
      const { supervisor } = (await record(place)).supervised;
      // `umount` is not Deno, whose start would take as long as a mount.
      assert.equal((await run(["umount", place.mountpoint])).code, 0);
      await until(async () => !await isRunning(supervisor.pid));
    }
    assert.deepEqual(await namesIn(place.state), []);
    assert.deepEqual(await processesOf(place.dir), []);
  },
  "root",
);

/** Returns the command lines of processes that mention a directory. */
async function processesOf(dir: string): Promise<string[]> {
  const pids = (await namesIn("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map((pid) => Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => "") // the process has ended
    ),
  );
  return lines.filter((line) => line.includes(dir));
}

Deno.test({
  name: "a mount of an ordinary user survives its server, and ends",
  ...needs("fuse", "root", "fusermount3"),
  fn: () =>
    asOrdinaryUser(async ({ home, own, recordfs, run }) => {
      const mountpoint = `${home}/mnt`;
      await Deno.writeFile(
        `${home}/data.ffr`,
        ffrBytes([new Uint8Array(300_000).fill(7)]),
      );
      await own(`${home}/data.ffr`);
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
    }),
});
