/** Mounts of every format, from disk and from a server: files equal those of the tree, and damaged ones are EIO. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { mount } from "../../../fuse/mount_container.ts";
import type { MountContainerOptions } from "../../../fuse/mount_container.ts";
import { FormatError } from "../../../src/base/errors.ts";
import { type ContainerOptions } from "../../../src/open/mod.ts";
import { open } from "../../../src/open/open.ts";
import { type VirtualFs } from "../../../src/tree/vfs/virtual_fs.ts";
import {
  mountTest,
  output,
  withMountpoint,
} from "../../fuse/support/mounting.ts";
import { FULL } from "../../support/long.ts";
import { REPOSITORY } from "../../support/paths.ts";
import { FileServer } from "../../support/remote/file_server.ts";
import {
  type FormatCase,
  withDamage,
  withSmall,
  writeShards,
} from "./format_case.ts";
import { CASES } from "./formats.ts";

const GOLDEN = `${REPOSITORY}test/golden`;

/** Containers with more files are skipped. */
const MOST = 300;

const quiet = { onWarning() {}, onLog() {} };

/** Returns the bytes of a file, or the code of the error of reading it. */
function attempt(read: () => Uint8Array): Uint8Array | string | undefined {
  try {
    return Uint8Array.from(read());
  } catch (error) {
    return (error as { code?: string }).code;
  }
}

/** Asserts that files below a directory equal those of a tree. */
async function assertShown(shown: VirtualFs, directory: string): Promise<void> {
  const files = [...shown.walkSync()].filter(({ isFile }) => isFile);
  const { stdout, stderr } = await output(
    ...["find", directory, "-xtype", "f", "-printf", "x"] as const,
  );
  const unknown = stderr.match(/Input\/output error/g) ?? []; // their type is unreadable too
  assert.equal(stdout.length + unknown.length, files.length);
  for (const { path } of files) {
    if (!path.isWellFormed()) continue; // names that JavaScript cannot represent
    const expected = attempt(() => shown.readSync(path));
    const read = attempt(() => {
      const bytes = fs.readFileSync(`${directory}/${path}`);
      assert.equal(fs.statSync(`${directory}/${path}`).size, bytes.length);
      return bytes;
    });
    const isRead = expected instanceof Uint8Array;
    assert.deepEqual(read, isRead ? expected : "EIO", path);
  }
}

/** Asserts that a container is mounted as its tree, or that mounting fails if it has none. */
async function assertMounted(
  path: string,
  options: MountContainerOptions & ContainerOptions,
): Promise<void> {
  await withMountpoint(async (mountpoint) => {
    try {
      using shown = await open(path, options);
      await using _mounted = await mount(path, mountpoint, options);
      await assertShown(shown, mountpoint);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      await assert.rejects(mount(path, mountpoint, options), FormatError);
    }
  });
}

/** Returns the valid golden containers that are not large, or in a quick run one in the middle and the last one. */
async function goldensOf({ name, goldens }: FormatCase): Promise<string[]> {
  const paths: string[] = [];
  for (const { path, isSound } of goldens) {
    if (!isSound) continue;
    using shown = await open(path, { format: name, onWarning() {} });
    if (shown.info.files <= MOST) paths.push(path);
  }
  const few = [paths.length >> 1, paths.length - 1];
  return FULL ? paths : [...new Set(few)].map((i) => paths[i]!);
}

for (const [title, format] of CASES) {
  // Datasets of all generations share one tree class.
  if (!FULL && /generation [12]$/.test(title)) continue;
  const own = { ...quiet, format: format.name };

  mountTest(
    `${title}: mounted files equal those of the tree, and unreadable ones are an I/O error`,
    () =>
      withSmall(format, async (path, dir) => {
        for (const decoded of FULL ? [false, true] : [true]) {
          await assertMounted(path, { ...own, decoded });
        }
        const { damages, shards } = format;
        const few = shards === undefined ? damages.slice(-1) : [];
        for (const damage of FULL ? damages : few) {
          await withDamage(path, damage, () => assertMounted(path, own));
        }
        if (shards === undefined) return;
        fs.mkdirSync(`${dir}/shards`);
        await writeShards(`${dir}/shards`, shards, 1);
        await assertMounted(`${dir}/shards`, own);
      }),
  );

  if (format.goldens.length === 0) continue;
  mountTest(
    `${title}: golden containers are mounted, several as one, from disk and from a server`,
    () =>
      withSmall(format, async (_small, dir) => {
        const paths = await goldensOf(format);
        const places = paths.map((location, i) => ({ location, path: `${i}` }));
        await using server = await FileServer.start(GOLDEN);
        const far = places.map(({ location, path }) => ({
          path,
          location: encodeURI(location.replace(GOLDEN, server.url)),
        }));
        const remote = { cache: { directory: `${dir}/cache` } };
        await withMountpoint((near) =>
          withMountpoint(async (mountpoint) => {
            await using _near = await mount(places, near, own);
            await using _far = await mount(far, mountpoint, { ...own, remote });
            for (const { location, path } of places) {
              using alone = await open(location, own);
              await assertShown(alone, `${near}/${path}`);
            }
            // Links are compared as links: some are broken.
            const flags = ["-r", "--no-dereference"];
            const diff = await output("diff", ...flags, near, mountpoint);
            assert.deepEqual(diff, { code: 0, stdout: "", stderr: "" });
          })
        );
      }),
  );
}
