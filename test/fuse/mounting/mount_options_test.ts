import assert from "node:assert/strict";
import { MountError } from "../../../fuse/mounting/mount_error.ts";
import { parseMountOptions } from "../../../fuse/mounting/mount_options.ts";

Deno.test("mount options with an effect are parsed", () => {
  assert.deepEqual(
    parseMountOptions(
      "allow_other,default_permissions,nonempty,noexec,uid=1000,gid=0,umask=027,max_read=65536",
    ),
    {
      allowOther: true,
      nonEmpty: true,
      noExec: true,
      uid: 1000,
      gid: 0,
      umask: 0o027,
      maxRead: 65536,
    },
  );
  assert.deepEqual(parseMountOptions("fsname=a=b,subtype=x"), {
    fsname: "a=b",
    subtype: "x",
  });
});

Deno.test("a backslash makes the next character part of a value", () => {
  assert.deepEqual(parseMountOptions("fsname=a\\,b\\\\c,noexec"), {
    fsname: "a,b\\c",
    noExec: true,
  });
});

Deno.test("the last of noexec and exec wins", () => {
  assert.equal(parseMountOptions("noexec,exec").noExec, false);
  assert.equal(parseMountOptions("exec,noexec").noExec, true);
});

Deno.test("the last of verify and no_verify wins", () => {
  assert.equal(parseMountOptions("verify,no_verify").verify, false);
  assert.equal(parseMountOptions("no_verify,verify").verify, true);
});

Deno.test("options that mount(8) passes to any file system are accepted", () => {
  const lists = [
    "rw,dev,suid", // what mount.fuse3 passes by default
    "ro,nosuid,nodev,relatime,noatime,nodiratime",
    "defaults,auto,noauto,user,users,nouser,nofail,_netdev,sync,async,dirsync",
    "x-systemd.automount,x-gvfs-show,X-mount.mkdir=0755,comment=a b,user=joe",
    "",
    ",,",
  ];
  for (const list of lists) assert.deepEqual(parseMountOptions(list), {});
});

Deno.test("unknown options and invalid values are rejected by name", () => {
  const refused: [list: string, named: string][] = [
    ["ro,frobnicate", "'frobnicate'"],
    ["frobnicate=1", "'frobnicate'"],
    ["allow_other=1", "'allow_other'"],
    ["uid", "'uid'"],
    ["uid=joe", "uid=joe"],
    ["uid=-1", "uid=-1"],
    ["gid=4294967295", "gid=4294967295"],
    ["umask=8", "umask=8"],
    ["umask=1000", "umask=1000"],
    ["max_read=", "max_read="],
    ["fsname=", "fsname="],
  ];
  for (const [list, named] of refused) {
    assert.throws(() => parseMountOptions(list), (error) => {
      assert.ok(error instanceof MountError);
      assert.equal(error.code, "bad-option");
      assert.ok(error.message.includes(named), error.message);
      return true;
    });
  }
  assert.throws(() => parseMountOptions("bogus=1", ["prefix="]), {
    message: /'bogus': it is unknown\. Known are allow_other, .*, prefix= and/,
  });
});
