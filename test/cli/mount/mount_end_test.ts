/** Whatever ends a mount's process, nothing of the mount remains. */
import assert from "node:assert/strict";
import { goldenCase } from "../../support/golden.ts";
import { ffrBytes, packedSamples } from "../../support/ffrecord/make_ffr.ts";
import { send } from "../../support/programs/processes.ts";
import { needs } from "../../support/programs/programs.ts";
import { CLI } from "../run_cli.ts";
import {
  childrenOf,
  isMounted,
  isRunning,
  type MountPlace,
  namesIn,
  until,
  withMountPlace,
} from "./mount_place.ts";
import { inNamespace } from "./own_run.ts";

const tree = goldenCase("ffrecord/packed_tree");
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function test(name: string, body: (place: MountPlace) => Promise<void>): void {
  Deno.test({ name, ...needs("fuse"), fn: () => withMountPlace(body) });
}

function start(place: MountPlace, ...args: string[]): Deno.ChildProcess {
  const command = [Deno.execPath(), "run", "-A", CLI, "mount", ...args];
  const [program, ...rest] = inNamespace(command, place.env);
  return new Deno.Command(program!, {
    args: rest,
    env: place.env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/** Waits for the server that `mount` starts in the background. Returns `undefined` if `mount` ended first. */
async function backgroundOf(parent: number): Promise<number | undefined> {
  let server: number | undefined;
  await until(async () => {
    if (!await isRunning(parent)) return true;
    const [supervisor] = await childrenOf(parent);
    const [child] = supervisor === undefined
      ? []
      : await childrenOf(supervisor);
    if (child === undefined) return false;
    // Before exec, the child is a copy of its parent.
    const command = await Deno.readTextFile(`/proc/${child}/cmdline`)
      .catch(() => "");
    if (!command.includes("--background") || command.startsWith("/bin/sh")) {
      return false;
    }
    server = child;
    return true;
  });
  return server;
}

/**
 * Mounts, and calls `act` while `mount` waits for its server. Tries again if this was too late, as it may be on a busy
 * machine.
 */
async function whileItStarts(
  place: MountPlace,
  act: (mount: number, background: number) => Promise<void>,
): Promise<{ code: number; stderr: string; background: number }> {
  for (let tries = 0; tries < 50; tries++) {
    const child = start(place, tree.path, place.mountpoint);
    const output = child.output();
    const background = await backgroundOf(child.pid);
    if (background !== undefined) await act(child.pid, background);
    const { code, stderr } = await output;
    if (code !== 0 && background !== undefined) {
      return { code, stderr: new TextDecoder().decode(stderr), background };
    }
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    const unmounted = await place.recordfs("unmount", place.mountpoint);
    assert.equal(unmounted.code, 0, unmounted.stderr);
  }
  throw new Error("it was too late each time");
}

/** Whether a signal is pending for a process, or the process has ended. */
async function hasPending(pid: number, signal: number): Promise<boolean> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
  const pending = /ShdPnd:\s*(\w+)/.exec(status)?.[1];
  if (pending === undefined || /^State:\t[ZX]/m.test(status)) return true;
  return (BigInt(`0x${pending}`) >> BigInt(signal - 1) & 1n) === 1n;
}

/** Waits until a process catches SIGTERM, or has ended. Before, the signal would kill it. */
function untilListening(pid: number): Promise<void> {
  return until(async () => {
    const status = await Deno.readTextFile(`/proc/${pid}/status`)
      .catch(() => "");
    const caught = /SigCgt:\s*(\w+)/.exec(status)?.[1];
    if (caught === undefined) return true;
    return (BigInt(`0x${caught}`) >> 14n & 1n) === 1n;
  });
}

for (const signal of SIGNALS) {
  test(`${signal} ends a mount in the foreground, in use or not`, async (place) => {
    const { mountpoint } = place;
    for (const inUse of [false, true]) {
      const child = start(place, "-f", tree.path, mountpoint);
      const output = child.output();
      await until(() => isMounted(mountpoint));
      const user = inUse
        ? new Deno.Command("sleep", { args: ["60"], cwd: mountpoint }).spawn()
        : undefined;
      child.kill(signal);
      const { code, stderr } = await output;
      if (user !== undefined) send(user.pid, "SIGKILL");
      await user?.status;
      const text = new TextDecoder().decode(stderr);
      assert.equal(code, 0, text);
      assert.match(text, new RegExp(`^recordfs: ${signal}: unmounting$`, "m"));
      assert.equal(await isMounted(mountpoint), false);
      assert.deepEqual(await namesIn(place.state), []);
    }
  });

  test(`${signal} ends a mount in the background`, async (place) => {
    await place.recordfs("mount", tree.path, place.mountpoint);
    const pid = (await place.listed())!.pid as number;
    Deno.kill(pid, signal);
    await until(async () => !await isRunning(pid));
    assert.equal(await isMounted(place.mountpoint), false);
    assert.deepEqual(await namesIn(place.state), []);
  });
}

test("SIGTERM ends a mount under load", async (place) => {
  const { dir, mountpoint } = place;
  const sample = new Uint8Array(30_000_000);
  await Deno.writeFile(`${dir}/big.ffr`, ffrBytes([sample, sample, sample]));
  const child = start(place, "-f", `${dir}/big.ffr`, mountpoint);
  const output = child.output();
  await until(() => isMounted(mountpoint));
  const script = `echo; while :; do cat "$0"/* > /dev/null 2>&1; done`;
  const readers = [1, 2, 3].map(() =>
    new Deno.Command("sh", {
      args: ["-c", script, mountpoint],
      stdout: "piped",
    }).spawn()
  );
  const begun = readers.map(({ stdout }) => stdout.getReader());
  await Promise.all(begun.map((lines) => lines.read()));
  await new Promise((resolve) => setTimeout(resolve, 300));
  child.kill("SIGTERM");
  const { code } = await output;
  for (const reader of readers) reader.kill("SIGKILL");
  await Promise.all(readers.map(({ status }) => status));
  await Promise.all(begun.map((lines) => lines.cancel()));
  assert.equal(code, 0);
  assert.equal(await isMounted(mountpoint), false);
});

test("a mount in the foreground ends when it is unmounted", async (place) => {
  const child = start(place, "-f", "--trace", tree.path, place.mountpoint);
  const output = child.output();
  await until(async () => (await place.listed())?.pid === child.pid);
  await Deno.stat(`${place.mountpoint}/words`);
  assert.equal((await place.recordfs("unmount", place.mountpoint)).code, 0);
  const { code, stderr } = await output;
  assert.equal(code, 0);
  assert.match(
    new TextDecoder().decode(stderr),
    /^recordfs: LOOKUP .*"words"/m,
  );
});

test("when the process in the background dies, mount reports it", async (place) => {
  const { code, stderr } = await whileItStarts(place, (_, background) => {
    send(background, "SIGKILL");
    return Promise.resolve();
  });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^recordfs: .*ended by SIGKILL before the mount answered; its log, .*\n$/,
  );
  assert.equal(await isMounted(place.mountpoint), false);
});

test("a signal to mount while it waits leaves nothing behind", async (place) => {
  for (const signal of SIGNALS) {
    const stopped = async (mount: number, background: number) => {
      send(background, "SIGSTOP"); // it cannot respond yet
      await untilListening(mount);
      send(mount, signal);
      await until(async () =>
        await hasPending(background, 15) || !await isRunning(mount)
      );
      send(background, "SIGCONT"); // it has ended if it did not catch SIGTERM yet
    };
    const { code, background } = await whileItStarts(place, stopped);
    const number = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 }[signal];
    assert.equal(code, 128 + number);
    await until(async () => !await isRunning(background));
    assert.equal(await isMounted(place.mountpoint), false);
  }
});

test("a mount that no process waits for any more is not made", async (place) => {
  const stopped = async (mount: number, background: number) => {
    send(background, "SIGSTOP");
    send(mount, "SIGKILL");
    await until(async () => !await isRunning(mount));
    send(background, "SIGCONT");
  };
  const { background } = await whileItStarts(place, stopped);
  await until(async () => !await isRunning(background));
  assert.equal(await isMounted(place.mountpoint), false);
});

test("a second signal ends a mount whose container hangs", async (place) => {
  const { dir, mountpoint } = place;
  const inner = ffrBytes([new Uint8Array(10)]);
  const outer = packedSamples({ "inner.ffr": inner });
  await Deno.writeFile(`${dir}/outer.ffr`, ffrBytes(outer));
  await Deno.mkdir(`${dir}/second`);
  await place.recordfs("mount", `${dir}/outer.ffr`, mountpoint);
  const server = (await place.listed())!.pid as number;
  Deno.kill(server, "SIGSTOP");
  try {
    const child = start(place, `${mountpoint}/inner.ffr`, `${dir}/second`);
    const output = child.output();
    const background = await backgroundOf(child.pid);
    assert.ok(background !== undefined);
    await untilListening(background);
    child.kill("SIGTERM");
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.ok(await isRunning(background), "it hangs");
    // Two signals are one if the second arrives before the first was handled, so more are sent until it ends.
    let ended = false;
    const over = output.finally(() => ended = true);
    while (!ended) {
      send(child.pid, "SIGTERM");
      await Promise.race([
        over,
        new Promise((resolve) => setTimeout(resolve, 500)),
      ]);
    }
    assert.equal((await output).code, 128 + 15);
    await until(async () => !await isRunning(background));
    assert.equal(await isMounted(`${dir}/second`), false);
  } finally {
    Deno.kill(server, "SIGCONT");
  }
});
