/** Hostile tars: members are skipped by name, tars rejected, or read as tar would; none takes long. */
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { Buffer } from "node:buffer";
import { FormatError } from "../../../../src/base/errors.ts";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import { open } from "../../../../src/open/open.ts";
import { type VirtualFs } from "../../../../src/tree/vfs/virtual_fs.ts";
import {
  type Member,
  pax,
  paxRecords,
  tarBytes,
} from "../../../support/tar/make_tar.ts";

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

async function refused(
  members: readonly Member[] | Uint8Array<ArrayBuffer>,
  code: string,
  says: RegExp,
): Promise<void> {
  await assert.rejects(opened(members), (error) => {
    assert.ok(error instanceof FormatError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, says);
    return true;
  });
}

/** Asserts that the tar is read, with one unreadable member or part of this code and message. */
async function noted(
  members: readonly Member[] | Uint8Array<ArrayBuffer>,
  code: string,
  says: RegExp,
  size?: number,
): Promise<void> {
  const warnings: string[] = [];
  using fs = await opened(members, warnings);
  const [first, ...others] = fs.info.unreadable!;
  assert.deepEqual([first!.code, others], [code, []], first!.message);
  assert.match(first!.message, says);
  assert.ok(warnings.includes(first!.message));
  const { name } = first!;
  if (name === "") return; // a part of the tar, not a member
  await assert.rejects(fs.read(`t/${name}`), { code, member: name });
  if (size !== undefined) {
    assert.equal((await fs.stat(`t/${name}`)).size, size);
  }
}

async function text(fs: VirtualFs, path: string): Promise<string> {
  return new TextDecoder().decode(await fs.read(`t/${path}`));
}

Deno.test("names with newlines, and bytes that are not UTF-8, are shown", async () => {
  const raw = Uint8Array.of(0x61, 0xff, 0x2e, 0x62);
  using fs = await opened([{ name: "a\nb", data: "1" }, {
    name: raw,
    data: "2",
  }]);
  assert.deepEqual(await fs.list("t"), ["a\nb", "a\udcff.b"]);
  assert.equal(await text(fs, "a\udcff.b"), "2");
});

Deno.test("a member with a false size is listed and cannot be read, or its header is skipped", async () => {
  const sound = { name: "sound", data: "1" };
  const lies = (size: Member["size"]) => [
    sound,
    { name: "liar", data: "x", size: size! },
    { name: "behind", data: "2" },
  ];
  await noted(lies(5000), "truncated-data", /'liar' .* has 5000 bytes/, 5000);
  await noted(lies("77777777777\0"), "truncated-data", /'liar'/);
  await noted(lies("-1\0"), "bad-structure", /a header has no valid size/);
  await noted(lies("9\0"), "bad-structure", /a header has no valid size/);
  const negative = new Uint8Array(12).fill(0xff);
  await noted(lies(negative), "bad-structure", /a header has no valid size/);
  const huge = Uint8Array.of(
    0x80,
    ...new Uint8Array(3),
    ...new Uint8Array(8).fill(0xff),
  );
  await noted(lies(huge), "bad-structure", /a header has no valid size/);
  await noted(
    [sound, pax({ size: "99999" }), { name: "liar" }],
    "truncated-data",
    /'liar'/,
    99999,
  );
  await noted(
    [sound, pax({ size: "many" }), { name: "liar", data: "123" }],
    "bad-structure",
    /'liar' .* extended header/,
    3,
  );
  using fs = await opened(lies(5000));
  assert.equal(await text(fs, "behind"), "2"); // the tar has an end, so that it was not truncated
});

Deno.test("numbers of base 256, and checksums of signed bytes, are read", async () => {
  const size = Uint8Array.of(0x80, ...new Uint8Array(10), 3);
  using fs = await opened([{ name: "a", data: "abc", size }]);
  assert.equal(await text(fs, "a"), "abc");
  // Old programs treated the two bytes of é, 0xc3 and 0xa9, as negative.
  using old = await opened([{ name: "é", data: "1", wrongBy: -512 }]);
  assert.equal(await text(old, "é"), "1");
});

Deno.test("a wrong checksum is named with its offset, and the members around it are read", async () => {
  const members = [
    { name: "a", data: "1" },
    { name: "b", data: "2", wrongBy: 1 },
    { name: "c", data: "3" },
  ];
  await noted(members, "metadata-checksum", /at byte 1024 of/);
  using fs = await opened(members);
  assert.deepEqual(await fs.list("t"), ["a", "c"]);
  assert.equal(await text(fs, "c"), "3");
  const cut = tarBytes([{ name: "a" }, { name: "b" }], 0).slice(0, 700);
  await noted(cut, "truncated-header", /at byte 512 of 700/);
  await refused(
    new Uint8Array(2048).fill(7),
    "metadata-checksum",
    /at byte 0 of 2048/,
  );
});

Deno.test("a member whose extended header is false is listed by its header's name, and cannot be read", async () => {
  const sound = { name: "sound", data: "1" };
  const lies = async (records: string) => {
    const members = [
      { type: "x", data: records },
      { name: "a", data: "12" },
      sound,
    ];
    await noted(members, "bad-structure", /'a' .* extended header/, 2);
    using fs = await opened(members);
    assert.equal(await text(fs, "sound"), "1");
  };
  await lies("99 path=a\n");
  await lies("0 path=a\n");
  await lies("8 path=a\n");
  await lies("x path=a\n");
  await lies("9999999999999999 a=b\n");
  await lies("7 path\n");
  await lies("3 \n");
  await lies("x".repeat(1 << 21));
});

Deno.test("of two extended headers before one member, only the last applies, and an invalid time is ignored", async () => {
  using fs = await opened([
    pax({ path: "first", mtime: "5" }),
    pax({ comment: "second" }),
    { name: "b.txt", data: "1", mtime: 7 },
    pax({ mtime: "1700000000x" }),
    { name: "c.txt", mtime: 8 },
  ]);
  assert.deepEqual(await fs.list("t"), ["b.txt", "c.txt"]);
  assert.equal((await fs.stat("t/b.txt")).mtime.getTime(), 7000);
  assert.equal((await fs.stat("t/c.txt")).mtime.getTime(), 8000);
});

Deno.test("extended headers override others, global ones apply until replaced, and empty values reset", async () => {
  using fs = await opened([
    pax({ mtime: "5.5", comment: "all" }, "g"),
    pax({ path: "by-pax" }),
    { name: "by-header", data: "1" },
    { name: "second", data: "2", mtime: 77 },
    pax({ mtime: "" }),
    { name: "third", data: "3", mtime: 88 },
    { name: "././@LongLink", type: "L", data: "long/name\0" },
    { name: "short", data: "4" },
    pax({ size: "2" }),
    { name: "sized", data: "56", size: 0 },
    { name: "last", data: "7" },
  ]);
  const times = ["by-pax", "second", "third"].map(async (name) =>
    (await fs.stat(`t/${name}`)).mtime.getTime()
  );
  assert.deepEqual(await Promise.all(times), [5500, 5500, 88_000]);
  assert.equal(await text(fs, "long/name"), "4");
  assert.equal(await text(fs, "sized"), "56");
  assert.equal(await text(fs, "last"), "7");
});

Deno.test("a header of tens of thousands of records is read at once, and frees its memory", async () => {
  const records: Record<string, string> = { path: "found" };
  for (let i = 0; i < 60_000; i++) records[`k${i}`] = "v";
  using fs = await opened([{ type: "x", data: paxRecords(records) }, {
    data: "1",
  }]);
  assert.deepEqual(await fs.list("t"), ["found"]);
});

Deno.test("a part of a file from another volume is listed by the file's name, and cannot be read", async () => {
  const sound = { name: "sound", data: "1" };
  const M = { name: "big", type: "M", data: "part" };
  await noted([M, sound], "unreadable-member", /'big' .*another volume/, 4);
  const members = [
    pax({ "GNU.volume.filename": "d/big", "GNU.volume.size": "4" }, "g"),
    pax({ atime: "0" }),
    { name: "GNUFileParts/big.2", data: "part" },
    sound,
  ];
  await noted(members, "unreadable-member", /'d\/big' .*another volume/, 4);
  using fs = await opened(members);
  assert.equal(await text(fs, "sound"), "1");
});

Deno.test("devices, links that lead out and hard links to nothing are skipped, with a warning", async () => {
  const warnings: string[] = [];
  using fs = await opened([
    { name: "null", type: "3" },
    { name: "pipe", type: "6" },
    { name: "shadow", type: "2", link: "/etc/shadow" },
    { name: "up", type: "2", link: "../../x" },
    { name: "d/ok", type: "2", link: "../f" },
    { name: "here", type: "2", link: "." },
    { name: "by-link", type: "2", link: "here/../f" },
    { name: "missing", type: "1", link: "later" },
    { name: "self", type: "1", link: "self" },
    { name: "later", data: "1" },
    { name: "f", data: "2" },
  ], warnings);
  const { tree } = fs;
  const names: string[] = [];
  const [root] = [tree.lookup(1, new TextEncoder().encode("t"), 0, 1)];
  tree.list(root!, 0, (name, start, end) => {
    names.push(new TextDecoder().decode(name.slice(start, end)));
    return true;
  });
  assert.deepEqual(names, ["d", "here", "later", "f"]);
  assert.equal(await text(fs, "d/ok"), "2");
  const said = warnings.join("\n");
  const skipped = [
    "null",
    "pipe",
    "missing",
    "self",
    "shadow",
    "up",
    "by-link",
  ];
  for (const name of skipped) {
    assert.match(said, new RegExp(`'${name}' is skipped`));
  }
  assert.deepEqual(fs.skipped.map(({ name }) => name), skipped);
});

Deno.test("a hard link without a name does not hide other members", async () => {
  const warnings: string[] = [];
  using fs = await opened([
    { name: "empty", type: "1", link: "" },
    { name: "f", data: "2" },
  ], warnings);
  assert.equal(await text(fs, "f"), "2");
  assert.match(warnings.join(), /'empty' is skipped: it is a hard link to ''/);
});

Deno.test("links in circles, or through each other without end, lead nowhere", async () => {
  const chain = Array.from({ length: 3000 }, (_, i) => ({
    name: `l${i}`,
    type: "2",
    link: `l${i + 1}/../l${i + 1}`,
  }));
  using fs = await opened([
    { name: "a", type: "2", link: "b" },
    { name: "b", type: "2", link: "a" },
    { name: "c", type: "2", link: "c/c/c" },
    { name: "x", type: "2", link: "y" },
    { name: "y", type: "2", link: "z" },
    { name: "z", data: "end" },
    ...chain,
  ]);
  assert.deepEqual(await fs.list("t"), ["x", "y", "z"]);
  assert.equal(await text(fs, "x"), "end");
  await assert.rejects(text(fs, "a"), { name: "PathError", code: "not-found" });
});

Deno.test("the last member of a path wins", async () => {
  using fs = await opened([
    { name: "a", data: "1" },
    { name: "h", type: "1", link: "a" },
    { name: "./a", data: "2" },
    { name: "d/" },
    { name: "d//e/./f", data: "3" },
    { name: "d", type: "5" },
    { name: "h2", type: "1", link: "a" },
  ]);
  assert.equal(await text(fs, "a"), "2");
  assert.equal(await text(fs, "h"), "1");
  assert.equal(await text(fs, "h2"), "2");
  assert.equal(await text(fs, "d/e/f"), "3");
});

Deno.test("directories nested deeper than a stack are created once", async () => {
  const deep = "d/".repeat(30_000);
  using fs = await opened([
    pax({ path: `${deep}a` }),
    { data: "1" },
    pax({ path: `${deep}b` }),
    { data: "2" },
  ]);
  assert.equal(fs.info.directories, 30_001);
  assert.equal(await text(fs, `${deep}b`), "2");
});

Deno.test("files compressed in a way that is not read are rejected with a remedy, also under a tar's name", async () => {
  for (const name of ["y.tar.lz", "y.tlz", "y.tar"]) {
    const file = new File([Buffer.from("4c5a4950", "hex")], name);
    await assert.rejects(
      open(file),
      /compressed by lzip.*lzip -dc .*> .*\.tar/,
    );
  }
});

Deno.test("a directory of compressed tars is opened as shards, unless it has other containers", async () => {
  const shard = (name: string) => gzipSync(tarBytes([{ name, data: "1" }]));
  const storage = new MemoryStorage({
    "gz/b.tar.gz": shard("x"),
    "gz/a.tgz": shard("y"),
    "lz/README": new Uint8Array(3),
    "lz/a.tar.lz": new Uint8Array(3),
    "both/a.tar.gz": shard("x"),
    "both/b.tar": tarBytes([{ name: "x", data: "1" }]),
  });
  for (const options of [{ storage }, { storage, format: "tar" }]) {
    using shards = await open("gz", options);
    const files = await Array.fromAsync(shards.walk(), ({ path }) => path);
    assert.deepEqual(files, ["a", "a/y", "b", "b/x"]);
  }
  using pattern = await open("gz/{b..b}.tar.gz", { storage });
  assert.deepEqual(await pattern.list("b"), ["x"]);
  await assert.rejects(open("lz", { storage }), {
    code: "unsupported",
    message:
      /^Cannot open lz: it holds tars that are compressed by lzip \(a\.tar\.lz\).*lzip -dc a\.tar\.lz > a\.tar/,
  });
  using both = await open("both", { storage });
  assert.deepEqual(await both.list(""), ["b"]);
});

Deno.test("a tar is recognised by its content", async () => {
  const v7 = tarBytes([{ name: "a", data: "1", magic: "" }]);
  const posix = tarBytes([{ name: "a", data: "1" }]);
  for (const bytes of [v7, posix]) {
    using fs = await open(new File([bytes], "noname"));
    assert.equal(fs.info.format, "tar");
    assert.deepEqual(await fs.list(""), ["a"]);
  }
  const wrong = tarBytes([{ name: "a", wrongBy: 3 }]);
  await assert.rejects(open(new File([wrong], "noname")), /format is unknown/);
  using empty = await open(new File([new Uint8Array(10_240)], "empty.tar"));
  assert.equal(empty.info.files, 0);
});

Deno.test("global headers cost no extra time and memory for each member", async () => {
  const global = pax({ path: "d/".repeat(40_000) + "x" }, "g");
  await noted([global, { name: "a" }], "bad-structure", /80001 bytes for all/);
  const links = Array.from({ length: 3000 }, (_, i) => ({
    name: `l${i}`,
    type: "2",
  }));
  using fs = await opened([
    pax({ linkpath: "./".repeat(2000) + "f" }, "g"),
    { name: "f", data: "1" },
    ...links,
  ]);
  assert.equal(await text(fs, "l2999"), "1");
  const { trees } = fs.tree.share().data as {
    trees: { data: { facts: { columns: { names: { names: Uint8Array } } } } }[];
  };
  assert.ok(trees[0]!.data.facts.columns.names.names.length < 100_000);
});
