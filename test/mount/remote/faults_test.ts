/** Background mounts of a container on a web server that fails, hangs or is unreachable. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { setTimeout as sleep } from "node:timers/promises";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import {
  isRunning,
  type MountPlace,
  until,
} from "../../cli/mount/mount_place.ts";
import { run } from "../../cli/run_cli.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { PYTHON } from "../../support/programs/programs.ts";
import { send } from "../../support/programs/processes.ts";
import { type Fault, FileServer } from "../../support/remote/file_server.ts";
import { bothAlive, record } from "../numbers_mount.ts";
import { test } from "../shown.ts";

const SAMPLES = Array.from({ length: 200 }, () => randomBytes(100_000));

const AWAY: Fault = (_, response) => {
  response.writeHead(503).end();
  return true;
};
/** Never responds. */
const HANGS: Fault = () => true;

interface Served {
  readonly place: MountPlace;
  readonly server: FileServer;
  /** Path of the served file. */
  readonly file: string;
  mount(...args: string[]): Promise<void>;
  unmount(): Promise<void>;
  path(sample: number): string;
}

/** Runs a test with a server of one container, and functions that mount and unmount it. */
function served(
  name: string,
  body: (served: Served) => Promise<void>,
  ...more: string[]
): void {
  test(name, async (place) => {
    const root = `${place.dir}/root`;
    fs.mkdirSync(root);
    const file = `${root}/x.ffr`;
    fs.writeFileSync(file, ffrBytes(SAMPLES));
    await using server = await FileServer.start(root);
    await body({
      place,
      server,
      file,
      async mount(...args) {
        const { stderr, code } = await place.recordfs(
          ...["mount", `${server.url}/x.ffr`, place.mountpoint],
          ...["--cache-dir", `${place.dir}/cache`, ...args],
        );
        assert.deepEqual([stderr, code], ["", 0]);
      },
      async unmount() {
        const { stderr, code } = await place.recordfs(
          "unmount",
          place.mountpoint,
        );
        assert.deepEqual([stderr, code], ["", 0]);
      },
      path: (sample) =>
        `${place.mountpoint}/${String(sample).padStart(6, "0")}`,
    });
  }, ...more);
}

async function cat(path: string): Promise<Buffer> {
  return await new Promise((resolve, reject) =>
    fs.readFile(path, (error, bytes) => error ? reject(error) : resolve(bytes))
  );
}

served(
  "a mount whose server is killed during an outage of the store serves cached data, and everything after the outage",
  async ({ place, server, mount, unmount, path }) => {
    await mount("--timeout", "1");
    assert.ok(SAMPLES[3]!.equals(await cat(path(3))));
    server.fault = AWAY;
    const { server: killed } = await bothAlive(place);
    send(killed, "SIGKILL");
    await until(async () => !await isRunning(killed));
    await bothAlive(place);
    await run(["sh", "-c", "echo 3 > /proc/sys/vm/drop_caches"]);
    assert.ok(SAMPLES[3]!.equals(await cat(path(3))));
    for (const sample of [150, 170]) {
      await assert.rejects(cat(path(sample)), { code: "EIO" });
    }
    const { log } = await record(place);
    const lines = fs.readFileSync(log, "utf8").split("\n");
    const said = lines.filter((line) => line.includes("HTTP 503"));
    assert.equal(said.length, 1, lines.join("\n"));
    assert.match(said[0]!, /x\.ffr: .*HTTP 503; tried \d+ times in 1 s/);
    server.fault = undefined;
    assert.ok(SAMPLES[150]!.equals(await cat(path(150))));
    assert.match(fs.readFileSync(log, "utf8"), /x\.ffr can be read again/);
    await unmount();
  },
);

served(
  "a read ends at its timeout, although the kernel retries the first page",
  async ({ place, server, mount, unmount, path }) => {
    await mount("--timeout", "4");
    for (const fault of [AWAY, HANGS]) {
      server.fault = fault;
      const begun = performance.now();
      const sample = fault === AWAY ? 100 : 150;
      await assert.rejects(cat(path(sample)), { code: "EIO" });
      const took = performance.now() - begun;
      assert.ok(took > 3900 && took < 7500, `${took}`); // twice 4 s if the retry waited again
      server.fault = undefined;
      await until(async () => {
        const read = await cat(path(sample)).catch(() => undefined);
        return read !== undefined && SAMPLES[sample]!.equals(read);
      });
    }
    const { log } = await record(place);
    assert.match(fs.readFileSync(log, "utf8"), /tried \d+ times in 4 s/);
    await unmount();
  },
);

served(
  "a process that waits for a hanging store can be interrupted, and the mount be unmounted",
  async ({ place, server, mount, path }) => {
    await mount();
    server.fault = HANGS;
    // Buffered reads, and direct reads, for which the kernel sends INTERRUPT.
    for (const flag of ["fullblock", "direct"]) {
      for (const signal of ["SIGINT", "SIGKILL"] as const) {
        const reader = new Deno.Command("dd", {
          args: [`if=${path(100)}`, "of=/dev/null", `iflag=${flag}`, "bs=64K"],
          stdout: "null",
          stderr: "null",
        }).spawn();
        await until(() => waitsForRead(reader.pid));
        const start = performance.now();
        reader.kill(signal);
        await reader.status;
        assert.ok(performance.now() - start < 5000);
      }
    }
    const { stderr, code } = await place.recordfs("unmount", place.mountpoint);
    assert.deepEqual([stderr, code], ["", 0]);
  },
);

/** Whether a process is blocked in `read`, by its current system call. */
function waitsForRead(pid: number): boolean {
  const call = fs.readFileSync(`/proc/${pid}/syscall`, "utf8");
  return /^0 0x0 /.test(call);
}

served(
  "a timer's signal does not fail a read that waits for the store",
  async ({ server, mount, unmount, path }) => {
    await mount();
    const stalled = Promise.withResolvers<void>();
    let isFirst = true;
    server.fault = (_asked, response) => {
      if (!isFirst) return false;
      isFirst = false;
      setTimeout(() => response.destroy(), 1500);
      stalled.resolve();
      return true;
    };
    const script = `
import os, signal, sys
signal.signal(signal.SIGALRM, lambda *_: None)
signal.siginterrupt(signal.SIGALRM, True)
signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
import mmap
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
memory = mmap.mmap(-1, 1 << 17)
libc = __import__("ctypes").CDLL(None, use_errno=True)
address = __import__("ctypes").addressof(__import__("ctypes").c_char.from_buffer(memory))
print(libc.read(fd, __import__("ctypes").c_void_p(address), 1 << 17))
`;
    const { stdout } = await run([PYTHON, "-c", script, path(120)]);
    assert.equal(stdout, "100000\n");
    await unmount();
  },
  "python3",
);

served(
  "a sample whose bytes the cache's disk has changed is fetched again",
  async ({ place, server, mount, unmount, path }) => {
    await mount();
    assert.ok(SAMPLES[50]!.equals(await cat(path(50))));
    await unmount();
    const [data] = fs.globSync(`${place.dir}/cache/objects/*/*/data`);
    const fd = fs.openSync(data!, "r+");
    const at = fs.readFileSync(data!).indexOf(SAMPLES[50]!) + 777;
    fs.writeSync(fd, Uint8Array.of(SAMPLES[50]![777]! ^ 4), 0, 1, at);
    fs.closeSync(fd);
    await mount();
    const before = server.asked.length;
    assert.ok(SAMPLES[50]!.equals(await cat(path(50))));
    assert.equal(server.asked.length, before + 1);
    await unmount();
  },
);

served(
  "a sample that is damaged in the store itself is an I/O error, and the log names it",
  async ({ place, file, mount, unmount, path }) => {
    const bytes = fs.readFileSync(file);
    bytes[bytes.indexOf(SAMPLES[9]!) + 5]! ^= 1;
    fs.writeFileSync(file, bytes);
    await mount();
    await assert.rejects(cat(path(9)), { code: "EIO" });
    const { log } = await record(place);
    assert.match(
      fs.readFileSync(log, "utf8"),
      /sample 9 of .*x\.ffr: checksum mismatch /,
    );
    assert.ok(SAMPLES[10]!.equals(await cat(path(10))));
    await unmount();
  },
);

served(
  "an object that is replaced while it is mounted is an error, and its bytes are never mixed",
  async ({ place, file, mount, unmount, path }) => {
    await mount();
    assert.ok(SAMPLES[1]!.equals(await cat(path(1))));
    fs.writeFileSync(file, ffrBytes([...SAMPLES].reverse()));
    await assert.rejects(cat(path(150)), { code: "EIO" });
    assert.ok(SAMPLES[1]!.equals(await cat(path(1))));
    const { log } = await record(place);
    assert.match(
      fs.readFileSync(log, "utf8"),
      /x\.ffr: it was replaced or changed/,
    );
    await unmount();
  },
);

served(
  "without a cache everything is fetched each time; a second mount with a cache sends one request, for no bytes",
  async ({ place, server, mount, unmount, path }) => {
    await mount("--no-cache");
    assert.ok(SAMPLES[60]!.equals(await cat(path(60))));
    await unmount();
    assert.deepEqual(fs.globSync(`${place.dir}/cache/**`), []);
    await mount();
    assert.ok(SAMPLES[60]!.equals(await cat(path(60))));
    await unmount();
    const before = server.asked.length;
    await mount();
    assert.ok(SAMPLES[60]!.equals(await cat(path(60))));
    await unmount();
    const asked = server.asked.slice(before);
    assert.deepEqual(asked.map(({ path }) => path), ["/x.ffr"]);
    assert.ok(asked[0]!.headers["if-none-match"]);
  },
);

served(
  "a reader that follows an epoch's links finds the next samples prefetched",
  async ({ place, server, mount, unmount }) => {
    await mount("--shuffle", "3", "--timeout", "20");
    const epoch = `${place.mountpoint}/epoch-0000`;
    const names = fs.readdirSync(epoch).sort();
    const before = server.asked.length;
    const sampleOf = (name: string) =>
      SAMPLES[Number(fs.readlinkSync(`${epoch}/${name}`).slice(3))]!;
    assert.ok(sampleOf(names[0]!).equals(await cat(`${epoch}/${names[0]}`)));
    const fetched = () =>
      server.asked.slice(before).reduce((sum, { range }) => {
        const [start, end] = range!.slice(6).split("-").map(Number);
        return sum + end! + 1 - start!;
      }, 0);
    await until(() => fetched() > 60 * 100_000);
    // A busy machine sends the last requests later.
    for (let count = 0; count < server.asked.length;) {
      count = server.asked.length;
      await sleep(300);
    }
    server.fault = AWAY;
    for (const name of names.slice(1, 50)) {
      assert.ok(sampleOf(name).equals(await cat(`${epoch}/${name}`)), name);
    }
    server.fault = undefined;
    await unmount();
  },
);

served(
  "fetches are counted, and traced with the requests",
  async ({ place, server, mount, unmount, path }) => {
    await mount("--trace");
    let isFirst = true;
    server.fault = (_asked, response) => {
      if (isFirst) response.writeHead(500).end();
      const wasFirst = isFirst;
      isFirst = false;
      return wasFirst;
    };
    const before = server.asked.length;
    assert.ok(SAMPLES[140]!.equals(await cat(path(140))));
    await run(["sh", "-c", "echo 3 > /proc/sys/vm/drop_caches"]);
    assert.ok(SAMPLES[140]!.equals(await cat(path(140))));
    const listed = await place.listed();
    const fetched = listed!.fetched as Record<string, number>;
    assert.deepEqual(
      [fetched.requests, fetched.retries, fetched.waited],
      [server.asked.length - before, 1, 1],
    );
    assert.ok(fetched.bytes! >= 100_000 && fetched.bytes! < 400_000);
    // The second read is served from the cache.
    const { READ } = listed!.requests as Record<string, number>;
    assert.ok(fetched.hits! > 0 && fetched.hits === READ! - 1);
    const { stdout } = await place.recordfs("mounts");
    assert.match(
      stdout,
      /FETCHED[^]*\d+\.\d kB in 2 requests \(1 again\), \d+ hits?/,
    );
    const { log } = await record(place);
    assert.match(
      fs.readFileSync(log, "utf8"),
      /FETCH http:\/\/127.*x\.ffr bytes \d+-\d+: \d+\.\d ms/,
    );
    await unmount();
    // The cache's counters include the requests of the mount, and those that opened the container.
    const cache = ["--json", "--cache-dir", `${place.dir}/cache`];
    const cached = await place.recordfs("cache", "ls", ...cache);
    const [{ fetched: all }] = JSON.parse(cached.stdout);
    assert.deepEqual([all.requests, all.retries], [server.asked.length, 1]);
    assert.ok(all.hits >= fetched.hits! && all.bytes > fetched.bytes!);
  },
);

served(
  "the arguments of a mount's processes contain no secret, and its files are readable by the owner only",
  async ({ place, server, path, unmount }) => {
    const { host } = new URL(server.url);
    const { code } = await place.recordfs(
      ...["mount", `http://user:hush-1@${host}/x.ffr?token=hush-2`],
      ...[place.mountpoint, "--header", "X-Token: hush-3"],
      ...["--cache-dir", `${place.dir}/cache`],
    );
    assert.equal(code, 0);
    assert.ok(SAMPLES[60]!.equals(await cat(path(60))));
    assert.equal(server.asked.at(-1)!.headers["x-token"], "hush-3");
    const { server: pid, supervisor } = await bothAlive(place);
    for (const id of [pid, supervisor]) {
      assert.doesNotMatch(
        fs.readFileSync(`/proc/${id}/cmdline`, "utf8"),
        /hush/,
      );
    }
    for (const name of fs.readdirSync(place.state)) {
      const { mode } = fs.statSync(`${place.state}/${name}`);
      assert.equal(mode & 0o077, 0, name);
      if (name.endsWith(".log")) {
        const text = fs.readFileSync(`${place.state}/${name}`, "utf8");
        assert.doesNotMatch(text, /hush/);
      }
    }
    for (const json of [[], ["--json"]]) {
      const listed = await place.recordfs("mounts", ...json);
      assert.doesNotMatch(listed.stdout, /hush/);
    }
    assert.doesNotMatch(fs.readFileSync("/proc/mounts", "utf8"), /hush/);
    const names = fs.globSync(`${place.dir}/cache/**`).join();
    assert.doesNotMatch(names, /hush/);
    await unmount();
    assert.deepEqual(fs.readdirSync(place.state), []);
  },
);
