/** Background mounts that show a part of a container, or have links. */
import assert from "node:assert/strict";
import {
  type MountPlace,
  until,
  withMountPlace,
} from "../cli/mount/mount_place.ts";
import { run } from "../cli/run_cli.ts";
import { needs } from "../support/programs/programs.ts";
import { record } from "./numbers_mount.ts";

/** Runs a test with a mount point. */
export function test(
  name: string,
  body: (place: MountPlace) => Promise<void>,
  ...more: string[]
): void {
  Deno.test({
    name,
    ...needs("fuse", "root", ...more),
    fn: () => withMountPlace(body),
  });
}

/** Mounts with these options while `body` runs. The command must print what `says` matches, by default nothing. */
export async function mounted(
  place: MountPlace,
  args: readonly string[],
  body: () => Promise<void>,
  says = /^$/,
): Promise<void> {
  const { stderr, code } = await place.recordfs(
    "mount",
    ...args,
    place.mountpoint,
  );
  assert.match(stderr, says);
  assert.equal(code, 0);
  await body();
  const ended = await place.recordfs("unmount", place.mountpoint);
  assert.deepEqual([ended.stderr, ended.code], ["", 0]);
}

/** Runs a program in a directory and returns its output. It must succeed. */
export async function output(
  cwd: string,
  ...command: string[]
): Promise<string> {
  const { code, stdout, stderr } = await run(command, { cwd });
  assert.deepEqual([stderr, code], ["", 0], command.join(" "));
  return stdout;
}

/** Returns the paths of everything below a directory of one type (`f`, `d` or `l`), in byte order. */
export async function found(cwd: string, type: string): Promise<string[]> {
  const printed = await output(
    cwd,
    ...["find", ".", "-mindepth", "1", "-type", type, "-printf", "%P\\0"],
  );
  return printed.split("\0").slice(0, -1).sort();
}

/** Kills the server of the only mount, and waits for its successor. */
export async function killServer(place: MountPlace): Promise<void> {
  await until(async () => (await record(place)).supervised.resumable);
  const { pid } = await record(place);
  Deno.kill(pid, "SIGKILL");
  await until(async () => (await record(place)).pid !== pid);
}

/** Writes an index file as `recordfs split` does, and returns its path. */
export async function writeIndices(
  { dir }: MountPlace,
  indices: readonly number[],
): Promise<string> {
  const path = `${dir}/indices`;
  const header = "# written by a test\n# seed: 1\n";
  await Deno.writeTextFile(
    path,
    header + indices.map((i) => `${i}\n`).join(""),
  );
  return path;
}
