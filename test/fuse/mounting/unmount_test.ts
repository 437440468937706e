import { setTimeout } from "node:timers/promises";
import assert from "node:assert/strict";
import { MountError } from "../../../fuse/mounting/mount_error.ts";
import { mountTree } from "../../../fuse/mount.ts";
import {
  findMount,
  isStale,
  readMounts,
  recordfsMounts,
} from "../../../fuse/mounting/mountinfo.ts";
import { unmountPath } from "../../../fuse/mounting/unmount.ts";
import { send } from "../../support/programs/processes.ts";
import { MemoryTree } from "../support/memory_tree.ts";
import { mountTest, output, withMountpoint } from "../support/mounting.ts";

const tree = MemoryTree.of({ "a.txt": "hello", big: "x".repeat(3_000_000) });
const isCode = (code: string) => (error: unknown) =>
  error instanceof MountError && error.code === code;
const mounted = (path: string) => findMount(readMounts(), path) !== undefined;

mountTest(
  "unmounting ends the mount, and repeating it does nothing",
  () =>
    withMountpoint(async (mountpoint) => {
      const mount = await mountTree(tree, mountpoint);
      assert.ok(
        recordfsMounts().some((entry) => entry.mountpoint === mountpoint),
      );
      await mount.unmount();
      assert.deepEqual(await mount.finished, { failure: undefined });
      assert.ok(!mounted(mountpoint));
      await mount.unmount();
    }),
);

mountTest(
  "a mount unmounted by another program is cleaned up",
  () =>
    withMountpoint(async (mountpoint) => {
      const mount = await mountTree(tree, mountpoint);
      assert.equal((await output("umount", mountpoint)).code, 0);
      assert.deepEqual(await mount.finished, { failure: undefined });
      await mount.unmount();
    }),
);

mountTest(
  "a mount is unmounted by path",
  () =>
    withMountpoint(async (mountpoint) => {
      const mount = await mountTree(tree, mountpoint);
      await unmountPath(`${mountpoint}/`);
      await mount.finished;
      await assert.rejects(unmountPath(mountpoint), isCode("not-mounted"));
      await assert.rejects(unmountPath("/proc"), isCode("not-mounted"));
      await assert.rejects(
        unmountPath(`${mountpoint}/no`),
        isCode("not-mounted"),
      );
    }),
);

mountTest(
  "unmounting a busy mount fails, and detaches it lazily on request",
  () =>
    withMountpoint(async (mountpoint) => {
      const mount = await mountTree(tree, mountpoint);
      const file = await Deno.open(`${mountpoint}/a.txt`);
      await assert.rejects(mount.unmount(), isCode("busy"));
      await assert.rejects(unmountPath(mountpoint), isCode("busy"));
      await mount.unmount({ lazy: true });
      assert.ok(!mounted(mountpoint));
      await assert.rejects(mount.unmount(), isCode("busy"));
      const buffer = new Uint8Array(10);
      assert.equal(await file.read(buffer), 5, "its user can go on");
      file.close();
      await mount.finished;
    }),
);

mountTest(
  "a process that has a file of a mount open for a moment does not keep it mounted",
  () =>
    withMountpoint(async (mountpoint) => {
      const mount = await mountTree(tree, mountpoint);
      const file = await Deno.open(`${mountpoint}/a.txt`);
      const moment = setTimeout(50).then(() => file.close());
      await mount.unmount();
      await moment;
      assert.ok(!mounted(mountpoint));
    }),
);

mountTest(
  "a busy mount is ended by force; its users get errors",
  () =>
    withMountpoint(async (mountpoint) => {
      const mount = await mountTree(tree, mountpoint);
      const file = await Deno.open(`${mountpoint}/big`);
      await mount.unmount({ force: true });
      assert.deepEqual(await mount.finished, { failure: undefined });
      assert.ok(!mounted(mountpoint));
      await assert.rejects(file.read(new Uint8Array(10)));
      file.close();
    }),
);

mountTest(
  "a mount under load is ended by force",
  () =>
    withMountpoint(async (mountpoint) => {
      const mount = await mountTree(tree, mountpoint);
      const reader = new Deno.Command("sh", {
        args: ["-c", "while head -c 3000000 big >/dev/null; do echo; done"],
        cwd: mountpoint,
        stdin: "null",
        stdout: "piped",
        stderr: "null",
      }).spawn();
      const rounds = reader.stdout.getReader();
      await rounds.read();
      await mount.unmount({ force: true });
      await mount.finished;
      assert.ok(!mounted(mountpoint));
      // The reader may continue from the kernel's cache without a server.
      send(reader.pid, "SIGKILL");
      await reader.status;
      await rounds.cancel();
    }),
);

mountTest(
  "disposing of a busy mount ends it",
  () =>
    withMountpoint(async (mountpoint) => {
      let file: Deno.FsFile;
      {
        await using _mount = await mountTree(tree, mountpoint);
        file = await Deno.open(`${mountpoint}/a.txt`);
      }
      file.close();
      assert.ok(!mounted(mountpoint));
    }),
);

mountTest(
  "a killed process leaves a stale mount, which is named and removed",
  () =>
    withMountpoint(async (mountpoint) => {
      const server = new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "--no-check", "-A"],
          new URL("../support/serve.ts", import.meta.url).pathname,
          mountpoint,
        ],
        stdin: "null",
        stdout: "piped",
      }).spawn();
      const output = server.stdout.getReader();
      await output.read(); // waits for "ready"
      server.kill("SIGKILL");
      await server.status;
      await output.cancel();
      assert.ok(await isStale(mountpoint));
      await assert.rejects(mountTree(tree, mountpoint), (error) => {
        assert.ok(isCode("stale")(error));
        assert.match(String(error), /recordfs unmount/);
        return true;
      });
      await unmountPath(mountpoint);
      assert.ok(!mounted(mountpoint));
    }),
);

mountTest(
  "a process may exit while its mount is in use",
  () =>
    withMountpoint(async (mountpoint) => {
      const server = new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "--no-check", "-A"],
          new URL("../support/serve.ts", import.meta.url).pathname,
          ...[mountpoint, "busy"],
        ],
        stdin: "null",
      });
      const { code } = await server.output();
      assert.equal(code, 7);
      await unmountPath(mountpoint, { lazy: true });
    }),
);
