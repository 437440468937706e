/**
 * System calls on a mount end as they do on the same files in a file system of the kernel's own that is
 * mounted read-only: those that pjdfstest makes, category by category, and those of go-fuse's posixtest
 * that make sense where nothing can be written.
 *
 * What those suites try and this one does not.
 *
 * - pjdfstest chflags: a call of FreeBSD's. granular: NFSv4 access lists, of FreeBSD's as well.
 * - pjdfstest ELOOP of links that lead to each other, posixtest OpenSymlinkRace: links of a mount lead to its
 *   files, and stay.
 * - pjdfstest EPERM and EACCES of sticky or immutable directories, set-id bits and other owners: there is
 *   one owner and no mode but 0644 and 0755 less the umask; `mount_test.ts` and `mount_user_test.ts`
 *   see to who gets in.
 * - pjdfstest ENOSPC, EMLINK, ETXTBSY, EFBIG, ENXIO and EWOULDBLOCK: nothing can grow, be linked, run,
 *   or be a FIFO. EFAULT: the kernel's matter before it asks a file system.
 * - pjdfstest utimensat's and rename's times, posixtest AppendWrite, Fallocate, FileBasic's writing,
 *   FstatDeleted, Link, LinkUnlinkRename, MkdirRmdir, NlinkZero, Rename*, TruncateFile: what succeeding
 *   would do; that they fail is tried.
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

/** Makes the tree of real files that `mount --shuffle` shows of one sample. */
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

/** What is not as in a tmpfs, and why. */
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

/** Places where something is; everywhere else a call may say first that nothing is there. */
const THERE = /: (a file|a directory|an empty directory)$/;

/** Calls that would change what is there; in a file system that is read-only, none of them may do so. */
const CHANGES =
  /^(rmdir|unlink|rename.*|chmod|l?chown.*|utime.*|(set|remove)xattr): /;

/** Calls that would make something. */
const MAKES = /^(mkdir|mkfifo|mknod.*|symlink|link|creat.*|bind): /;

/** What is mounted. */
const CONTENT = {
  file: new Uint8Array(5000).fill(7),
  none: new Uint8Array(0),
  dir: { inner: new TextEncoder().encode("inner") },
  empty: {},
};

/** Makes the same tree of real files, as a mount shows them. */
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

/** Runs a script of `python/` as a user, and reads what it printed. */
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

/** Runs `body` with a container mounted. */
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

/** Runs `body` with a tmpfs of `user`'s that is read-only by then. */
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

/** What calls do on a file that would change it or could lead to that. */
const WRITES_FILE =
  /^(truncate.*|open to .*|creat|access to write): a file$|^access 2 of /;

/** What changes nothing: what is there is opened, or keeps its name. */
const ONTO_ITSELF: readonly string[] = [
  "creat: a file",
  "creat to read: a file",
  "rename over a directory: an empty directory",
];

/** Compares what calls do on a mount and on the same files in a file system of the kernel's own. */
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

  // Where links lead is asked for once: they are no matter of who asks.
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
