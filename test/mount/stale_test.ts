/** Mounts whose server and supervisor are both gone: listing them removes them. */
import assert from "node:assert/strict";
import { isStale } from "../../fuse/mountinfo.ts";
import {
  isMounted,
  isRunning,
  type MountPlace,
  namesIn,
  until,
} from "../cli/mount_place.ts";
import { ffrBytes } from "../support/make_ffr.ts";
import { needs } from "../support/programs.ts";
import { asOrdinaryUser } from "../support/users.ts";
import {
  type MountFacts,
  pathOfRecord,
  record,
  test,
} from "./numbers_mount.ts";

/** Kills all of a mount, and waits until the kernel has noticed. */
async function killAll(
  { pid, supervised }: MountFacts,
  mountpoint: string,
): Promise<void> {
  for (const one of [supervised.supervisor.pid, pid]) {
    Deno.kill(one, "SIGKILL");
    await until(async () => !await isRunning(one));
  }
  await until(() => isStale(mountpoint));
}

test("mounts removes a stale mount, and says so", async (place) => {
  const { mountpoint } = place;
  const facts = await record(place);
  await killAll(facts, mountpoint);
  const { stdout, stderr, code } = await place.recordfs("mounts", "--json");
  assert.match(
    stderr,
    /^recordfs: warning: .* had lost its server; that mount was removed\n$/,
  );
  assert.equal(code, 0);
  const listed = JSON.parse(stdout).find((mount: { mountpoint: string }) =>
    mount.mountpoint === mountpoint
  );
  assert.deepEqual([listed.state, listed.pid], ["removed", null]);
  assert.equal(await isMounted(mountpoint), false);
  assert.deepEqual(await namesIn(place.state), [facts.log.split("/").at(-1)]);
  const again = await place.recordfs("mounts");
  assert.deepEqual([again.stderr, again.code], ["", 0]);
  assert.ok(!again.stdout.includes(mountpoint));
});

test(
  "of two mounts on one directory only the stale one is removed",
  async (place, source) => {
    const { mountpoint } = place;
    const lower = await pathOfRecord(place);
    const options = ["-o", "nonempty", source, mountpoint];
    assert.equal((await place.recordfs("mount", ...options)).code, 0);
    const upper = (await namesIn(place.state)).find((name) =>
      name.endsWith(".json") && !lower.endsWith(name)
    );
    const text = await Deno.readTextFile(`${place.state}/${upper}`);
    await killAll(JSON.parse(text), mountpoint);
    const lists = await Promise.all([1, 2].map(() => place.recordfs("mounts")));
    assert.ok(lists.some(({ stderr }) => stderr.includes("was removed")));
    assert.equal((await Deno.readFile(`${mountpoint}/000005`))[0], 5);
    assert.equal((await place.listed())?.state, "ok");
  },
);

Deno.test({
  name: "mounts removes the stale mount of an ordinary user",
  ...needs("fuse", "root", "fusermount3"),
  fn: () =>
    asOrdinaryUser(async ({ home, recordfs, run }) => {
      const mountpoint = `${home}/mnt`;
      const source = `${home}/data.ffr`;
      await Deno.writeFile(source, ffrBytes([new Uint8Array(9)]));
      assert.equal((await run("mkdir", mountpoint)).code, 0);
      assert.equal((await recordfs("mount", source, mountpoint)).code, 0);
      const state = `${home}/run/recordfs`;
      const facts = await record({ state } as MountPlace);
      for (const one of [facts.supervised.supervisor.pid, facts.pid]) {
        Deno.kill(one, "SIGKILL");
        await until(async () => !await isRunning(one));
      }
      const { stderr, code } = await recordfs("mounts");
      assert.match(stderr, /that mount was removed\n$/);
      assert.equal(code, 0);
      assert.equal(await isMounted(mountpoint), false);
    }),
});
