/** Mounts whose server is gone for good: reads fail, and the mount stays until somebody removes it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { isStale } from "../../../fuse/mounting/mountinfo.ts";
import {
  isMounted,
  isRunning,
  linesAbout,
  type MountPlace,
  namesIn,
  until,
} from "../../cli/mount/mount_place.ts";
import { inNamespace } from "../../cli/mount/own_run.ts";
import { assertFailed, CLI, recordfsRefused, run } from "../../cli/run_cli.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { LONG } from "../../support/long.ts";
import { fromFileUrl } from "../../support/paths.ts";
import { needs, PYTHON } from "../../support/programs/programs.ts";
import { asOrdinaryUser } from "../../support/programs/users.ts";
import {
  COUNT,
  killAll,
  pathOfRecord,
  record,
  SIZE,
  test,
  testWith,
} from "../numbers_mount.ts";

const ENOTCONN = 107;
const LIST = fromFileUrl(
  new URL("../python/list_in_parts.py", import.meta.url),
);

/** Returns the mount's entry in `mounts --json`, which must print no warning. */
async function listed(place: MountPlace): Promise<Record<string, unknown>> {
  return await place.listed() ?? assert.fail("it is not listed");
}

/** Removes the container and then kills the server, so that the mount dies. */
async function die(place: MountPlace, source: string): Promise<void> {
  const { pid, supervised } = await record(place);
  await Deno.remove(source);
  Deno.kill(pid, "SIGKILL");
  await until(async () => !await isRunning(supervised.supervisor.pid));
  await until(() => isStale(place.mountpoint));
}

/** Lists a directory, with one part per read. */
function list(directory: string): {
  readonly begun: Promise<void>;
  finish(): Promise<[names: number, errno: number]>;
} {
  const child = new Deno.Command(PYTHON, {
    args: [LIST, directory],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const first = reader.read().then(({ value }) => value ?? "");
  return {
    begun: first.then(() => {}),
    async finish() {
      await child.stdin.close();
      let text = await first;
      for (let part; !(part = await reader.read()).done;) text += part.value;
      await child.status;
      const [names, errno] = text.replace("begun", "").trim().split(" ")
        .map(Number) as [number, number];
      return [names, errno];
    },
  };
}

/** Drops everything that the kernel has cached: names, attributes and bytes. */
function dropCaches(): Promise<void> {
  return Deno.writeTextFile("/proc/sys/vm/drop_caches", "3");
}

/** Reads every file. Each must have the right bytes, or fail with ENOTCONN. */
function readAll(mountpoint: string): { right: number; failed: number } {
  const found = { right: 0, failed: 0 };
  for (let number = 0; number < COUNT; number++) {
    const path = `${mountpoint}/${`${number}`.padStart(6, "0")}`;
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = new Uint8Array(readFileSync(path));
    } catch (error) {
      assert.equal((error as { code?: string }).code, "ENOTCONN");
      found.failed++;
      continue;
    }
    assert.equal(bytes.length, SIZE);
    assert.ok(new Uint32Array(bytes.buffer).every((word) => word === number));
    found.right++;
  }
  return found;
}

const SEEN = ["nothing", "a part of the names", "all"] as const;

for (const seen of LONG ? SEEN : SEEN.slice(1)) {
  test(
    `a dead mount of which ${seen} was seen shows all names and right bytes, or fails`,
    async (place, source) => {
      const { mountpoint } = place;
      const early = seen === "nothing" ? undefined : list(mountpoint);
      await early?.begun;
      if (seen === "all") {
        const all = list(mountpoint);
        assert.deepEqual(await all.finish(), [COUNT, 0]);
        assert.equal(readAll(mountpoint).right, COUNT);
      }
      await die(place, source);
      const outcomes = [await early?.finish(), await list(mountpoint).finish()];
      const before = readAll(mountpoint);
      await dropCaches();
      outcomes.push(await list(mountpoint).finish());
      const after = readAll(mountpoint);
      for (
        const [names, errno] of outcomes.filter((one) => one !== undefined)
      ) {
        if (errno === 0) assert.equal(names, COUNT);
        else assert.equal(errno, ENOTCONN);
      }
      // A busy machine may have evicted some pages already.
      if (seen === "all") assert.ok(before.right > COUNT / 2);
      else assert.equal(before.right, 0);
      assert.ok(after.failed > 0, "something was dropped");
      assert.ok(await isMounted(mountpoint));
    },
    "root",
  );
}

test(
  "a dead mount is listed with its reason and log until it is unmounted",
  async (place, source) => {
    const { mountpoint, state } = place;
    const { log } = await record(place);
    await Deno.readFile(`${mountpoint}/000001`);
    await die(place, source);
    for (let i = 0; i < 2; i++) {
      const facts = await listed(place);
      assert.deepEqual(
        [facts.state, facts.pid, facts.supervisor, facts.uptime],
        [
          "dead",
          null,
          null,
          null,
        ],
      );
      assert.match(
        facts.reason as string,
        /it was removed since it was mounted/,
      );
      assert.equal(facts.log, log);
      assert.equal((facts.requests as Record<string, number>).READ, 1);
      assert.ok(await isMounted(mountpoint));
    }
    const { stdout, stderr, code } = await place.recordfs("mounts");
    const [row, ...rows] = linesAbout(mountpoint, stdout);
    assert.match(row!, / dead /);
    assert.deepEqual(rows, []);
    assert.match(
      linesAbout(mountpoint, stderr).join("\n"), // a single line: `.` does not match a newline
      /^recordfs: warning: .*mnt is dead: .*removed since.*its log is .*$/,
    );
    // The only other lines are about mounts that other tests have killed.
    for (const line of stderr.trimEnd().split("\n")) {
      assert.match(line, /^recordfs: warning: .* is dead[:;] /);
    }
    assert.equal(code, 0);
    const last = (await Deno.readTextFile(log)).trimEnd().split("\n").at(-1);
    assert.match(last!, /removed since it was mounted.*; the mount is dead$/);
    assert.equal((await place.recordfs("unmount", mountpoint)).code, 0);
    assert.equal(await isMounted(mountpoint), false);
    assert.deepEqual(await namesIn(state), [log.split("/").at(-1)]);
  },
);

for (const option of [[], ["--replace"]]) {
  test(
    `mount ${option} replaces a dead mount, when it can`,
    async (place, source) => {
      const { mountpoint } = place;
      await Deno.copyFile(source, `${source}.kept`);
      await die(place, source);
      const args = ["mount", ...option, source, mountpoint];
      const failed = await place.recordfs(...args);
      assertFailed(failed, 1, /no such file/);
      assert.equal((await listed(place)).state, "dead", "it is still there");
      await Deno.rename(`${source}.kept`, source);
      const { stderr, code } = await place.recordfs(...args);
      assert.deepEqual([stderr, code], ["", 0]);
      const { log } = await record(place);
      assert.match(
        await Deno.readTextFile(log),
        /^recordfs: warning: .* had lost its server; that mount was removed$/m,
      );
      assert.equal((await listed(place)).state, "ok");
      assert.equal((await Deno.readFile(`${mountpoint}/000003`))[0], 3);
      const { stdout } = await run([
        "grep",
        "-c",
        ` ${mountpoint} `,
        "/proc/self/mounts",
      ]);
      assert.equal(stdout, "1\n");
    },
  );
}

const UNMOUNT = [["--on-failure=unmount"], ["-o", "on_failure=unmount"]];

// The test of an ordinary user's mount, below, uses the other form.
for (const options of LONG ? UNMOUNT : UNMOUNT.slice(1)) {
  testWith(
    { options },
    `with ${options.join(" ")} a mount that is given up is unmounted`,
    async (place, source) => {
      const { log, pid, supervised } = await record(place);
      const options = (await listed(place)).options as string[];
      assert.ok(options.includes("--on-failure=unmount"));
      await Deno.remove(source);
      Deno.kill(pid, "SIGKILL");
      await until(async () => !await isRunning(supervised.supervisor.pid));
      assert.equal(await isMounted(place.mountpoint), false);
      assert.deepEqual(await namesIn(place.state), [log.split("/").at(-1)]);
      assert.match(await Deno.readTextFile(log), /the mount ends$/m);
    },
  );
}

Deno.test("--on-failure accepts only two values", async () => {
  for (const args of [["--on-failure=x"], ["-o", "on_failure=x"]]) {
    const ran = await recordfsRefused(["mount", ...args, "a.ffr", "/mnt"]);
    assertFailed(ran, 2, /dead.*unmount/);
  }
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
    `a container that was ${how} is read until its server dies, then the mount is dead at once`,
    async (place, source) => {
      const { pid, log, supervised } = await record(place);
      await change(source);
      assert.equal((await Deno.readFile(`${place.mountpoint}/000001`))[0], 1);
      assert.equal((await listed(place)).state, "changed");
      Deno.kill(pid, "SIGKILL");
      await until(async () => !await isRunning(supervised.supervisor.pid));
      const reason = how === "removed"
        ? /it was removed since it was mounted/
        : /changed or replaced since it was mounted/;
      assert.match((await listed(place)).reason as string, reason);
      const text = await Deno.readTextFile(log);
      assert.match(text, reason);
      assert.equal(text.split("another one takes its place").length, 2);
      assert.ok(await isStale(place.mountpoint));
    },
  );
}

test("if a server cannot be replaced, the mount dies with it", async (place) => {
  const { pid, supervised } = await record(place);
  const path = await pathOfRecord(place);
  const text = await Deno.readTextFile(path);
  assert.match(text, /"resumable": true/);
  await Deno.writeTextFile(
    path,
    text.replace('"resumable": true', '"resumable": false'),
  );
  Deno.kill(pid, "SIGKILL");
  await until(async () => !await isRunning(supervised.supervisor.pid));
  const { state, reason } = await listed(place);
  assert.equal(state, "dead");
  assert.match(reason as string, /no other can take its place/);
});

test(
  "a mount whose processes were both killed is dead, and the next one replaces it",
  async (place, source) => {
    await killAll(place);
    const { state, reason } = await listed(place);
    assert.deepEqual([state, reason], [
      "dead",
      "all of its processes were killed",
    ]);
    const again = await place.recordfs("mount", source, place.mountpoint);
    assert.deepEqual([again.stderr, again.code], ["", 0]);
    assert.equal((await Deno.readFile(`${place.mountpoint}/000003`))[0], 3);
  },
);

test(
  "a dead mount in the foreground is listed, and removed",
  async (place, source) => {
    const { mountpoint, env } = place;
    assert.equal((await place.recordfs("unmount", mountpoint)).code, 0);
    const [program, ...args] = inNamespace([
      Deno.execPath(),
      ...["run", "-A", CLI, "mount", "-f", source, mountpoint],
    ], env);
    const child = new Deno.Command(program!, {
      args,
      env,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    await until(async () => (await place.listed())?.pid === child.pid);
    child.kill("SIGKILL");
    await child.status;
    await until(() => isStale(mountpoint));
    const { state, reason } = await listed(place);
    assert.deepEqual([state, reason], [
      "dead",
      "all of its processes were killed",
    ]);
    assert.equal((await place.recordfs("unmount", mountpoint)).code, 0);
    const names = await namesIn(place.state);
    assert.ok(!names.some((name) => name.endsWith(".json")), names.join());
  },
);

test(
  "of two mounts on one directory only the dead one is removed",
  async (place, source) => {
    const { mountpoint } = place;
    const lower = await pathOfRecord(place);
    const options = ["-o", "nonempty", source, mountpoint];
    assert.equal((await place.recordfs("mount", ...options)).code, 0);
    const upper = (await namesIn(place.state)).find((name) =>
      name.endsWith(".json") && !lower.endsWith(name)
    );
    const { pid, supervised } = JSON.parse(
      await Deno.readTextFile(`${place.state}/${upper}`),
    );
    for (const one of [supervised.supervisor.pid, pid]) {
      Deno.kill(one, "SIGKILL");
    }
    await until(() => isStale(mountpoint));
    const { stdout } = await place.recordfs("mounts", "--json");
    const states = JSON.parse(stdout)
      .filter((mount: { mountpoint: string }) =>
        mount.mountpoint === mountpoint
      )
      .map((mount: { state: string }) => mount.state);
    assert.deepEqual(states, ["ok", "dead"]);
    const { stderr, code } = await place.recordfs("unmount", mountpoint);
    assert.deepEqual([stderr, code], ["", 0]);
    assert.equal((await Deno.readFile(`${mountpoint}/000005`))[0], 5);
    assert.equal((await listed(place)).state, "ok");
  },
  "root", // only root may mount on a mount
);

Deno.test({
  name: "the mount of an ordinary user dies, or ends, and is removed",
  ...needs("fuse", "root", "fusermount3"),
  fn: () =>
    asOrdinaryUser(async ({ home, own, recordfs, run }) => {
      const [mountpoint, source] = [`${home}/mnt`, `${home}/data.ffr`];
      const place = { state: `${home}/run/recordfs`, mountpoint } as MountPlace;
      assert.equal((await run("mkdir", mountpoint)).code, 0);
      for (const onFailure of ["dead", "unmount"]) {
        await Deno.writeFile(source, ffrBytes([new Uint8Array(9)]));
        await own(source);
        const args = ["mount", `--on-failure=${onFailure}`, source, mountpoint];
        const mounted = await recordfs(...args);
        assert.deepEqual([mounted.stderr, mounted.code], ["", 0]);
        await until(async () => (await record(place)).supervised.resumable);
        const { pid, supervised } = await record(place);
        await Deno.remove(source);
        Deno.kill(pid, "SIGKILL");
        await until(async () => !await isRunning(supervised.supervisor.pid));
        assert.equal(await isMounted(mountpoint), onFailure === "dead");
        if (onFailure === "unmount") continue;
        const { stdout } = await recordfs("mounts", "--json");
        assert.match(stdout, /"state": "dead"/);
        const { stderr, code } = await recordfs("unmount", mountpoint);
        assert.deepEqual([stderr, code], ["", 0]);
        assert.equal(await isMounted(mountpoint), false);
      }
    }),
});
