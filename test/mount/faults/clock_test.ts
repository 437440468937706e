/** The clock of the machine jumps by years while a mount is read and its servers are killed. */
import assert from "node:assert/strict";
import {
  isRunning,
  namesIn,
  until,
  withMountPlace,
} from "../../cli/mount/mount_place.ts";
import { recordfs, run } from "../../cli/run_cli.ts";
import { needs } from "../../support/programs/programs.ts";
import { COUNT, record, SIZE, sleep, writeNumbers } from "../numbers_mount.ts";
import { startReaders } from "../readers.ts";

/** Returns the library that `faketime` preloads, wherever this system has it. */
async function library(): Promise<string> {
  const show = ["faketime", "-m", "-f", "+0", "printenv", "LD_PRELOAD"];
  return (await run(show)).stdout.trim();
}

/** Offsets of the clock, set one after another. */
const JUMPS = ["+10y", "-30y", "+50d", "-11s", "-1h", "+200y", "+0"];

Deno.test({
  name: "if the clock jumps by years, reads continue, and ages are right",
  ...needs("fuse", "python3", "faketime"),
  fn: () =>
    withMountPlace(async (place) => {
      const { dir, mountpoint } = place;
      const source = `${dir}/numbers.ffr`;
      await writeNumbers(source);
      const clock = `${dir}/clock`;
      await Deno.writeTextFile(clock, "+0");
      const env = {
        ...place.env,
        LD_PRELOAD: await library(),
        FAKETIME_TIMESTAMP_FILE: clock,
        FAKETIME_NO_CACHE: "1",
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
        NO_FAKE_STAT: "1", // file times do not jump
      };
      const mounted = await recordfs(["mount", source, mountpoint], { env });
      assert.deepEqual([mounted.stderr, mounted.code], ["", 0]);
      await until(async () => (await record(place)).supervised.resumable);
      const start = performance.now();
      const readers = startReaders(
        mountpoint,
        4,
        COUNT,
        SIZE,
        JUMPS.length + 1,
      );
      const { log, supervised: { supervisor } } = await record(place);
      for (const jump of JUMPS) {
        await Deno.writeTextFile(clock, jump);
        await sleep(200);
        const { pid } = await record(place);
        Deno.kill(pid, "SIGKILL");
        await until(async () => (await record(place)).pid !== pid);
        const { stdout } = await recordfs(["mounts", "--json"], { env });
        const [{ uptime, state }] = JSON.parse(stdout).filter((
          mount: { mountpoint: string },
        ) => mount.mountpoint === mountpoint);
        const most = (performance.now() - start) / 1000 + 60;
        assert.ok(uptime >= 0 && uptime < most, `${jump}: ${uptime} s`);
        assert.equal(state, "ok");
      }
      for (const { read, wrong } of await readers.stop()) {
        assert.deepEqual(wrong, []);
        assert.ok(read > JUMPS.length);
      }
      // The clock did jump, and no jump was reported as a change of the container.
      const text = await Deno.readTextFile(log);
      const years = new Set(text.match(/(?<=^recordfs: )\d{4}(?=-)/gm));
      assert.ok(years.size >= 4, [...years].join());
      // libfaketime prints errors of its own when several processes start at once.
      const own = text.replaceAll(/^libfaketime: .*\n/gm, "");
      assert.doesNotMatch(own, /changed|replaced|failed/);
      const unmounted = await recordfs(["unmount", mountpoint], { env });
      assert.deepEqual([unmounted.stderr, unmounted.code], ["", 0]);
      assert.equal(await isRunning(supervisor.pid), false);
      assert.deepEqual(await namesIn(place.state), []);
    }),
});
