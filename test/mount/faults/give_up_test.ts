/** When a supervisor gives up a mount whose servers keep dying, and what readers get until then. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { isStale } from "../../../fuse/mounting/mountinfo.ts";
import {
  isMounted,
  isRunning,
  type MountPlace,
  until,
  withMountPlace,
} from "../../cli/mount/mount_place.ts";
import { assertFailed, run } from "../../cli/run_cli.ts";
import { ffrHeader } from "../../support/ffrecord/make_ffr.ts";
import { send } from "../../support/programs/processes.ts";
import { needs } from "../../support/programs/programs.ts";
import {
  bothAlive,
  record,
  serverOf,
  sleep,
  test,
  testWith,
} from "../numbers_mount.ts";

/** Kills each server of a mount until the supervisor ends. Returns how many were killed. */
async function killServers(supervisor: number): Promise<number> {
  const killed = new Set<number>();
  while (await isRunning(supervisor)) {
    const server = await serverOf(supervisor);
    if (server !== undefined) {
      send(server, "SIGKILL");
      killed.add(server);
    }
    await sleep(5);
  }
  return killed.size;
}

testWith(
  { patience: 4 },
  "a mount is given up and dead if no server has lived for the whole timeout",
  async (place) => {
    const { server, supervisor } = await bothAlive(place);
    const start = performance.now();
    Deno.kill(server, "SIGKILL");
    const reading = Deno.readFile(`${place.mountpoint}/000007`);
    reading.catch(() => {}); // awaited below
    const killed = await killServers(supervisor);
    const seconds = (performance.now() - start) / 1000;
    assert.ok(seconds >= 3.9, `given up after ${seconds} s`);
    assert.ok(killed >= 4, `${killed} servers`);
    // Readers must get an error, and not an end of file.
    await assert.rejects(reading, /os error (107|103|5)/);
    assert.ok(await isStale(place.mountpoint));
    const { state, reason, log } = (await place.listed())!;
    assert.equal(state, "dead");
    assert.match(
      reason as string,
      /^for 4 seconds no server has lived for one/,
    );
    const text = await Deno.readTextFile(log as string);
    const delays = [...text.matchAll(/takes its place(?: in ([\d.]+) s)?$/gm)]
      .map(([, delay]) => Number(delay ?? 0));
    // Each delay is twice the one before. The last attempt gets the remaining time.
    const expected = [0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2].slice(
      0,
      delays.length - 1,
    );
    assert.deepEqual(delays.slice(0, -1), expected);
  },
);

test("a mount survives five kills within eight seconds, and later ones", async (place) => {
  for (let i = 0; i < 6; i++) {
    const { server } = await bothAlive(place);
    Deno.kill(server, "SIGKILL");
    await until(async () => !await isRunning(server));
    await sleep(500);
  }
  const { server, supervisor } = await bothAlive(place);
  await sleep(1500);
  // A server that has served for a while does not count as failed: its successor starts without delay.
  Deno.kill(server, "SIGKILL");
  await until(async () => (await record(place)).pid !== server);
  assert.equal((await Deno.readFile(`${place.mountpoint}/000004`))[0], 4);
  assert.ok(await isRunning(supervisor));
  const text = await Deno.readTextFile((await record(place)).log);
  const last = text.match(/the server died.*$/gm)?.at(-1);
  assert.match(last!, /another one takes its place$/);
});

Deno.test("RECORDFS_GIVE_UP_AFTER must be a number of seconds", async () => {
  await withMountPlace(async (place) => {
    for (const patience of ["0", "-1", "1.5", "soon"]) {
      place.env.RECORDFS_GIVE_UP_AFTER = patience;
      const ran = await place.recordfs("mount", "a.ffr", place.mountpoint);
      assertFailed(ran, 2, /RECORDFS_GIVE_UP_AFTER=.*whole number/);
    }
  });
});

/** Prevents later servers of a mount from starting: Deno needs more address space than this limit. */
async function starve(supervisor: number): Promise<void> {
  const limit = ["--as=1073741824:unlimited", `--pid=${supervisor}`];
  assert.equal((await run(["prlimit", ...limit])).code, 0);
}

/** Kills the server of a mount while no other can start. The supervisor continues. */
async function loseServer(place: MountPlace): Promise<number> {
  const { server, supervisor } = await bothAlive(place);
  await starve(supervisor);
  Deno.kill(server, "SIGKILL");
  await until(async () => (await place.listed())?.state === "restarting");
  return supervisor;
}

/** Starts a program that reads from the mount. */
function start(command: string, ...args: string[]): Deno.ChildProcess {
  return new Deno.Command(command, {
    args,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
}

/** Reads with O_DIRECT, which bypasses the kernel's cache where possible. */
const startDirect = (path: string) =>
  start("dd", `if=${path}`, "iflag=direct", "bs=4k", "count=1");

/** Sends a signal to programs, and waits until all have ended by it. */
async function expectEnd(
  children: readonly Deno.ChildProcess[],
  signal: Deno.Signal,
): Promise<void> {
  const ends: unknown[] = [];
  for (const child of children) {
    child.status.then((status) => ends.push(status.signal));
    child.kill(signal);
  }
  await until(() => ends.length === children.length);
  assert.ok(ends.every((end) => end === signal), ends.join());
}

for (const signal of ["SIGINT", "SIGKILL"] as const) {
  test(
    `a process that waits for a server is ended by ${signal}, and so is the mount on request`,
    async (place) => {
      const supervisor = await loseServer(place);
      const { mountpoint } = place;
      const { pid, supervisor: lives } = (await place.listed())!;
      assert.deepEqual([pid, lives], [null, supervisor]);
      const readers = [
        start("cat", `${mountpoint}/000001`),
        start("stat", `${mountpoint}/none`),
        // dd handles SIGINT itself
        ...signal === "SIGKILL" ? [startDirect(`${mountpoint}/000002`)] : [],
      ];
      await sleep(300);
      await expectEnd(readers, signal);
      const { stderr, code } = await place.recordfs("unmount", mountpoint);
      assert.deepEqual([stderr, code], ["", 0]);
      assert.equal(await isRunning(supervisor), false);
    },
    "prlimit",
  );
}

test(
  "a mount without a server is unmounted even if an unknown process waits in it",
  async (place) => {
    const supervisor = await loseServer(place);
    const { mountpoint } = place;
    const waiting = start("stat", "--file-system", mountpoint);
    await sleep(300);
    const { stderr, code } = await place.recordfs("unmount", mountpoint);
    assert.deepEqual([stderr, code], ["", 0]);
    assert.equal((await waiting.status).code, 1);
    assert.equal(await isMounted(mountpoint), false);
    assert.equal(await isRunning(supervisor), false);
  },
  "prlimit",
);

/** Mounts a container of one 3 GB sample, which is a hole in the file: comparing its checksum takes a while. */
async function mountHuge(place: MountPlace): Promise<void> {
  const size = 3 * 2 ** 30;
  const zeros = new Uint8Array(1 << 24);
  let crc = 0;
  for (let done = 0; done < size; done += zeros.length) crc = crc32(zeros, crc);
  const source = `${place.dir}/huge.ffr`;
  const header = ffrHeader([size], [crc]);
  writeFileSync(source, header);
  await Deno.truncate(source, header.length + size);
  const { stderr, code } = await place.recordfs(
    "mount",
    "--trace",
    source,
    place.mountpoint,
  );
  assert.deepEqual([stderr, code], ["", 0]);
  await until(async () => (await record(place)).supervised.resumable);
}

Deno.test({
  name:
    "a process that waits for a request read by a dead server can be killed before the next server runs",
  ...needs("fuse", "prlimit", "bash"),
  fn: () =>
    withMountPlace(async (place) => {
      await mountHuge(place);
      const { mountpoint } = place;
      const { log } = await record(place);
      const { server, supervisor } = await bothAlive(place);
      const reader = startDirect(`${mountpoint}/000000`);
      // A server has read the request, and compares the sample's checksum.
      await until(async () =>
        /READ node=2 /.test(await Deno.readTextFile(log)) ||
        !await isRunning(reader.pid)
      );
      await starve(supervisor);
      Deno.kill(server, "SIGKILL");
      await until(async () =>
        (await Deno.readTextFile(log)).includes("the server died (signal 9)")
      );
      await expectEnd([reader], "SIGKILL");
    }),
});
