/** A mount in the background outlives its server, however that dies. */
import assert from "node:assert/strict";
import {
  childrenOf,
  isMounted,
  isRunning,
  type MountPlace,
  namesIn,
  until,
  withMountPlace,
} from "../cli/mount_place.ts";
import { recordfs } from "../cli/run_cli.ts";
import { ffrBytes } from "../support/make_ffr.ts";
import { send } from "../support/processes.ts";
import { needs } from "../support/programs.ts";
import { withTmpfs } from "../support/tmpfs.ts";
import { asOrdinaryUser } from "../support/users.ts";
import { startReaders } from "./readers.ts";

/** `deno task test:faults` does everything more often. */
const THOROUGH = Deno.env.get("RECORDFS_FAULTS") === "1";
const COUNT = THOROUGH ? 10_000 : 500;
const SIZE = 100_000;

function test(
  name: string,
  body: (place: MountPlace, source: string) => Promise<void>,
): void {
  Deno.test({
    name,
    ...needs("fuse", "python3"),
    fn: () =>
      withMountPlace(async (place) => {
        const source = `${place.dir}/numbers.ffr`;
        await writeNumbers(source);
        const { stderr, code } = await place.recordfs(
          "mount",
          source,
          place.mountpoint,
        );
        assert.deepEqual([stderr, code], ["", 0]);
        await until(async () => (await record(place)).supervised.resumable);
        await body(place, source);
      }),
  });
}

/** Samples that hold their own number over and over. */
async function writeNumbers(path: string): Promise<void> {
  const samples = Array.from({ length: COUNT }, (_, number) => {
    const words = new Uint32Array(SIZE / 4).fill(number);
    return new Uint8Array(words.buffer);
  });
  await Deno.writeFile(path, ffrBytes(samples));
}

interface Record {
  readonly pid: number;
  readonly log: string;
  readonly supervised: {
    readonly supervisor: { readonly pid: number };
    readonly restarts: number;
    readonly resumable: boolean;
  };
}

async function pathOfRecord({ state }: MountPlace): Promise<string> {
  const name = (await namesIn(state)).find((name) => name.endsWith(".json"));
  assert.ok(name, `no record in ${state}`);
  return `${state}/${name}`;
}

async function record(place: MountPlace): Promise<Record> {
  return JSON.parse(await Deno.readTextFile(await pathOfRecord(place)));
}

/** The server that runs now, at its start or long at work; `undefined` between two. */
async function serverOf(supervisor: number): Promise<number | undefined> {
  const [child] = await childrenOf(supervisor);
  if (child === undefined) return undefined;
  const name = await Deno.readTextFile(`/proc/${child}/comm`).catch(() => "");
  return name.startsWith("deno") ? child : undefined; // not `sleep`
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

test("servers are killed under load, and no read fails or differs", async (place) => {
  const times = THOROUGH ? 100 : 10;
  const { supervisor } = (await record(place)).supervised;
  const readers = startReaders(place.mountpoint, 4, COUNT, SIZE);
  for (let killed = 0; killed < times;) {
    await sleep(300 + 1200 * Math.random());
    const server = await serverOf(supervisor.pid);
    if (server === undefined) {
      assert.ok(await isRunning(supervisor.pid), "it gave up");
      continue;
    }
    send(server, "SIGKILL");
    killed++;
  }
  const results = await readers.stop();
  for (const { read, wrong } of results) {
    assert.deepEqual(wrong, []);
    assert.ok(read > 10 * times, `only ${read} files were read`);
  }
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

test(
  "a container that was replaced while there was no server ends the mount",
  async (place, source) => {
    const { pid, log, supervised } = await record(place);
    await Deno.copyFile(source, `${source}.new`);
    await Deno.rename(`${source}.new`, source);
    assert.equal((await Deno.readFile(`${place.mountpoint}/000001`))[0], 1);
    Deno.kill(pid, "SIGKILL");
    await until(async () => !await isRunning(supervised.supervisor.pid));
    assert.equal(await isMounted(place.mountpoint), false);
    assert.match(
      await Deno.readTextFile(log),
      /changed or replaced since it was mounted/,
    );
  },
);

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
    assert.equal((await place.listed())?.state, "stale");
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
    // One that is killed is followed by one with the options last given.
    const { pid } = await record(place);
    Deno.kill(pid, "SIGKILL");
    await until(async () => (await record(place)).pid !== pid);
    const command = await Deno.readTextFile(
      `/proc/${(await record(place)).pid}/cmdline`,
    );
    assert.ok(command.split("\0").includes("--workers=2"));
    for (const { wrong } of await readers.stop()) assert.deepEqual(wrong, []);
    assert.equal((await place.recordfs("unmount", mountpoint)).code, 0);
    assert.equal(await isRunning(supervisor.pid), false);
    assert.deepEqual(await namesIn(place.state), []);
  },
);

test(
  "a replacement that dies at its start is given up, and the mount goes on",
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
  "a replacement that would change the tree is refused",
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
    assert.match(await replace("--ext=jpg", source), /--ext must be as it was/);
    assert.match(await replace("-o", "uid=5", source), /-o must be as it was/);
    assert.match(await replace("--workers=9", source), /at most 3 threads/);
    assert.match(await replace("-f", source), /not -f/);
    await Deno.copyFile(source, `${source}.other`);
    assert.match(await replace(`${source}.other`), /what is mounted is /);
    await Deno.rename(`${source}.other`, source);
    assert.match(await replace(source), /what is mounted is /);
    assert.equal((await record(place)).pid, pid);
    assert.equal((await place.recordfs("unmount", mountpoint)).code, 0);
    assert.match(await replace(source), /nothing of yours is mounted there/);
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
    }),
});

Deno.test({
  name: "a full disk for record and log does the mount no harm",
  ...needs("fuse", "root"),
  fn: () =>
    withTmpfs("256k", (disk) =>
      withMountPlace(async (given) => {
        const env = { XDG_RUNTIME_DIR: disk };
        const state = `${disk}/recordfs`;
        const place = { ...given, env, state };
        const source = `${place.dir}/data.ffr`;
        await Deno.writeFile(
          source,
          ffrBytes([new Uint8Array(300_000).fill(7)]),
        );
        const { code } = await recordfs(
          ["mount", "--trace", source, place.mountpoint],
          { env },
        );
        assert.equal(code, 0);
        await until(async () => (await record(place)).supervised.resumable);
        await fill(`${disk}/rest`);
        const { pid } = await record(place);
        Deno.kill(pid, "SIGKILL");
        const bytes = await Deno.readFile(`${place.mountpoint}/000000`);
        assert.ok(bytes.length === 300_000 && bytes.every((one) => one === 7));
        await until(async () => (await record(place)).pid !== pid);
        assert.equal((await record(place)).supervised.restarts, 1);
        const unmount = ["unmount", place.mountpoint];
        assert.equal((await recordfs(unmount, { env })).code, 0);
      })),
});

/** Leaves no room on a disk. */
async function fill(path: string): Promise<void> {
  using file = await Deno.open(path, { write: true, create: true });
  await assert.rejects(async () => {
    while (true) await file.write(new Uint8Array(1 << 12));
  }, /No space left/);
}
