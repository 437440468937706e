/** `mount` must not affect the process that calls it. */
import assert from "node:assert/strict";
import { goldenCase } from "../../support/golden.ts";
import { needs } from "../../support/programs/programs.ts";
import {
  isMounted,
  isRunning,
  type MountPlace,
  until,
  withMountPlace,
} from "./mount_place.ts";
import { assertFailed, CLI, recordfs, run } from "../run_cli.ts";

const tree = goldenCase("ffrecord/packed_tree");

function test(name: string, body: (place: MountPlace) => Promise<void>): void {
  Deno.test({ name, ...needs("fuse"), fn: () => withMountPlace(body) });
}

test("a pipe that the caller has open is closed", async ({ mountpoint, env }) => {
  const mount =
    '{ "$0" run -A "$1" mount "$2" "$3" 3>&1 >/dev/null 2>&1; } | cat';
  const piped = run([
    "timeout",
    "180",
    "sh",
    "-c",
    mount,
    Deno.execPath(),
    CLI,
    tree.path,
    mountpoint,
  ], { env });
  const { code } = await piped;
  assert.equal(code, 0, "the pipe was held open until the time was up");
  assert.ok(await isMounted(mountpoint));
});

test("a mount that is stopped does not report success", async ({ mountpoint, env }) => {
  for (const seconds of [0.1, 0.2, 0.25, 0.3, 0.35, 0.4]) {
    const command = [
      "timeout",
      "--signal=TERM",
      "--preserve-status",
      String(seconds),
    ];
    const { code } = await run(
      [
        ...command,
        Deno.execPath(),
        "run",
        "-A",
        CLI,
        "mount",
        tree.path,
        mountpoint,
      ],
      { env },
    );
    if (code !== 0) await until(async () => !await isServed(mountpoint));
    assert.equal(
      await isMounted(mountpoint),
      code === 0,
      `exit code ${code} after ${seconds} s`,
    );
    if (code === 0) {
      await run([Deno.execPath(), "run", "-A", CLI, "unmount", mountpoint], {
        env,
      });
    }
  }
});

/** Whether any process serves a mount point, or is about to make or undo a mount there. */
async function isServed(mountpoint: string): Promise<boolean> {
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^[0-9]+$/.test(name) || !await isRunning(name)) continue;
    const command = await Deno.readTextFile(`/proc/${name}/cmdline`)
      .catch(() => ""); // ended meanwhile
    if (command.split("\0").includes(mountpoint)) return true;
  }
  return false;
}

test("a mount of another subtype is listed", async (place) => {
  const { code } = await place.recordfs(
    "mount",
    "-o",
    "subtype=other",
    tree.path,
    place.mountpoint,
  );
  assert.equal(code, 0);
  assert.equal((await place.listed())?.source, tree.path);
});

Deno.test("an empty path is rejected, instead of meaning the current directory", async () => {
  for (
    const args of [
      ["mount", "", "/mnt"],
      ["mount", tree.path, ""],
      ["ls", ""],
      ["check", ""],
      ["extract", tree.path, ""],
    ]
  ) assertFailed(await recordfs(args), 2, /is empty/);
});
