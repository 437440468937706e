/** A server that dies while it starts. */
import assert from "node:assert/strict";
import {
  childrenOf,
  isMounted,
  isRunning,
  type MountPlace,
  until,
  withMountPlace,
} from "../cli/mount/mount_place.ts";
import { inNamespace } from "../cli/mount/own_run.ts";
import { CLI } from "../cli/run_cli.ts";
import { goldenCase } from "../support/golden.ts";
import { send } from "../support/programs/processes.ts";
import { needs } from "../support/programs/programs.ts";
import { sleep, THOROUGH } from "./numbers_mount.ts";

const { path } = goldenCase("ffrecord/packed_tree");

/** Upper estimate of the time until a mount is resumable, in milliseconds. */
const START_MS = 250;

/** Mounts, kills the server after `afterMs`, and returns the exit code of the command and the supervisor. */
async function mountAndKill(
  { env, mountpoint }: MountPlace,
  afterMs: number,
): Promise<{ code: number; supervisor: number | undefined }> {
  const command = [
    Deno.execPath(),
    "run",
    "-A",
    CLI,
    "mount",
    path,
    mountpoint,
  ];
  const [program, ...args] = inNamespace(command, env);
  const child = new Deno.Command(program!, {
    args,
    env,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  let over = false;
  const ended = child.status.then(({ code }) => {
    over = true;
    return code;
  });
  let supervisor: number | undefined;
  await until(async () => {
    [supervisor] = await childrenOf(child.pid);
    return over || supervisor !== undefined;
  });
  await sleep(afterMs);
  const [server] = supervisor === undefined ? [] : await childrenOf(supervisor);
  if (server !== undefined) send(server, "SIGKILL");
  await until(() => over); // fails the test if the command hangs
  return { code: await ended, supervisor };
}

Deno.test({
  name:
    "a server that is killed at any moment of its start leaves no hanging mount",
  ...needs("fuse"),
  fn: () =>
    withMountPlace(async (place) => {
      const times = THOROUGH ? 200 : 12;
      const { mountpoint } = place;
      for (let i = 0; i < times; i++) {
        const afterMs = START_MS * i / times;
        const { code, supervisor } = await mountAndKill(place, afterMs);
        assert.ok(code === 0 || code === 1, `exit code ${code}`);
        if (code === 0) {
          // The server was resumable before, or the mount is dead.
          await until(async () => {
            const state = (await place.listed())?.state;
            return state === "ok" || state === "dead";
          });
          const unmounted = await place.recordfs("unmount", mountpoint);
          assert.deepEqual([unmounted.stderr, unmounted.code], ["", 0]);
        }
        await until(async () => !await isRunning(supervisor));
        assert.equal(await isMounted(mountpoint), false, `${afterMs} ms`);
      }
    }),
});
