/** Mounts of containers on a server survive failures of their own server and of the store. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import type { ServerResponse } from "node:http";
import {
  isMounted,
  isRunning,
  type MountPlace,
  namesIn,
  until,
} from "../../cli/mount/mount_place.ts";
import { run } from "../../cli/run_cli.ts";
import { fromFileUrl } from "../../support/paths.ts";
import { withTmpfs } from "../../support/programs/tmpfs.ts";
import { type Fault, FileServer } from "../../support/remote/file_server.ts";
import { freePort } from "../../support/remote/web_program.ts";
import { COUNT, record, SIZE, sleep, writeNumbers } from "../numbers_mount.ts";
import { startReaders } from "../readers.ts";
import { killServer, test } from "../shown.ts";

const GOLDEN = fromFileUrl(new URL("../../golden/", import.meta.url));

/** Holds requests without responding. `letGo` closes their connections. */
class Hanging {
  readonly #held: ServerResponse[] = [];
  readonly fault: Fault = (_, response) => {
    this.#held.push(response);
    return true;
  };

  /** Number of pending requests. */
  get length(): number {
    return this.#held.length;
  }

  letGo(server: FileServer): void {
    server.fault = undefined;
    for (const response of this.#held.splice(0)) response.destroy();
  }
}

interface Served {
  readonly place: MountPlace;
  readonly server: FileServer;
  readonly url: string;
  /** Directory that is served. */
  readonly root: string;
  recordfs(...args: string[]): Promise<string>;
}

/** Runs a test with a mount, from a server, of files that contain their index. */
function served(
  name: string,
  body: (served: Served) => Promise<void>,
  ...options: string[]
): void {
  test(name, async (place) => {
    const root = `${place.dir}/root`;
    fs.mkdirSync(root);
    await writeNumbers(`${root}/x.ffr`);
    await using server = await FileServer.start(root);
    const url = `${server.url}/x.ffr`;
    const recordfs = async (...args: string[]) => {
      const { stdout, stderr, code } = await place.recordfs(...args);
      assert.deepEqual([stderr, code], ["", 0]);
      return stdout;
    };
    const cache = ["--cache-dir", `${place.dir}/cache`, ...options];
    await recordfs("mount", url, place.mountpoint, ...cache);
    await until(async () => (await record(place)).supervised.resumable);
    await body({ place, server, url, root, recordfs });
    if (!await isMounted(place.mountpoint)) return;
    await recordfs("unmount", place.mountpoint);
    assert.deepEqual(await namesIn(place.state), []);
  }, "python3");
}

type Readers = ReturnType<typeof startReaders>;

/** Asserts that all readers have read, and only right bytes. */
async function assertSound(readers: Readers): Promise<void> {
  for (const { read, wrong } of await readers.stop()) {
    assert.deepEqual(wrong, []);
    assert.ok(read > 0);
  }
}

served(
  "readers continue when the server is killed repeatedly",
  async ({ place }) => {
    const readers = startReaders(place.mountpoint, 3, COUNT, SIZE);
    for (let i = 0; i < 3; i++) {
      await killServer(place);
      await sleep(100);
    }
    await assertSound(readers);
  },
  "--no-cache",
);

served(
  "the server is killed while readers wait for a hanging store",
  async ({ place, server }) => {
    const hanging = new Hanging();
    server.fault = hanging.fault;
    const readers = startReaders(place.mountpoint, 3, COUNT, SIZE);
    await until(() => hanging.length > 0);
    const before = hanging.length;
    await killServer(place);
    await until(() => hanging.length > before); // the next server repeats the readers' requests
    hanging.letGo(server);
    await assertSound(readers);
  },
);

served(
  "the server is stopped for a while, and continues",
  async ({ place }) => {
    const { pid } = await record(place);
    const readers = startReaders(place.mountpoint, 2, COUNT, SIZE);
    for (let i = 0; i < 3; i++) {
      Deno.kill(pid, "SIGSTOP");
      await sleep(300);
      Deno.kill(pid, "SIGCONT");
      await sleep(100);
    }
    await assertSound(readers);
    assert.equal((await record(place)).supervised.restarts, 0);
  },
);

served("the cache is deleted while it is read", async ({ place }) => {
  const readers = startReaders(place.mountpoint, 3, COUNT, SIZE);
  await sleep(200);
  for (let times = 0; times < 2; times++) {
    fs.rmSync(`${place.dir}/cache`, {
      recursive: true,
      force: true,
      maxRetries: 9, // the mount still writes to it
    });
    await sleep(200);
    await killServer(place); // the next server finds no cache, and creates one
    await sleep(200);
  }
  await assertSound(readers);
});

test(
  "a mount survives a full or read-only disk of its cache",
  async (place) => {
    const root = `${place.dir}/root`;
    fs.mkdirSync(root);
    await writeNumbers(`${root}/x.ffr`);
    await using server = await FileServer.start(root);
    await withTmpfs("80m", async (disk, remount) => {
      const mount = async () => {
        const { stderr, code } = await place.recordfs(
          ...["mount", `${server.url}/x.ffr`, place.mountpoint],
          ...["--cache-dir", `${disk}/cache`, "--cache-size", "1G"],
        );
        assert.deepEqual([stderr, code], ["", 0]);
        await until(async () => (await record(place)).supervised.resumable);
      };
      const read = async (meanwhile: () => Promise<void> | void) => {
        const readers = startReaders(place.mountpoint, 2, COUNT, SIZE, 50);
        await meanwhile();
        await killServer(place);
        await assertSound(readers);
        const { log } = await record(place);
        const said = fs.readFileSync(log, "utf8").match(
          /Cannot use the cache /g,
        );
        assert.ok(
          said !== null && said.length <= 4,
          fs.readFileSync(log, "utf8"),
        ); // each of the two servers logs it twice at most
        const ended = await place.recordfs("unmount", place.mountpoint);
        assert.deepEqual([ended.stderr, ended.code], ["", 0]);
      };
      await mount();
      await read(() => fillDisk(`${disk}/junk`));
      fs.rmSync(`${disk}/junk`);
      await remount("ro");
      await mount();
      await read(() => {});
    }, place.dir);
  },
  "python3",
);

/** Fills a disk. */
function fillDisk(path: string): void {
  const fd = fs.openSync(path, "w");
  try {
    assert.throws(() => {
      for (;;) fs.writeSync(fd, new Uint8Array(1 << 12));
    }, { code: "ENOSPC" });
  } finally {
    fs.closeSync(fd);
  }
}

for (const isSilent of [false, true]) {
  const what = isSilent ? "hangs" : "fails";
  served(
    `a store that ${what} for a while has readers wait, and then they get their bytes`,
    async ({ place, server }) => {
      const hanging = new Hanging();
      let refused = 0;
      server.fault = isSilent ? hanging.fault : (_, response) => {
        refused++;
        response.writeHead(503).end();
        return true;
      };
      const readers = startReaders(place.mountpoint, 3, COUNT, SIZE);
      await until(() => refused + hanging.length > 2);
      await sleep(500);
      hanging.letGo(server);
      await assertSound(readers);
      const { log } = await record(place);
      assert.doesNotMatch(fs.readFileSync(log, "utf8"), /I\/O error/);
    },
    "--timeout",
    "120",
  );
}

served(
  "a server is replaced by one with other options while it is read, but not by one for another container",
  async ({ place, url, root, recordfs }) => {
    const { mountpoint } = place;
    const readers = startReaders(mountpoint, 3, COUNT, SIZE);
    const cache = ["--cache-dir", `${place.dir}/other`];
    for (const options of [cache, ["--no-cache", "--workers=1"]]) {
      const { pid } = await record(place);
      await recordfs("mount", "--replace", ...options, url, mountpoint);
      assert.notEqual((await record(place)).pid, pid);
    }
    await assertSound(readers);
    const { pid } = await record(place);
    fs.copyFileSync(`${root}/x.ffr`, `${root}/y.ffr`);
    const other = url.replace("x.ffr", "y.ffr");
    const refused = await place.recordfs(
      "mount",
      "--replace",
      other,
      mountpoint,
    );
    assert.match(
      refused.stderr,
      /^recordfs: [^\n]*the mounted container is http:[^\n]*\n$/,
    );
    assert.equal(refused.code, 1);
    // Same location, other content.
    const bytes = fs.readFileSync(`${root}/x.ffr`);
    bytes[bytes.length - 1]! ^= 1;
    fs.writeFileSync(`${root}/x.ffr`, bytes);
    const changed = await place.recordfs(
      ...["mount", "--replace", "--no-cache", url, mountpoint],
    );
    assert.match(
      changed.stderr,
      /^recordfs: [^\n]*the mounted container is http:[^\n]*\n$/,
    );
    assert.equal(changed.code, 1);
    assert.equal((await record(place)).pid, pid);
  },
);

for (
  const path of [
    "bags/sharded/shards",
    "granular3/sharded/data",
    "gulp/v2_chunks/gulp",
  ]
) {
  test(`a mount of ${path}, of many files, shows the same after its server was killed`, async (place) => {
    await using server = await FileServer.start(GOLDEN);
    const near = `${place.dir}/near`;
    fs.mkdirSync(near);
    const cache = ["--cache-dir", `${place.dir}/cache`];
    const mounts = [
      [`${server.url}/${path}`, place.mountpoint, ...cache],
      [`${GOLDEN}${path}`, near],
    ];
    try {
      for (const args of mounts) {
        const { stderr, code } = await place.recordfs("mount", ...args);
        assert.deepEqual([stderr, code], ["", 0]);
      }
      for (let kills = 0; kills < 2; kills++) {
        const facts = () => recordOf(place, place.mountpoint);
        await until(async () => (await facts()).supervised.resumable);
        const { pid } = await facts();
        Deno.kill(pid, "SIGKILL");
        await until(async () => !await isRunning(pid));
        const diff = await run(["diff", "-r", near, place.mountpoint]);
        assert.deepEqual([diff.stdout, diff.code], ["", 0]);
        await until(async () => (await facts()).pid !== pid);
      }
    } finally {
      for (const [, mountpoint] of mounts) {
        await place.recordfs("unmount", mountpoint!);
      }
    }
  });
}

/** Reads the record of one of several mounts. */
async function recordOf({ state }: MountPlace, mountpoint: string) {
  for (const name of await namesIn(state)) {
    if (!name.endsWith(".json")) continue;
    const facts = JSON.parse(fs.readFileSync(`${state}/${name}`, "utf8"));
    if (facts.mountpoint === mountpoint) return facts;
  }
  throw new Error(`no record of ${mountpoint}`);
}

test("a location that is unreachable, hanging or missing is not mounted, and the error reports it", async (place) => {
  const root = `${place.dir}/root`;
  fs.mkdirSync(root);
  await using server = await FileServer.start(root);
  const nobody = await freePort();
  const mount = (url: string) =>
    place.recordfs(
      ...["mount", url, place.mountpoint, "--timeout", "1", "--no-cache"],
    );
  const hanging = new Hanging();
  for (
    const [url, words, fault] of [
      [`http://127.0.0.1:${nobody}/x.ffr`, /x\.ffr: .*tried \d+ times in 1 s/],
      ["http://nowhere.invalid/x.ffr", /x\.ffr: .*dns error.*tried/],
      [`${server.url}/x.ffr`, /x\.ffr: there is no such file/],
      [`${server.url}/x.ffr`, /x\.ffr: the server sent 0 bytes/, hanging.fault],
    ] as const
  ) {
    server.fault = fault;
    const start = performance.now();
    const { stderr, code } = await mount(url);
    // A server that never responds takes no longer than one that refuses.
    assert.ok(performance.now() - start < 18_000);
    assert.match(stderr, /^recordfs: [^\n]+\n$/);
    assert.match(stderr, words);
    assert.equal(code, 1);
    assert.equal(await isMounted(place.mountpoint), false);
    assert.deepEqual(await namesIn(place.state).catch(() => []), []);
  }
});
