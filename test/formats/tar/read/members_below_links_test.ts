/** Members below links to directories, compared with where GNU tar extracts them. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import fc from "fast-check";
import { open } from "../../../../src/open/open.ts";
import { type VirtualFs } from "../../../../src/tree/vfs/virtual_fs.ts";
import { succeed } from "../../../cli/run_cli.ts";
import { output } from "../../../fuse/support/mounting.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import { type Member, pax, tarBytes } from "../../../support/tar/make_tar.ts";

function opened(members: readonly Member[]): Promise<VirtualFs> {
  const file = new File([tarBytes(members)], "t.tar");
  return open(file, { onWarning() {} });
}

async function text(fs: VirtualFs, path: string): Promise<string> {
  return new TextDecoder().decode(await fs.read(path));
}

/** As in pnpm installations, and in container layers. */
const MEMBERS: readonly Member[] = [
  { name: "nm/.pnpm/p/package.json", data: "{}" },
  { name: "nm/p", type: "2", link: ".pnpm/p" },
  { name: "nm/q", type: "2", link: "p" },
  { name: "nm/p/x.js", data: "x" },
  { name: "nm/q/deep/y.js", data: "y" },
  { name: "nm/q/hard.js", type: "1", link: "nm/p/x.js" },
  { name: "nm/p/link.js", type: "2", link: "x.js" },
  { name: "nm/q/sub/", type: "5" },
  { name: "other.txt", data: "1" },
];

Deno.test("members below a link are in the directory that it leads to, and are shown below the link", async () => {
  using fs = await opened(MEMBERS);
  assert.deepEqual(fs.skipped, []);
  assert.deepEqual(await fs.list("nm/.pnpm/p"), [
    ...["package.json", "x.js", "deep", "hard.js", "link.js", "sub"],
  ]);
  for (const below of ["nm/.pnpm/p", "nm/p", "nm/q"]) {
    assert.equal(await text(fs, `${below}/x.js`), "x");
    assert.equal(await text(fs, `${below}/hard.js`), "x");
    assert.equal(await text(fs, `${below}/deep/y.js`), "y");
  }
});

Deno.test("a batch is read below links to directories, too", async () => {
  using fs = await opened(MEMBERS);
  const paths = ["nm/.pnpm/p/x.js", "nm/p/x.js", "./nm/q//link.js"];
  const read = await fs.read(paths);
  assert.deepEqual(read.map((bytes) => new TextDecoder().decode(bytes)), [
    ...["x", "x", "x"],
  ]);
  await assert.rejects(fs.read("nm/q/none.js"), { code: "not-found" });
});

Deno.test({
  name: "extract writes the same as tar",
  ...needs("tar", "diff"),
  fn: () =>
    withTempDir(async (dir) => {
      fs.writeFileSync(`${dir}/t.tar`, tarBytes(MEMBERS));
      fs.mkdirSync(`${dir}/theirs`);
      await output("tar", "-xf", `${dir}/t.tar`, "-C", `${dir}/theirs`);
      await succeed(["extract", `${dir}/t.tar`, `${dir}/ours`]);
      const { stdout } = await output(
        ...["diff", "-r", "--no-dereference", `${dir}/theirs`, `${dir}/ours`],
      );
      assert.equal(stdout, "");
    }),
});

Deno.test("directories that a link refers to are created if they come later", async () => {
  using fs = await opened([
    { name: "lib", type: "2", link: "usr/./lib" },
    { name: "lib/a.so", data: "a" },
    { name: "a/up", type: "2", link: "../usr" },
    { name: "a/up/share/b", data: "b" },
    { name: "usr/lib/", type: "5", mtime: 7 },
  ]);
  assert.deepEqual(fs.skipped, []);
  assert.equal(await text(fs, "usr/lib/a.so"), "a");
  assert.equal(await text(fs, "usr/share/b"), "b");
  assert.equal((await fs.stat("usr/lib")).mtime.getTime(), 7000);
});

Deno.test("members below links that lead out, in circles or to files are skipped", async () => {
  using fs = await opened([
    { name: "up", type: "2", link: ".." },
    { name: "up/etc", data: "1" },
    { name: "root", type: "2", link: "/" },
    { name: "root/etc", data: "1" },
    { name: "a", type: "2", link: "b" },
    { name: "b", type: "2", link: "a" },
    { name: "a/x", data: "1" },
    { name: "f", data: "1" },
    { name: "to-file", type: "2", link: "f" },
    { name: "to-file/x", data: "1" },
    { name: "sound", data: "2" },
  ]);
  assert.equal(await text(fs, "sound"), "2");
  assert.deepEqual(
    fs.skipped.map(({ name, reason }) => [name, reason]),
    [
      ["up/etc", "leads-out"],
      ["root/etc", "leads-out"],
      ["a/x", "conflict"],
      ["to-file/x", "conflict"],
      ["up", "leads-out"],
      ["root", "leads-out"],
    ],
  );
});

Deno.test("a link that is replaced refers to its new target only afterwards", async () => {
  using fs = await opened([
    { name: "one/", type: "5" },
    { name: "two/", type: "5" },
    { name: "l", type: "2", link: "one" },
    { name: "l/a", data: "a" },
    { name: "l", type: "2", link: "two" },
    { name: "l/b", data: "b" },
    { name: "l", type: "5" },
    { name: "l/c", data: "c" },
  ]);
  assert.deepEqual(await fs.list("one"), ["a"]);
  assert.deepEqual(await fs.list("two"), ["b"]);
  assert.deepEqual(await fs.list("l"), ["c"]);
});

Deno.test("a hard link with data is read, and one without ends after its header", async () => {
  using fs = await opened([
    { name: "f", data: "12" },
    pax({ comment: "with data" }),
    { name: "with", type: "1", link: "f", data: "12" },
    { name: "peeked", type: "1", link: "f", data: "12" },
    { name: "without", type: "1", link: "f", size: 2 },
    { name: "gone", type: "1", link: "not-there", data: "34" },
    { name: "last", data: "5" },
  ]);
  const names = ["f", "with", "peeked", "without", "last"];
  const texts = await Promise.all(names.map((name) => text(fs, name)));
  assert.deepEqual(texts, ["12", "12", "12", "12", "5"]);
  assert.equal(await text(fs, "gone"), "34");
});

Deno.test("many links below links do not multiply their time", async () => {
  const chain = Array.from({ length: 30 }, (_, i) => [
    pax({ linkpath: "./".repeat(1000) + (i === 0 ? "d" : `l${i - 1}`) }),
    { name: `l${i}`, type: "2" },
  ]).flat();
  const below = Array.from({ length: 20_000 }, (_, i) => ({
    name: `l29/${i}`,
  }));
  using fs = await opened([{ name: "d/", type: "5" }, ...chain, ...below]);
  assert.equal((await fs.list("d")).length, 20_000);
});

Deno.test("random links are followed like on the disk", () =>
  withTempDir(async (dir) => {
    const names = fc.constantFrom("a", "b", "c", "a/b", "b/c", "c/a", "a/b/c");
    const member: fc.Arbitrary<Member> = fc.oneof(
      names.map((name): Member => ({ name: `${name}/`, type: "5" })),
      fc.record<Member>({
        name: names,
        type: fc.constant("2"),
        link: fc.constantFrom("a", "b", "c", "../a", "../b", "a/b", "../c/a"),
      }),
      names.map((name): Member => ({ name: `${name}/f`, data: name })),
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(member, { maxLength: 8 }), async (members) => {
        const root = `${dir}/${run++}`;
        fs.mkdirSync(root);
        for (const member of members) place(root, member);
        using container = await opened(members);
        for (const { name, data } of members) {
          if (data === undefined) continue;
          const real = realText(root, name as string);
          const own = await text(container, name as string)
            .catch(() => undefined);
          assert.equal(own, real, JSON.stringify(members));
        }
      }),
      { numRuns: 150 },
    );
  }));

/** Creates a member like a program that creates missing directories, also at link targets. */
function place(root: string, { name, type, link, data }: Member): void {
  const path = name as string;
  const at = resolve(root, path.replace(/\/?[^/]*\/?$/, ""), true);
  if (at === undefined) return;
  const own = `${at}/${path.replace(/\/$/, "").replace(/^.*\//, "")}`;
  const there = fs.lstatSync(own, { throwIfNoEntry: false });
  if (type === "5") {
    if (there?.isDirectory()) return;
    fs.rmSync(own, { force: true });
    return fs.mkdirSync(own);
  }
  if (there?.isDirectory()) {
    if (fs.readdirSync(own).length > 0) return;
    fs.rmdirSync(own);
  } else fs.rmSync(own, { force: true });
  if (type === "2") fs.symlinkSync(link!, own);
  else fs.writeFileSync(own, data as string);
}

/** Returns the directory of a path below a root, following links that stay inside. */
function resolve(
  root: string,
  path: string,
  makes: boolean,
  depth = 0,
): string | undefined {
  let at: string | undefined = root;
  for (const part of path.split("/")) {
    if (part === "" || at === undefined) continue;
    if (part === "..") {
      if (at === root) return undefined;
      at = at.slice(0, at.lastIndexOf("/"));
      continue;
    }
    const own: string = `${at}/${part}`;
    const there = fs.lstatSync(own, { throwIfNoEntry: false });
    if (there === undefined) {
      if (!makes) return undefined;
      fs.mkdirSync(own);
      at = own;
    } else if (there.isSymbolicLink()) {
      if (depth > 30) return undefined;
      const rest = `${at.slice(root.length)}/${fs.readlinkSync(own)}`;
      at = resolve(root, rest, makes, depth + 1);
    } else if (there.isDirectory()) at = own;
    else return undefined;
  }
  return at;
}

function realText(root: string, path: string): string | undefined {
  const at = resolve(root, path.replace(/\/[^/]*$/, ""), false);
  const own = `${at}/${path.replace(/^.*\//, "")}`;
  return at !== undefined &&
      fs.lstatSync(own, { throwIfNoEntry: false })?.isFile()
    ? fs.readFileSync(own, "utf8")
    : undefined;
}
