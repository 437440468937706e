/** A mount of one small file, commands with a timeout, and unrelated processes. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { isRunning, type MountPlace, until } from "../cli/mount/mount_place.ts";
import { CLI, type Ran, run } from "../cli/run_cli.ts";
import { send } from "../support/programs/processes.ts";
import { tarBytes } from "../support/tar/make_tar.ts";
import { record } from "./numbers_mount.ts";

/** A tar of one file, whose content is the first letter of its name. */
export const ARCHIVE = tarBytes([{ name: "a.txt", data: "a" }]);

/** Timeout of a command, in seconds. */
export const LIMIT = "120";

/** Runs the command line, which must end before the timeout. */
export async function bounded(
  args: readonly string[],
  env: Record<string, string>,
): Promise<Ran> {
  const cli = [Deno.execPath(), "run", "-A", CLI, ...args];
  const ran = await run(["timeout", LIMIT, ...cli], { env });
  assert.notEqual(ran.code, 124, `${args.join(" ")} does not end`);
  return ran;
}

/** Mounts a small archive, and waits until another server could take over. */
export async function mountSmall(place: MountPlace): Promise<string> {
  const source = `${place.dir}/x.tar`;
  fs.writeFileSync(source, ARCHIVE);
  const mounted = await place.recordfs("mount", source, place.mountpoint);
  assert.deepEqual([mounted.stderr, mounted.code], ["", 0]);
  await until(async () => (await record(place)).supervised.resumable);
  return source;
}

/** Runs `body` next to unrelated processes, none of which may end. */
export async function withBystanders(
  count: number,
  body: (pids: readonly number[]) => Promise<void>,
): Promise<void> {
  const children = Array.from(
    { length: count },
    () => new Deno.Command("sleep", { args: ["600"] }).spawn(),
  );
  try {
    await body(children.map(({ pid }) => pid));
    for (const { pid } of children) {
      assert.ok(await isRunning(pid), "a bystander was signalled");
    }
  } finally {
    for (const child of children) {
      send(child.pid, "SIGKILL");
      await child.status;
    }
  }
}
