import assert from "node:assert/strict";
import { goldenCase } from "../../support/golden.ts";
import { ffrHeader } from "../../support/ffrecord/make_ffr.ts";
import { needs } from "../../support/programs/programs.ts";
import { assertFailed, CLI, run } from "../run_cli.ts";
import {
  isMounted,
  type MountPlace,
  namesIn,
  withMountPlace,
} from "./mount_place.ts";

const tree = goldenCase("ffrecord/packed_tree");
const damaged = goldenCase("ffrecord/bad_flip_n_low");

function test(
  name: string,
  body: (place: MountPlace) => Promise<void>,
  ...also: string[]
): void {
  const fn = () => withMountPlace(body);
  Deno.test({ name, ...needs("fuse", ...also), fn });
}

/** Asserts that mounting fails in the background and in the foreground, with the same message. */
async function assertNotMounted(
  place: MountPlace,
  source: string,
  mountpoint: string,
  words: RegExp,
): Promise<void> {
  const background = await place.recordfs("mount", source, mountpoint);
  assertFailed(background, 1, words);
  const foreground = await place.recordfs("mount", "-f", source, mountpoint);
  assertFailed(foreground, 1, words);
  assert.equal(foreground.stderr, background.stderr);
  assert.equal(await isMounted(mountpoint), false);
  assert.deepEqual(await namesIn(place.state), [], "no log stays");
}

test("a missing mountpoint", (place) => {
  const mountpoint = `${place.dir}/missing`;
  const words = /missing: there is no such directory\. Make it/;
  return assertNotMounted(place, tree.path, mountpoint, words);
});

test("a mountpoint that is a file", async (place) => {
  const mountpoint = `${place.dir}/file`;
  await Deno.writeTextFile(mountpoint, "");
  await assertNotMounted(place, tree.path, mountpoint, /is not a directory/);
});

test("a mountpoint that is not empty, and -o nonempty", async (place) => {
  const { mountpoint } = place;
  await Deno.writeTextFile(`${mountpoint}/file`, "");
  const words = /not empty.*-o nonempty/;
  await assertNotMounted(place, tree.path, mountpoint, words);
  const args = ["mount", "-o", "nonempty", tree.path, mountpoint];
  assert.equal((await place.recordfs(...args)).code, 0);
});

test("a mountpoint inside the source", async (place) => {
  const source = `${place.dir}/source`;
  await Deno.mkdir(`${source}/mnt`, { recursive: true });
  await Deno.copyFile(tree.path, `${source}/a.ffr`);
  const words = /is inside .*source/;
  await assertNotMounted(place, source, `${source}/mnt`, words);
});

test("a source that is missing or damaged", async (place) => {
  const missing = `${place.dir}/missing.ffr`;
  const { mountpoint } = place;
  await assertNotMounted(place, missing, mountpoint, /no such file/);
  await assertNotMounted(place, damaged.path, mountpoint, /checksum.*metadata/);
});

test("a source with damaged tables, found after it was mounted", async (place) => {
  const source = `${place.dir}/large.ffr`;
  const none = new Array<number>(300_000).fill(0);
  const header = ffrHeader(none, none);
  header[header.length - 1]! ^= 1;
  await Deno.writeFile(source, header);
  await assertNotMounted(place, source, place.mountpoint, /checksum.*metadata/);
});

test(
  "a missing /dev/fuse",
  async (place) => {
    // A /dev with only the devices that Deno needs.
    const script = `mount -t tmpfs none /dev && mknod /dev/null c 1 3 &&
    mknod /dev/urandom c 1 9 && exec "$@"`;
    const ran = await run([
      "unshare",
      "--mount",
      "sh",
      "-c",
      script,
      "sh",
      Deno.execPath(),
      ...["run", "-A", CLI, "mount", tree.path, place.mountpoint],
    ], { env: place.env });
    assertFailed(ran, 1, /\/dev\/fuse is missing.*modprobe.*--device/);
  },
  "root",
  "unshare",
);

test(
  "a missing fusermount3, where mount(2) is not allowed",
  async (place) => {
    const ran = await run([
      "setpriv",
      "--bounding-set=-sys_admin",
      "--inh-caps=-sys_admin",
      "env",
      `PATH=${place.dir}`,
      Deno.execPath(),
      ...["run", "-A", CLI, "mount", tree.path, place.mountpoint],
    ], { env: place.env });
    assertFailed(ran, 1, /fusermount3.*fuse3.*--cap-add SYS_ADMIN/);
  },
  "root",
  "setpriv",
);

test("a state directory that others could enter", async (place) => {
  await Deno.mkdir(place.state);
  await Deno.chmod(place.state, 0o755);
  const ran = await place.recordfs("mount", tree.path, place.mountpoint);
  assertFailed(ran, 1, /chmod 700/);
  assert.equal(await isMounted(place.mountpoint), false);
});
