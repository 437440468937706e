/** Mounts on top of each other, and bind mounts of mounts. */
import assert from "node:assert/strict";
import {
  isMounted,
  isRunning,
  type MountPlace,
} from "../../cli/mount/mount_place.ts";
import { run } from "../../cli/run_cli.ts";
import { FULL } from "../../support/long.ts";
import { needs } from "../../support/programs/programs.ts";
import { asOrdinaryUser, asSelf } from "../../support/programs/users.ts";
import { bothAlive, record, test, writeNumbers } from "../numbers_mount.ts";

/** Returns the entries of `mounts --json` for a directory, the uppermost mount last. */
async function listed(
  place: MountPlace,
  mountpoint: string,
): Promise<Record<string, unknown>[]> {
  const { stdout, stderr } = await place.recordfs("mounts", "--json");
  assert.equal(stderr, "");
  return (JSON.parse(stdout) as Record<string, unknown>[])
    .filter((mount) => mount.mountpoint === mountpoint);
}

test(
  "of two mounts on one directory the upper one is unmounted, and its server ends",
  async (place, source) => {
    const { mountpoint } = place;
    const lower = await bothAlive(place);
    const options = ["-o", "nonempty", "--ext=jpg", source, mountpoint];
    assert.equal((await place.recordfs("mount", ...options)).code, 0);
    const [first, second] = await listed(place, mountpoint);
    assert.deepEqual([first?.pid, first?.state], [lower.server, "ok"]);
    assert.notEqual(second?.pid, lower.server);
    assert.equal((await Deno.readFile(`${mountpoint}/000005.jpg`))[0], 5);
    const { stderr, code } = await place.recordfs("unmount", mountpoint);
    assert.deepEqual([stderr, code], ["", 0]);
    assert.equal(await isRunning(second?.pid), false);
    assert.equal(await isRunning(second?.supervisor), false);
    assert.ok(await isRunning(lower.server));
    assert.equal((await Deno.readFile(`${mountpoint}/000005`))[0], 5);
    assert.equal((await place.recordfs("unmount", mountpoint)).code, 0);
    assert.equal(await isRunning(lower.server), false);
    assert.equal(await isMounted(mountpoint), false);
  },
  "root",
);

Deno.test({
  name:
    "an ordinary user, whom fusermount3 lets mount on no mount, gets that message, and the lower mount continues",
  ...needs("fuse", "fusermount3"),
  fn: () =>
    (Deno.uid() === 0 ? asOrdinaryUser : asSelf)(async (user) => {
      const mountpoint = `${user.home}/mnt`;
      const source = `${user.home}/numbers.ffr`;
      await writeNumbers(source);
      await user.own(source);
      await user.do("mkdir", mountpoint);
      const mount = ["mount", "-o", "nonempty", source, mountpoint];
      const first = await user.recordfs(...mount);
      assert.deepEqual([first.stderr, first.code], ["", 0]);
      const byte = 'head --bytes=1 "$0"/000005 | od -An -tu1';
      const lower = () => user.do("sh", "-c", byte, mountpoint);
      try {
        const { stderr, code } = await user.recordfs(...mount, "--ext=jpg");
        assert.match(
          stderr,
          /^recordfs: Cannot mount on [^\n]*\/mnt: fusermount3 refused: [^\n]+\n$/,
        );
        assert.equal(code, 1);
        assert.equal((await lower()).trim(), "5");
        const listed = await user.recordfs("mounts", "--json");
        const [mounted, ...others] = JSON.parse(listed.stdout)
          .filter((one: { mountpoint: string }) =>
            one.mountpoint === mountpoint
          );
        assert.deepEqual([mounted.state, others], ["ok", []]);
      } finally {
        const { stderr, code } = await user.recordfs("unmount", mountpoint);
        assert.deepEqual([stderr, code], ["", 0]);
      }
      assert.equal(await isMounted(mountpoint), false);
    }),
});

for (const first of ["the bind mount", ...FULL ? ["the mount"] : []]) {
  test(
    `a bind mount of a mount is listed with its process; ${first} is unmounted first`,
    async (place) => {
      const { dir, mountpoint } = place;
      const bound = `${dir}/bound`;
      await Deno.mkdir(bound);
      const { server, supervisor } = await bothAlive(place);
      const binding = await run(["mount", "--bind", mountpoint, bound]);
      assert.deepEqual([binding.stderr, binding.code], ["", 0]);
      try {
        const [mount] = await listed(place, bound);
        assert.deepEqual(
          [mount?.pid, mount?.supervisor, mount?.state],
          [server, supervisor, "ok"],
        );
        const places = [bound, mountpoint];
        if (first === "the mount") places.reverse();
        const [one, other] = places as [string, string];
        const { stderr, code } = await place.recordfs("unmount", one);
        assert.deepEqual([stderr, code], ["", 0]);
        assert.equal(await isMounted(one), false);
        assert.equal((await record(place)).pid, server);
        assert.equal((await Deno.readFile(`${other}/000006`))[0], 6);
        const [left] = await listed(place, other);
        assert.deepEqual([left?.pid, left?.state], [server, "ok"]);
        assert.equal((await place.recordfs("unmount", other)).code, 0);
        assert.equal(await isRunning(server), false);
        assert.equal(await isRunning(supervisor), false);
      } finally {
        if (await isMounted(bound)) await run(["umount", "--lazy", bound]);
      }
    },
    "root",
  );
}
