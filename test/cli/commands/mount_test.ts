import assert from "node:assert/strict";
import { goldenCase, sha256 } from "../../support/golden.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { needs } from "../../support/programs/programs.ts";
import { CLI, recordfsRefused, run } from "../run_cli.ts";
import {
  isMounted,
  isRunning,
  linesAbout,
  type MountPlace,
  namesIn,
  until,
  withLogHere,
  withMountPlace,
} from "../mount/mount_place.ts";
import { inNamespace } from "../mount/own_run.ts";

const tree = goldenCase("ffrecord/packed_tree");

function test(name: string, body: (place: MountPlace) => Promise<void>): void {
  Deno.test({ name, ...needs("fuse"), fn: () => withMountPlace(body) });
}

/** Reads the only record of a mount. */
async function record(state: string): Promise<Record<string, unknown>> {
  for await (const { name } of Deno.readDir(state)) {
    if (name.endsWith(".json")) {
      const text = await Deno.readTextFile(`${state}/${name}`);
      return withLogHere(state, JSON.parse(text));
    }
  }
  throw new Error(`no record in ${state}`);
}

test("mount returns once the mount responds, and unmount ends the server", async (place) => {
  const { mountpoint, state } = place;
  const mounted = await place.recordfs("mount", tree.path, mountpoint);
  assert.deepEqual(
    [mounted.stdout, mounted.stderr, mounted.code],
    ["", "", 0],
  );
  const entry = tree.content.entries.find(({ path }) => path === "...")!;
  const bytes = await Deno.readFile(`${mountpoint}/...`);
  assert.equal(sha256(bytes), entry.sha256);

  const { pid, log, ...rest } = await record(state);
  assert.ok(await isRunning(pid));
  assert.equal((await Deno.stat(state)).mode! & 0o777, 0o700);
  assert.equal(rest.source, tree.path);
  assert.equal(rest.mountpoint, mountpoint);
  assert.match(await Deno.readTextFile(log as string), /is mounted on/);
  assert.equal(await Deno.readLink(`/proc/${pid}/cwd`), "/");
  // The server is in the session (field 6) of its supervisor, so that closing the terminal does not end it.
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  const [, parent, , session] = stat.split(") ")[1]!.split(" ");
  assert.equal(session, parent);

  const unmounted = await place.recordfs("unmount", mountpoint);
  assert.deepEqual([unmounted.stderr, unmounted.code], ["", 0]);
  assert.equal(await isMounted(mountpoint), false);
  assert.equal(await isRunning(pid), false);
  assert.deepEqual(await namesIn(state), []);
});

test("a mount in the background has as many threads as requested", async (place) => {
  const { mountpoint, state } = place;
  const arguments_ = ["mount", "--workers", "5", tree.path, mountpoint];
  const mounted = await place.recordfs(...arguments_);
  assert.deepEqual([mounted.stderr, mounted.code], ["", 0]);
  const { pid } = await record(state);
  let threads = 0;
  for await (const { name } of Deno.readDir(`/proc/${pid}/task`)) {
    const comm = await Deno.readTextFile(`/proc/${pid}/task/${name}/comm`);
    if (/^worker-/.test(comm)) threads++; // Deno names its workers so
  }
  assert.equal(threads, 5);
  await place.recordfs("unmount", mountpoint);
  for (const count of ["0", "65", "1.5", "many"]) {
    arguments_[2] = count;
    const refused = await recordfsRefused(arguments_);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /a whole number from 1 to 64/);
  }
});

test("mounts lists source, mountpoint, pid and state", async (place) => {
  assert.equal(await place.listed(), undefined);
  await place.recordfs("mount", tree.path, place.mountpoint);
  const { pid } = await record(place.state);
  const listed = await place.listed();
  assert.equal(listed?.source, tree.path);
  assert.equal(listed?.pid, pid);
  assert.equal(listed?.state, "ok");
  assert.ok(await isRunning(listed?.supervisor));
  assert.equal(listed?.restarts, 0);
  const { stdout } = await place.recordfs("mounts");
  const row = new RegExp(
    `^${tree.path} +${place.mountpoint} +${pid} +${listed?.supervisor} +ok +0m \\d+s +0 `,
    "m",
  );
  assert.match(stdout, row);
});

test("mounts shows the options of a mount, and its age in hundredths of a second", async (place) => {
  const { dir, mountpoint } = place;
  assert.equal((await place.recordfs("mount", tree.path, mountpoint)).code, 0);
  const plain = await place.listed();
  assert.deepEqual([plain?.options, plain?.subset, plain?.shuffle], [
    [],
    null,
    null,
  ]);
  const plainTable = (await place.recordfs("mounts")).stdout;
  assert.match(plainTable, / OPTIONS\n/);
  assert.match(linesAbout(mountpoint, plainTable)[0]!, / -$/);
  assert.equal((await place.recordfs("unmount", mountpoint)).code, 0);
  await Deno.writeTextFile(`${dir}/some.txt`, "1\n2\n");
  const subset = `--subset=${dir}/some.txt`;
  const flags = ["--shuffle=42", "--epoch=1-3", "--workers=2"];
  const args = ["-o", "umask=077", subset, ...flags, tree.path, mountpoint];
  assert.equal((await place.recordfs("mount", ...args)).code, 0);
  const { stdout } = await place.recordfs("mounts", "--json");
  const mount = (JSON.parse(stdout) as Record<string, unknown>[])
    .find((mount) => mount.mountpoint === mountpoint)!;
  assert.deepEqual(mount.options, ["-o", "umask=077", subset, ...flags]);
  assert.equal(mount.subset, `${dir}/some.txt`);
  assert.deepEqual(mount.shuffle, { seed: 42, firstEpoch: 1, epochs: 3 });
  assert.match(stdout, /"uptime": \d+(\.\d\d?)?,/);
  const table = (await place.recordfs("mounts")).stdout;
  assert.ok(
    table.includes(` -o umask=077 ${subset} --shuffle=42 --epoch=1-3 `),
  );
});

for (
  const [how, args] of [["background", []], ["foreground", ["-f"]]] as const
) {
  test(`mounts reports that the container of a mount in the ${how} was changed`, async (place) => {
    const { dir, mountpoint } = place;
    const source = `${dir}/data.ffr`;
    await Deno.copyFile(tree.path, source);
    const [program, ...rest] = inNamespace([
      Deno.execPath(),
      ...["run", "-A", CLI, "mount", ...args, source, mountpoint],
    ], place.env);
    const child = new Deno.Command(program!, {
      args: rest,
      env: place.env,
      stdout: "null",
      stderr: "null",
    }).spawn();
    await until(async () =>
      typeof (await record(place.state).catch(() => undefined))?.container ===
        "string"
    );
    assert.equal((await place.listed())?.state, "ok");
    await Deno.truncate(source, 5000);
    assert.equal((await place.listed())?.state, "changed");
    const { stdout } = await place.recordfs("mounts");
    assert.match(linesAbout(mountpoint, stdout)[0]!, / changed /);
    await place.recordfs("unmount", mountpoint);
    await child.status;
  });
}

test("mounts counts requests, bytes and errors up to now, including those of killed servers", async (place) => {
  const { dir, mountpoint } = place;
  const source = `${dir}/plain.ffr`;
  const count = 20;
  const sample = new Uint8Array(50_000);
  await Deno.writeFile(source, ffrBytes(Array(count).fill(sample)));
  await place.recordfs("mount", source, mountpoint);
  await until(async () => {
    const { supervised } = await record(place.state);
    return (supervised as { resumable: boolean }).resumable;
  });
  const { pid: first } = await record(place.state);
  for (let i = 0; i < count; i++) {
    const { pid } = await record(place.state);
    await Deno.readFile(`${mountpoint}/${`${i}`.padStart(6, "0")}`);
    if (i % 8 === 4) {
      Deno.kill(pid as number, "SIGKILL"); // immediately after its response
      await until(async () => (await record(place.state)).pid !== pid);
    }
    if (i % 5 !== 0) continue;
    const listed = (await place.listed())!;
    const { READ, INIT } = listed.requests as Record<string, number>;
    assert.deepEqual([READ, INIT], [i + 1, 1]);
    const bytes = listed.bytes as number;
    const least = (i + 1) * sample.length;
    assert.ok(bytes > least && bytes < least + 50_000, `${bytes}`);
    assert.equal(listed.errors, 0);
  }
  const last = (await place.listed())!;
  assert.notEqual(last.pid, first);
  assert.equal(last.restarts, 2);
});

test("a long log is restarted, and its last part is kept", async (place) => {
  const { mountpoint } = place;
  await place.recordfs("mount", "--trace", tree.path, mountpoint);
  const log = (await record(place.state)).log as string;
  const padding = new Uint8Array(1 << 20).fill(10);
  await Deno.writeFile(log, padding, { append: true });
  for (let i = 0; i < 600; i++) {
    await Deno.stat(`${mountpoint}/none ${i}`).catch(() => {});
  }
  await until(async () => (await Deno.stat(log)).size < 1 << 20);
  assert.ok((await Deno.stat(`${log}.1`)).size >= 1 << 20);
  assert.equal((await place.recordfs("unmount", mountpoint)).code, 0);
  assert.deepEqual(await namesIn(place.state), []);
});

test("mount and unmount work with relative paths and several mounts", async (place) => {
  const second = `${place.dir}/second`;
  await Deno.mkdir(second);
  const source = `${place.dir}/data.ffr`;
  await Deno.copyFile(tree.path, source);
  for (const mountpoint of ["mnt", "second"]) {
    // nsenter would change the working directory.
    const script = 'cd "$0" && exec "$@"';
    const command = [Deno.execPath(), "run", "-A", CLI, "mount", "data.ffr"];
    const ran = await run(
      ["sh", "-c", script, place.dir, ...command, mountpoint],
      { env: place.env },
    );
    assert.equal(ran.code, 0, ran.stderr);
  }
  assert.equal((await place.listed())?.source, source);
  const nowhere = `${place.dir}/run`;
  const ran = await place.recordfs(
    "unmount",
    place.mountpoint,
    nowhere,
    second,
  );
  assert.equal(ran.code, 1);
  assert.match(ran.stderr, /^recordfs: .*run: nothing is mounted there\n$/);
  assert.equal(await isMounted(place.mountpoint), false);
  assert.equal(await isMounted(second), false);
});

test("--format, --ext and -o reach the mount", async (place) => {
  const { mountpoint } = place;
  const { code } = await place.recordfs(
    "mount",
    "--format=ffrecord-samples",
    "--ext",
    "bin",
    "-o",
    "uid=1234,umask=0227",
    "-o",
    "fsname=mine",
    tree.path,
    mountpoint,
  );
  assert.equal(code, 0);
  const { uid, mode } = await Deno.stat(`${mountpoint}/000000.bin`);
  assert.deepEqual([uid, mode! & 0o777], [1234, 0o440]);
  const mounts = await Deno.readTextFile("/proc/self/mounts");
  assert.ok(mounts.includes(`mine ${mountpoint} fuse.recordfs ro,`));
});

for (
  const [title, flags] of [
    ["--no-verify", ["--no-verify"]],
    ["-o no_verify", ["-o", "ro,no_verify"]],
  ] as const
) {
  test(`${title} shows a damaged sample unchanged`, async (place) => {
    const { path } = goldenCase("ffrecord/bad_flip_sample");
    const file = `${place.mountpoint}/000003`;
    const mounted = await place.recordfs("mount", path, place.mountpoint);
    assert.equal(mounted.code, 0, mounted.stderr);
    await assert.rejects(Deno.readFile(file), /os error 5/);
    await place.recordfs("unmount", place.mountpoint);
    await place.recordfs("mount", ...flags, path, place.mountpoint);
    const { size } = await Deno.stat(file);
    assert.equal((await Deno.readFile(file)).length, size);
    await place.recordfs("unmount", place.mountpoint);
  });
}

test("--trace logs each request by name", async (place) => {
  await place.recordfs("mount", "--trace", tree.path, place.mountpoint);
  await Deno.readFile(`${place.mountpoint}/...`);
  const { log } = await record(place.state);
  const lines = () => Deno.readTextFile(log as string);
  const read = /^recordfs: READ node=\d+ offset=0 .* bytes=28$/m;
  await until(async () => read.test(await lines()));
  const lookup = /^recordfs: LOOKUP parent=1 "\.\.\." -> 0 node=\d+ size=28$/m;
  assert.match(await lines(), lookup);
});

test("unmount names the processes that use a mount; --lazy unmounts it all the same", async (place) => {
  const { mountpoint } = place;
  await place.recordfs("mount", tree.path, mountpoint);
  const { pid } = await record(place.state);
  const sleeper = new Deno.Command("sleep", { args: ["60"], cwd: mountpoint })
    .spawn();
  const open = new Deno.Command("sh", {
    args: ["-c", `exec 3< '${mountpoint}/...'; exec tail -f /dev/null`],
  }).spawn();
  try {
    const { pid: opener } = open;
    await until(async () =>
      (await Deno.readTextFile(`/proc/${opener}/comm`)) === "tail\n"
    );
    const busy = await place.recordfs("unmount", mountpoint);
    assert.equal(busy.code, 1);
    assert.match(busy.stderr, /^recordfs: [^\n]*in use[^\n]*--lazy\n$/);
    assert.match(busy.stderr, new RegExp(`\\b${sleeper.pid} \\(sleep\\)`));
    assert.match(busy.stderr, new RegExp(`\\b${opener} \\(tail\\)`));
    assert.equal(await isMounted(mountpoint), true);
    assert.equal((await place.recordfs("unmount", "-l", mountpoint)).code, 0);
    assert.equal(await isMounted(mountpoint), false);
    assert.equal(await isRunning(pid), true, "it serves its last users");
  } finally {
    sleeper.kill("SIGKILL");
    open.kill("SIGKILL");
    await Promise.all([sleeper.status, open.status]);
  }
  await until(async () => !await isRunning(pid));
});
