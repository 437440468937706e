/** Members of tars that no path can show are skipped and named; the others are read. */
import assert from "node:assert/strict";
import { open } from "../../../../src/open/open.ts";
import {
  type SkippedMember,
  type SkipReason,
} from "../../../../src/tree/format.ts";
import { type VirtualFs } from "../../../../src/tree/vfs/virtual_fs.ts";
import { type Member, pax, tarBytes } from "../../../support/tar/make_tar.ts";

function opened(
  members: readonly Member[] | Uint8Array<ArrayBuffer>,
  warnings: string[] = [],
): Promise<VirtualFs> {
  const bytes = members instanceof Uint8Array ? members : tarBytes(members);
  return open({ "t.tar": bytes }, {
    format: "tar",
    onWarning: (message) => void warnings.push(message),
  });
}

async function text(fs: VirtualFs, path: string): Promise<string> {
  return new TextDecoder().decode(await fs.read(`t/${path}`));
}

/** Asserts that the tar is read without a member, which is named. */
async function skipped(
  members: readonly Member[],
  reason: SkipReason,
  says: RegExp,
): Promise<void> {
  const warnings: string[] = [];
  using fs = await opened([{ name: "sound", data: "1" }, ...members], warnings);
  assert.equal(await text(fs, "sound"), "1");
  assert.deepEqual(fs.skipped.map(({ reason }) => reason), [reason]);
  assert.deepEqual(fs.info.facts, { skipped: 1 });
  assert.match(fs.skipped[0]!.message, says);
  assert.deepEqual(warnings, fs.skipped.map(({ message }) => message));
}

Deno.test("names that lead out, or are invalid, are skipped by name", async () => {
  await skipped([{ name: "a/../../b" }], "unsafe-name", /'a\/\.\.\/\.\.\/b' /);
  await skipped([{ name: ".." }], "unsafe-name", /'\.\.' is skipped/);
  await skipped([{ name: "" }], "no-name", /has no name/);
  await skipped(
    [{ name: "./" + "." }],
    "no-name",
    /a name that no file can have/,
  );
  await skipped([pax({ path: "a\0b" }), {}], "unsafe-name", /NUL/);
  await skipped(
    [pax({ path: "n".repeat(2000) }), {}],
    "too-long",
    /2000 bytes/,
  );
  await skipped(
    [{ name: "b", type: "1", link: "../a" }],
    "no-target",
    /'\.\.\/a'/,
  );
});

Deno.test("removes a leading slash, and reports it once", async () => {
  const warnings: string[] = [];
  using fs = await opened([
    { name: "/etc/passwd", data: "1" },
    pax({ path: "//x" }),
    { data: "2" },
    { name: "/", type: "5" },
  ], warnings);
  assert.equal(await text(fs, "etc/passwd"), "1");
  assert.equal(await text(fs, "x"), "2");
  assert.deepEqual(warnings.map((line) => line.replace(/^.*?: /, "")), [
    "the leading '/' is removed from the names of 3 members",
  ]);
});

Deno.test("if a file and a directory have one path, the later one is skipped", async () => {
  await skipped(
    [{ name: "a" }, { name: "a/b" }],
    "conflict",
    /'a\/b' is skipped: it needs the directory 'a'/,
  );
  await skipped(
    [{ name: "a/b" }, { name: "a" }],
    "conflict",
    /'a' is skipped: it is a file/,
  );
});

Deno.test("skips a path of more than 64 KiB, and creates no directory for it", async () => {
  const deep = "d/".repeat(500_000);
  using fs = await opened([pax({ path: `${deep}a` }), { data: "1" }, {
    name: "b",
    data: "2",
  }]);
  assert.deepEqual([fs.info.files, fs.info.directories], [1, 1]);
  assert.equal(await text(fs, "b"), "2");
  const [{ reason, name }] = fs.skipped as [SkippedMember];
  assert.equal(reason, "too-long");
  assert.ok(name.length < 5000);
});
