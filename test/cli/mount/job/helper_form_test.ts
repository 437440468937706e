/** The command line by which mount(8) and mount.fuse3(8) run the program. */
import assert from "node:assert/strict";
import {
  mountCommandLine,
  takeSourceOptions,
} from "../../../../src/cli/mount/job/helper_form.ts";
import { UsageError } from "../../../../src/cli/exit.ts";
import { fromFileUrl } from "../../../support/paths.ts";
import { FileServer } from "../../../support/remote/file_server.ts";
import { goldenCase, sha256 } from "../../../support/golden.ts";
import { needs } from "../../../support/programs/programs.ts";
import { CLI, type Ran, run } from "../../run_cli.ts";
import { type MountPlace, withMountPlace } from "../mount_place.ts";

const parts = goldenCase("ffrecord/parts_dump");
const COMMANDS = ["ls", "mount"];
const GOLDEN = new URL("../../../golden/", import.meta.url);

Deno.test("the arguments of a mount helper become those of `mount`", () => {
  const cases: [string[], string[]][] = [
    [["/a.ffr", "/mnt"], ["mount", "/a.ffr", "/mnt"]],
    // mount(8) expands `defaults` to these options, which only this form accepts.
    [["a", "/mnt", "-o", "rw,dev"], ["mount", "a", "/mnt", "-o", "dev"]],
    [["a", "/mnt", "-o", "rw"], ["mount", "a", "/mnt", "-o", ""]],
    [["/a", "/mnt", "-orw,uid=1"], ["mount", "/a", "/mnt", "-o", "uid=1"]],
    [["a", "/m", "-o", "fsname=a\\,rw,rw"], [
      "mount",
      "a",
      "/m",
      "-o",
      "fsname=a\\,rw",
    ]],
    [["mount", "a", "/mnt", "-o", "rw"], ["mount", "a", "/mnt", "-o", "rw"]],
    [["/a", "/mnt", "-sv", "-n"], ["mount", "/a", "/mnt"]],
    [["/a", "/mnt", "-t", "fuse.recordfs"], ["mount", "/a", "/mnt"]],
    [["ls", "/a.ffr"], ["ls", "/a.ffr"]],
    [["lss", "/a.ffr"], ["lss", "/a.ffr"]],
    [["--help", "x"], ["--help", "x"]],
    [["/a.ffr"], ["/a.ffr"]],
  ];
  for (const [args, expected] of cases) {
    assert.deepEqual(mountCommandLine(args, COMMANDS), expected);
  }
});

Deno.test("format=, ext= and the like are removed from mount options", () => {
  assert.deepEqual(takeSourceOptions("ro,format=x,uid=1,ext=jp\\,g"), {
    format: "x",
    ext: "jp,g",
    rest: "ro,uid=1",
  });
  assert.deepEqual(takeSourceOptions("subset=/a\\,b,shuffle=7,epoch=0-9"), {
    subset: "/a,b",
    shuffle: "7",
    epoch: "0-9",
    rest: "",
  });
  assert.deepEqual(
    takeSourceOptions("format_module=/a\\,b.ts,ro,format_module=c.ts"),
    { formatModule: ["/a,b.ts", "c.ts"], rest: "ro" },
  );
  assert.deepEqual(takeSourceOptions("fsname=a\\,format=b,,"), {
    rest: "fsname=a\\,format=b",
  });
  assert.deepEqual(takeSourceOptions("nested,strip_suffix,ro"), {
    nested: true,
    stripSuffix: true,
    rest: "ro",
  });
  assert.deepEqual(takeSourceOptions("nested=.tar\\,zip"), {
    nested: [".tar", "zip"],
    rest: "",
  });
  assert.deepEqual(takeSourceOptions(""), { rest: "" });
});

Deno.test("options for servers are removed from mount options", () => {
  const text = "_netdev,header-file=/h\\,x,profile=p,no-cache,anonymous," +
    "requester-pays,cache-dir=/c,cache-shared,cache-size=2G,timeout=5,max-requests=8,ro," +
    "cacert=/ca,endpoint=http://[::1]:7480,region=eu,addressing=virtual";
  assert.deepEqual(takeSourceOptions(text), {
    headerFile: "/h,x",
    profile: "p",
    cache: false,
    anonymous: true,
    requesterPays: true,
    cacheDir: "/c",
    cacheShared: true,
    cacheSize: 2 ** 31,
    timeout: 5000,
    maxRequests: 8,
    cacert: "/ca",
    endpoint: "http://[::1]:7480",
    region: "eu",
    addressing: "virtual",
    rest: "_netdev,ro",
  });
  for (
    const wrong of [
      "timeout=soon",
      "addressing=host",
      "cache-size=",
      "max-requests=0",
    ]
  ) {
    assert.throws(() => takeSourceOptions(wrong), UsageError, wrong);
  }
});

/**
 * Runs a script in a mount namespace in which mount(8) finds `recordfs`. It only looks in the system's directories, so
 * one of them is covered.
 *
 * @param script Has the mount point in `$MNT` and the container in `$SOURCE`.
 */
async function withProgram(
  { dir, mountpoint, env }: MountPlace,
  script: string,
): Promise<Ran> {
  await Deno.mkdir(`${dir}/bin`);
  const program = `#!/bin/sh\nexec '${Deno.execPath()}' run -A '${CLI}' "$@"\n`;
  await Deno.writeTextFile(`${dir}/bin/recordfs`, program, { mode: 0o755 });
  const cover = `mount --bind '${dir}/bin' /usr/local/sbin`;
  return await run(
    ["unshare", "--mount", "sh", "-ec", `${cover}\n${script}`],
    { env: { ...env, MNT: mountpoint, SOURCE: parts.path } },
  );
}

function test(name: string, body: (place: MountPlace) => Promise<void>): void {
  Deno.test({
    name: `${name} (needs mount.fuse3)`,
    ...needs("fuse", "root", "mount.fuse3", "unshare"),
    fn: () => withMountPlace(body),
  });
}

test("mount -t fuse.recordfs and umount", async (place) => {
  const options = "allow_other,noatime,nofail,ext=jpg";
  const ran = await withProgram(
    place,
    `mount -t fuse.recordfs -o ${options} "$SOURCE" "$MNT"
    cat "$MNT/000000.jpg"
    umount "$MNT"
    ! grep -q "$MNT" /proc/self/mounts`,
  );
  assert.deepEqual([ran.stderr, ran.code], ["", 0]);
  assert.equal(sha256(ran.bytes), parts.content.samples[0]!.sha256);
});

test("mount by a line of fstab", async (place) => {
  const options = "ro,noauto,x-systemd.automount,format=ffrecord-samples";
  const fstab = `${place.dir}/fstab`;
  const line = `${parts.path} ${place.mountpoint} fuse.recordfs ${options} 0 0`;
  await Deno.writeTextFile(fstab, `${line}\n`);
  const ran = await withProgram(
    place,
    `mount --fstab '${fstab}' "$MNT"; ls "$MNT"; umount "$MNT"`,
  );
  assert.deepEqual([ran.stderr, ran.code], ["", 0]);
  assert.equal(ran.stdout.split("\n").length - 1, parts.content.n);
});

test("mount by a line of fstab, from a web server that requires a token", async (place) => {
  await using server = await FileServer.start(fromFileUrl(GOLDEN));
  server.fault = ({ headers }, response) => {
    if (headers.authorization === "Bearer a, b") return false;
    response.writeHead(401).end();
    return true;
  };
  const headers = `${place.dir}/headers`;
  await Deno.writeTextFile(headers, "Authorization: Bearer a, b\n");
  const options = `_netdev,header-file=${headers},cache-dir=${place.dir}/cache`;
  const fstab = `${place.dir}/fstab`;
  const url = `${server.url}/ffrecord/packed_tree/sample_10.ffr`;
  await Deno.writeTextFile(
    fstab,
    `${url} ${place.mountpoint} fuse.recordfs ro,${options} 0 0\n`,
  );
  const ran = await withProgram(
    place,
    `mount --fstab '${fstab}' "$MNT"; ls "$MNT"; umount "$MNT"`,
  );
  assert.deepEqual([ran.stderr, ran.code], ["", 0]);
  assert.match(ran.stdout, /^words$/m);
});

test("mount -t fuse.recordfs fails with the reason", async (place) => {
  const ran = await withProgram(
    place,
    `mount -t fuse.recordfs "$MNT/missing.ffr" "$MNT"`,
  );
  assert.match(ran.stderr, /missing\.ffr: there is no such file/);
  assert.notEqual(ran.code, 0);
});

test("mount -t recordfs, by a helper of that name", async (place) => {
  const ran = await withProgram(
    place,
    `cp /usr/local/sbin/recordfs '${place.dir}/mount.recordfs'
    mount -t tmpfs none /usr/sbin
    ln -s '${place.dir}/mount.recordfs' /usr/sbin/mount.recordfs
    mount -v -n -t recordfs "$SOURCE" "$MNT"
    cat "$MNT/000001"
    umount "$MNT"`,
  );
  assert.deepEqual([ran.stderr, ran.code], ["", 0]);
  assert.equal(sha256(ran.bytes), parts.content.samples[1]!.sha256);
});
