/** Members in other programs' conventions: kinds, times, spellings of names, symbolic links. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as zlib from "node:zlib";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import { check, open } from "../../../../src/open/open.ts";
import { VirtualFs } from "../../../../src/tree/vfs/virtual_fs.ts";
import { reopenHandle } from "../../../../src/tree/tree.ts";
import { filePaths } from "../../../support/file_paths.ts";
import { slowStorage } from "../../../support/slow_storage.ts";
import {
  extraField,
  type MadeMember,
  makeZip,
} from "../../../support/zip/make_zip.ts";

const onWarning = (message: string) => assert.fail(message);

function opened(members: readonly MadeMember[]): Promise<VirtualFs> {
  return open(makeZip(members), { onWarning });
}

async function text(fs: VirtualFs, path: string): Promise<string> {
  return new TextDecoder().decode(await fs.read(path));
}

Deno.test("a member from standard input is a file, whatever that was", async () => {
  const kinds = {
    pipe: 0o010600,
    terminal: 0o020620,
    socket: 0o140777,
    disk: 0o060660,
  };
  for (const [name, mode] of Object.entries(kinds)) {
    using fs = await opened([{ name: "-", data: name, mode }]);
    assert.equal(await text(fs, "-"), name);
    assert.equal(fs.info.files, 1);
  }
});

Deno.test("a directory is recognised by its slash, its mode, or its DOS attribute", async () => {
  using fs = await opened([
    { name: "slash/", mode: 0 },
    { name: "mode", mode: 0o040755 },
    { name: "dos", mode: 0, system: 0, attributes: 0x10 },
    { name: "ntfs", mode: 0, system: 10, attributes: 0x10 },
    { name: "dos/f", data: "1", mode: 0, system: 0, attributes: 0x20 },
    // A member with content is a file.
    { name: "file", data: "2", mode: 0, system: 0, attributes: 0x10 },
    // The Unix mode takes precedence over the attribute.
    { name: "unix", data: "", mode: 0o100644, attributes: 0x10 },
    // On other systems, the attribute has another meaning.
    { name: "amiga", data: "", mode: 0, system: 1, attributes: 0x10 },
  ]);
  const kinds = (await fs.list("")).map((name) => [name, fs.isDirSync(name)]);
  assert.deepEqual(kinds, [
    ...[["slash", true], ["mode", true], ["dos", true], ["ntfs", true]],
    ...[["file", false], ["unix", false], ["amiga", false]],
  ]);
  assert.equal(await text(fs, "dos/f"), "1");
  assert.equal(await text(fs, "file"), "2");
});

Deno.test("times are those of the most exact extra field", async () => {
  const seconds = 1_767_319_445;
  const ux = (kind: number, mtime: number, more = 0) => {
    const data = Buffer.alloc(8 + more);
    data.writeInt32LE(5, 0); // last access
    data.writeInt32LE(mtime, 4);
    return extraField(kind, data);
  };
  const ntfs = (ticks: bigint) => {
    const data = Buffer.alloc(4 + 4 + 4 + 24);
    data.writeUInt16LE(7, 4); // a private attribute
    data.writeUInt16LE(0, 6);
    data.writeUInt16LE(1, 8);
    data.writeUInt16LE(24, 10);
    data.writeBigUInt64LE(ticks, 12);
    return extraField(0x000a, data);
  };
  const ut = (mtime: number) => {
    const data = Buffer.alloc(5);
    data.writeUInt8(1);
    data.writeInt32LE(mtime, 1);
    return extraField(0x5455, data);
  };
  // 1601 is 11,644,473,600 s before 1970.
  const ticks = (BigInt(seconds) + 11_644_473_600n) * 10_000_000n;
  const dos = new Date(2025, 0, 1).getTime(); // as written by `makeZip`
  const cases: [string, Uint8Array, number][] = [
    ["macos", ux(0x5855, seconds), seconds * 1000],
    ["pkware", ux(0x000d, seconds, 4), seconds * 1000],
    ["before 1970", ux(0x5855, -1), -1000],
    ["7-zip", ntfs(ticks + 1_230_000n), seconds * 1000 + 123],
    ["none", ntfs(0n), dos],
    ["both", Buffer.concat([ut(7), ntfs(ticks)]), seconds * 1000],
    [
      "both, in reverse order",
      Buffer.concat([ntfs(ticks), ut(7)]),
      seconds * 1000,
    ],
    ["ut", Buffer.concat([ut(seconds), ux(0x5855, 7)]), seconds * 1000],
    ["cut", extraField(0x5855, new Uint8Array(6)), dos],
  ];
  using fs = await opened(cases.map(([name, extra]) => ({ name, extra })));
  for (const [name, , time] of cases) {
    assert.equal((await fs.stat(name)).mtime.getTime(), time, name);
  }
});

Deno.test("a local header whose name is encoded differently belongs to the same member", async () => {
  const unicode = (stored: Uint8Array, path: string) => {
    const head = Buffer.alloc(5);
    head.writeUInt8(1);
    head.writeUInt32LE(zlib.crc32(stored), 1);
    return extraField(0x7075, Buffer.concat([head, Buffer.from(path)]));
  };
  const dos = Buffer.from("\x82.txt", "latin1"); // é in code page 437
  const utf8 = 1 << 11;
  const members: [string, MadeMember][] = [
    ["a/b.txt", { name: "a/b.txt", local: { name: "a\\b.txt" } }],
    ["x\\y.txt", { name: "x\\y.txt", local: { name: "x/y.txt" } }],
    ["d/e.txt", { name: "./d//e.txt", local: { name: "d/e.txt" } }],
    ["é.txt", { name: "é.txt", flags: utf8, local: { name: dos, flags: 0 } }],
    ["ü/1", {
      name: "?/1",
      extra: unicode(Buffer.from("?/1"), "ü/1"),
      local: { name: "ü/1", flags: utf8, extra: new Uint8Array(0) },
    }],
    ["ß/2", {
      name: "ß/2",
      flags: utf8,
      local: { name: "_/2", extra: unicode(Buffer.from("_/2"), "ß/2") },
    }],
  ];
  const zip = makeZip(members.map(([, member], i) => ({
    ...member,
    data: `${i}`,
  })));
  using fs = await open(zip, { onWarning });
  for (const [i, [path]] of members.entries()) {
    assert.equal(await text(fs, path), `${i}`);
  }
  const report = await check(zip, { onDamage: onError, onWarning });
  assert.equal(report.damaged, 0);
  using far = await open("z.zip", {
    format: "zip",
    onWarning,
    storage: slowStorage(1, new MemoryStorage({ "z.zip": zip })),
  });
  for (const [i, [path]] of members.entries()) {
    assert.equal(await text(far, path), `${i}`);
  }
});

function onError(error: Error): never {
  throw error;
}

Deno.test("a local header of another name damages only that member, also at the end of a zip", async () => {
  const sound = { name: "sound", data: "1" };
  for (const name of ["?.txt", "b/é.txt", "é.tx", "unrelated and longer"]) {
    const odd = { name: "é.txt", data: "2", local: { name } };
    for (const members of [[sound, odd], [odd, sound]]) {
      using fs = await opened(members);
      assert.equal(await text(fs, "sound"), "1");
      await assert.rejects(fs.read("é.txt"), {
        code: "bad-structure",
        member: "é.txt",
        message: /disagree on its path/,
      });
    }
  }
});

const LINK = 0o120777;

Deno.test("symbolic links are links, however their targets are stored", async () => {
  const members: MadeMember[] = [
    { name: "d/f", data: "content" },
    { name: "stored", data: "d/f", mode: LINK },
    { name: "deflated", data: "d/f", mode: LINK, method: 8 },
    { name: "zstd", data: "d/f", mode: LINK, method: 93 },
    { name: "d/up", data: "../d/../stored", mode: LINK },
    { name: "dir", data: "d", mode: LINK },
    { name: "nowhere", data: "missing", mode: LINK },
    { name: "round", data: "round", mode: LINK },
  ];
  const zip = makeZip(members);
  for (
    const storage of [
      undefined,
      slowStorage(1, new MemoryStorage({ "z.zip": zip })),
    ]
  ) {
    using fs = await open(storage === undefined ? zip : "z.zip", {
      format: "zip",
      onWarning,
      storage,
    });
    for (const name of ["stored", "deflated", "zstd", "d/up", "dir/f"]) {
      assert.equal(await text(fs, name), "content", name);
    }
    await assert.rejects(fs.read("nowhere"), { code: "not-found" });
    await assert.rejects(fs.read("round"), { code: "not-found" });
    assert.deepEqual(fs.info.facts, { compressed: 2, links: 7 });
    assert.deepEqual([fs.info.files, fs.info.directories], [5, 1]);
    assert.deepEqual(linksOf(fs), {
      stored: "d/f",
      deflated: "d/f",
      zstd: "d/f",
      dir: "d",
      nowhere: "missing",
      round: "round",
    });
  }
});

/** Returns the links in the root, with their targets. */
function linksOf({ tree }: VirtualFs): Record<string, string> {
  const links: Record<string, string> = {};
  const target = new Uint8Array(4096);
  const decoder = new TextDecoder();
  tree.list(1, 0, (bytes, start, end, node) => {
    if (!tree.isLink!(node)) return true;
    const length = tree.readLink!(node, target, 0);
    const name = decoder.decode(bytes.slice(start, end));
    links[name] = decoder.decode(target.subarray(0, length));
    return true;
  });
  return links;
}

Deno.test("links that lead out, or that no system follows, are skipped; damaged ones cannot be read", async () => {
  const members: MadeMember[] = [
    { name: "f", data: "1" },
    { name: "out", data: "../f", mode: LINK },
    { name: "absolute", data: "/etc/passwd", mode: LINK },
    { name: "long", data: "x".repeat(5000), mode: LINK },
    { name: "nul", data: "f\0", mode: LINK },
    { name: "empty", data: "", mode: LINK },
    {
      name: "sum",
      data: "f",
      mode: LINK,
      central: { crc: 1 },
      local: { crc: 1 },
    },
    { name: "header", data: "f", mode: LINK, local: { name: "other!" } },
    { name: "secret", data: "f", mode: LINK, flags: 1 },
  ];
  using fs = await open(makeZip(members), { onWarning() {} });
  assert.deepEqual(
    Object.fromEntries(fs.skipped.map(({ name, reason }) => [name, reason])),
    {
      out: "leads-out",
      absolute: "leads-out",
      long: "bad-link",
      nul: "bad-link",
      empty: "bad-link",
    },
  );
  assert.ok(fs.skipped.every(({ kind }) => kind === "symbolic link"));
  assert.deepEqual(await fs.list(""), ["f", "sum", "header", "secret"]);
  for (
    const [name, code] of [
      ["sum", "bad-structure"],
      ["header", "bad-structure"],
      ["secret", "unreadable-member"],
    ] as const
  ) {
    await assert.rejects(fs.read(name), { code, member: name });
  }
});

Deno.test("targets of links are read, also over the tables in another thread", async () => {
  const zip = makeZip([
    { name: "d/f", data: "content", method: 8 },
    { name: "link", data: "d/f", mode: LINK },
    { name: "dir", data: "d", mode: LINK },
    { name: "secret", data: "1", flags: 1 },
  ]);
  const path = await Deno.makeTempFile({ suffix: ".zip" });
  try {
    await Deno.writeFile(path, zip);
    using here = await open(path, { onWarning() {} });
    assert.deepEqual(filePaths(here), ["d/f", "link", "secret"]);
    const handle = structuredClone(here.tree.share());
    using shared = new VirtualFs(path, {
      tree: await reopenHandle(handle),
      info: here.info,
    }, true);
    for (const one of [here, shared]) {
      for (const name of ["link", "dir/f"]) {
        const bytes = await one.read(name);
        assert.equal(new TextDecoder().decode(bytes), "content");
      }
      assert.equal((await one.stat("link")).size, 7);
      await assert.rejects(one.read("secret"), {
        code: "unreadable-member",
        member: "secret",
      });
    }
  } finally {
    await Deno.remove(path);
  }
});
