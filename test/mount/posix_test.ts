/**
 * System calls on a mount have the same results as on the same files in a read-only file system of the kernel.
 * Covers the calls of pjdfstest, category by category, and those of go-fuse's posixtest that apply to a read-only
 * file system.
 *
 * Not covered:
 *
 * - pjdfstest chflags: a call of FreeBSD. granular: NFSv4 access lists, also of FreeBSD.
 * - pjdfstest ELOOP of circular links, posixtest OpenSymlinkRace: links of a mount lead to its files, and never
 *   change.
 * - pjdfstest EPERM and EACCES of sticky or immutable directories, set-id bits and other owners: there is one
 *   owner, and the only modes are 0644 and 0755 less the umask. `mount_test.ts` and `mount_user_test.ts` test who
 *   has access.
 * - pjdfstest ENOSPC, EMLINK, ETXTBSY, EFBIG, ENXIO and EWOULDBLOCK: nothing can grow, be linked, run, or be a
 *   FIFO. EFAULT: the kernel returns it before it asks a file system.
 * - pjdfstest utimensat's and rename's times, posixtest AppendWrite, Fallocate, FileBasic's writing,
 *   FstatDeleted, Link, LinkUnlinkRename, MkdirRmdir, NlinkZero, Rename*, TruncateFile: effects of success. The
 *   tests check that these calls fail.
 * - posixtest DirSeek: `seek_directory.py`, with very many entries. ReadDir of many: `tools_test.ts`.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { ffrBytes, packedSamples } from "../support/ffrecord/make_ffr.ts";
import { LONG } from "../support/long.ts";
import { fromFileUrl } from "../support/paths.ts";
import { needs } from "../support/programs/programs.ts";
import { withTmpfs } from "../support/programs/tmpfs.ts";
import {
  asOrdinaryUser,
  asSelf,
  type User,
} from "../support/programs/users.ts";

/** Creates real files like the tree that `mount --shuffle` shows for one sample. */
function makeLink(dir: string, uid: number, gid: number): void {
  fs.mkdirSync(`${dir}/epoch-0000`);
  fs.writeFileSync(`${dir}/000000`, CONTENT.file);
  fs.symlinkSync("../000000", `${dir}/epoch-0000/00000000`);
  fs.lchownSync(`${dir}/epoch-0000/00000000`, uid, gid);
  for (const name of ["000000", "epoch-0000", "."]) {
    fs.chmodSync(`${dir}/${name}`, name === "000000" ? 0o644 : 0o755);
    fs.chownSync(`${dir}/${name}`, uid, gid);
  }
}

type Results = Record<string, unknown>;

/** Differences from a tmpfs, with the reason. */
const DIFFERENT: readonly {
  readonly calls: RegExp;
  readonly ours: (theirs: unknown) => unknown;
  readonly reason: string;
}[] = [
  {
    calls: /^(get|list)xattr of /,
    ours: () => "ENOTSUP",
    reason:
      "there are no attributes, and said so, the kernel need not ask again",
  },
  {
    calls: /^facts of dir$/,
    ours: (facts) => (facts as unknown[]).with(1, 1).with(2, 0),
    reason: "subdirectories are not counted: one link means that, as in btrfs",
  },
  {
    calls: /^nothing free$/,
    ours: () => [0, 0],
    reason: "a container has no room",
  },
];

/** Calls on existing entries. On a missing entry, a call may fail with ENOENT first. */
const THERE = /: (a file|a directory|an empty directory)$/;

/** Calls that would change an existing entry: all must fail in a read-only file system. */
const CHANGES =
  /^(rmdir|unlink|rename.*|chmod|l?chown.*|utime.*|(set|remove)xattr): /;

/** Calls that would create an entry. */
const MAKES = /^(mkdir|mkfifo|mknod.*|symlink|link|creat.*|bind): /;

/** Content of the mounted container. */
const CONTENT = {
  file: new Uint8Array(5000).fill(7),
  none: new Uint8Array(0),
  dir: { inner: new TextEncoder().encode("inner") },
  empty: {},
};

/** Creates the same tree of real files, with a mount's modes. */
function makeTree(dir: string, uid: number, gid: number): void {
  for (const name of ["dir", "empty"]) fs.mkdirSync(`${dir}/${name}`);
  fs.writeFileSync(`${dir}/file`, CONTENT.file);
  fs.writeFileSync(`${dir}/none`, CONTENT.none);
  fs.writeFileSync(`${dir}/dir/inner`, CONTENT.dir.inner);
  for (const name of ["file", "none", "dir/inner", "dir", "empty", "."]) {
    const path = `${dir}/${name}`;
    fs.chmodSync(path, fs.statSync(path).isDirectory() ? 0o755 : 0o644);
    fs.chownSync(path, uid, gid);
  }
}

/** Runs a script of `python/` as a user, and parses the JSON that it prints. */
async function callsOn(
  user: User,
  script: string,
  ...args: string[]
): Promise<Results> {
  for (const name of [script, "outcomes.py"]) {
    const original = new URL(`python/${name}`, import.meta.url);
    fs.copyFileSync(fromFileUrl(original), `${user.home}/${name}`);
    await user.own(`${user.home}/${name}`);
  }
  return JSON.parse(
    await user.do(user.python, `${user.home}/${script}`, ...args),
  );
}

/** Mounts a container of these samples while `body` runs. */
async function onMount(
  user: User,
  samples: readonly Uint8Array[],
  options: readonly string[],
  body: (mountpoint: string) => Promise<Results>,
): Promise<Results> {
  const source = `${user.home}/data.ffr`;
  const mountpoint = `${user.home}/mnt`;
  fs.writeFileSync(source, ffrBytes(samples));
  await user.own(source);
  await user.do("mkdir", mountpoint);
  const mounted = await user.recordfs("mount", ...options, source, mountpoint);
  assert.deepEqual([mounted.stderr, mounted.code], ["", 0]);
  try {
    return await body(mountpoint);
  } finally {
    const ended = await user.recordfs("unmount", mountpoint);
    assert.deepEqual([ended.stderr, ended.code], ["", 0]);
  }
}

/** Fills a tmpfs as `user`, remounts it read-only and runs `body`. */
async function onTmpfs(
  user: User,
  fill: (dir: string, uid: number, gid: number) => void,
  body: (dir: string) => Promise<Results>,
): Promise<Results> {
  const { uid, gid } = fs.statSync(user.home);
  let results: Results = {};
  await withTmpfs("1m", async (dir, remount) => {
    fill(dir, uid, gid);
    await remount("ro");
    results = await body(dir);
  });
  return results;
}

/** Calls that would change a file, or open it for writing. */
const WRITES_FILE =
  /^(truncate.*|open to .*|creat|access to write): a file$|^access 2 of /;

/** Calls that change nothing, because they open or rename an entry to itself. */
const ONTO_ITSELF: readonly string[] = [
  "creat: a file",
  "creat to read: a file",
  "rename over a directory: an empty directory",
];

/** Compares the results of calls on a mount and on the same files in a read-only tmpfs. */
async function compareCalls(
  owner: User,
  options: readonly string[],
  calls: (tree: string) => Promise<Results>,
): Promise<void> {
  const ours = await onMount(owner, packedSamples(CONTENT), options, calls);
  const expected = await onTmpfs(owner, makeTree, calls);
  for (const call of Object.keys(expected)) {
    const exception = DIFFERENT.find(({ calls }) => calls.test(call));
    if (exception) expected[call] = exception.ours(expected[call]);
  }
  assert.deepEqual(ours, expected);
  const ends = (kind: RegExp, place: RegExp) =>
    Object.entries(ours)
      .filter(([call]) => kind.test(call) && place.test(call))
      .map(([, end]) => end);
  const changes = ends(CHANGES, THERE);
  const makes = ends(MAKES, /: what is not there$/);
  const writes = ends(WRITES_FILE, /file$|of dir$/);
  assert.deepEqual([changes.length, makes.length, writes.length], [42, 10, 10]);
  for (const end of [...changes, ...makes, ...writes]) {
    assert.equal(end, "EROFS");
  }
}

for (
  const [name, as, needed] of [
    ["root", asSelf, ["fuse", "root", "python3"]],
    ["an ordinary user", asOrdinaryUser, [
      ...["fuse", "root", "python3", "fusermount3"],
    ]],
  ] as const
) {
  Deno.test({
    name: `as ${name}: calls end like in a file system of the kernel`,
    ...needs(...needed),
    fn: () =>
      as(async (user) => {
        const calls = (tree: string) =>
          callsOn(user, "posix_calls.py", tree, user.home);
        await compareCalls(user, [], calls);
      }),
  });

  // Once is enough: links have the same targets for every user.
  if (!LONG && as === asOrdinaryUser) continue;
  Deno.test({
    name: `as ${name}: calls on a link end like in a file system of the kernel`,
    ...needs(...needed),
    fn: () =>
      as(async (user) => {
        const calls = (tree: string) => callsOn(user, "posix_links.py", tree);
        const options = ["--shuffle=1"];
        const ours = await onMount(user, [CONTENT.file], options, calls);
        assert.deepEqual(ours, await onTmpfs(user, makeLink, calls));
        const changing = ["unlink", "rename", "lchown", "utime of the link"];
        for (const call of changing) assert.equal(ours[call], "EROFS");
      }),
  });
}

Deno.test({
  name:
    "as an ordinary user, on a mount of root's: calls end like in a file system of the kernel",
  ...needs("fuse", "root", "python3", "fusermount3"),
  fn: () =>
    asOrdinaryUser((user) =>
      asSelf(async (root) => {
        fs.chmodSync(root.home, 0o711);
        await compareCalls(
          root,
          ["-o", "allow_other"],
          (tree) => callsOn(user, "posix_calls.py", tree, user.home),
        );
      })
    ),
});

Deno.test({
  name: "a mount that root remounts as writable is still read-only",
  ...needs("fuse", "root", "python3"),
  fn: () =>
    asSelf(async (root) => {
      const calls = async (tree: string) => {
        await root.do("mount", "-i", "-o", "remount,rw", tree);
        const ends = await callsOn(root, "posix_calls.py", tree, root.home);
        assert.equal(ends["read-only"], false);
        for (const [call, end] of Object.entries(ends)) {
          if (CHANGES.test(call) || MAKES.test(call)) {
            assert.ok(end !== "ok" || ONTO_ITSELF.includes(call), call);
          }
        }
        for (const [name, content] of Object.entries(CONTENT)) {
          if (!(content instanceof Uint8Array)) continue;
          const file = fs.openSync(`${tree}/${name}`, "r+");
          assert.throws(() => fs.writeSync(file, "x"), { code: "EROFS" });
          fs.closeSync(file);
          assert.deepEqual(
            fs.readFileSync(`${tree}/${name}`),
            Buffer.from(content),
          );
        }
        return ends;
      };
      await onMount(root, packedSamples(CONTENT), [], calls);
    }),
});
