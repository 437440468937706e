/** A directory as one archive: its content, how it is read, and what aborts it. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { FormatError } from "../../../src/base/errors.ts";
import type { ByteSource } from "../../../src/io/storage/byte_source.ts";
import { ROOT } from "../../../src/tree/tree.ts";
import { Contents } from "../../../src/serve/files/content.ts";
import { tarPieces } from "../../../src/serve/files/archive.ts";
import { Served } from "../../../src/serve/served.ts";
import { Streams } from "../../../src/serve/streams.ts";
import { SharedCounts } from "../../../src/serve/threads/shared_counts.ts";
import type { ResponseRoom } from "../../../src/serve/response_room.ts";
import { open } from "../../../src/open/open.ts";
import { type VirtualFs } from "../../../src/tree/vfs/virtual_fs.ts";
import { needs } from "../../support/programs/programs.ts";
import { run, withOriginal } from "../../support/serve/client_programs.ts";
import {
  type Files,
  packed,
  served,
} from "../../support/serve/served_folder.ts";

/** Size of a piece in bytes, if memory is not short. */
const PIECE = 256 << 10;
const SHORT_PIECE = 16 << 10;

/** Files of sizes around the limits of tar blocks and of pieces. */
function filesOfAllSizes(): Files {
  const files: Record<string, Files | Uint8Array> = {};
  const sizes = [
    ...[0, 1, 511, 512, 513, 1024, 4096, 70_000],
    ...[SHORT_PIECE - 1024, SHORT_PIECE - 512, SHORT_PIECE, SHORT_PIECE + 1],
    ...[PIECE - 1024, PIECE - 513, PIECE - 512, PIECE, PIECE + 1, 1_200_000],
  ];
  for (const [i, size] of sizes.entries()) {
    const bytes = Uint8Array.from({ length: size }, (_, k) => (k + i) * k >> 3);
    const long = "long ".repeat(40);
    files[`${i}.bin`] = bytes;
    files[`dir ${i}`] = {
      "deep": { [`${long}${i}`]: bytes.subarray(0, size >> 1) },
      "none": {},
    };
  }
  const many = Array.from({ length: 1000 }, (_, i) => [`${i}`, `number ${i}`]);
  return { ...files, "many": Object.fromEntries(many) };
}

/** Creates the archive of a container without a server. */
async function* archiveOf(
  fs: VirtualFs,
  room?: ResponseRoom,
  signal = new AbortController().signal,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const onError = () => {};
  const streams = new Streams({ onError, counts: new SharedCounts() });
  const served = new Served(fs, streams);
  yield* tarPieces(served, new Contents(served), ROOT, room, signal);
}

/** Buffers of a server that is short of memory: every piece reuses the same small one. */
function shortRoom(): ResponseRoom {
  const piece = new Uint8Array(SHORT_PIECE);
  return {
    take: () => undefined,
    wait: () => Promise.resolve(),
    made() {},
    piece: (bytes) => piece.subarray(0, Math.min(bytes, SHORT_PIECE)),
  };
}

/** Counts the reads of a container, and the bytes that they request. */
function countReads({ tree }: VirtualFs): { calls: number; bytes: number } {
  const counts = { calls: 0, bytes: 0 };
  const source: ByteSource = tree.sources.at(0)!;
  for (const name of ["readAt", "readAtSync", "readCached"] as const) {
    const read = source[name]?.bind(source) as ByteSource["readAt"] | undefined;
    if (read === undefined) continue;
    const counted: ByteSource["readAt"] = (into, offset, options) => {
      counts.calls++;
      counts.bytes += into.length;
      return read(into, offset, options);
    };
    Object.defineProperty(source, name, { value: counted });
  }
  return counts;
}

/** Joins the pieces of an archive, copying each: it is valid only until the next is requested. */
async function bytesOf(
  pieces: AsyncIterable<Uint8Array>,
): Promise<Uint8Array<ArrayBuffer>> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece.slice());
  return Uint8Array.from(Buffer.concat(all));
}

Deno.test({
  name: "files of all sizes arrive as tar extracts them, also in short pieces",
  ...needs("tar"),
  async fn() {
    const files = filesOfAllSizes();
    using fs = await open(packed(files));
    const archive = await bytesOf(archiveOf(fs));
    await withOriginal(files, async (directory) => {
      await Deno.writeFile(`${directory}/a.tar`, archive);
      await Deno.mkdir(`${directory}/copy`);
      const tar = ["-x", "-f", "a.tar", "-C", "copy"];
      await run("tar", tar, { cwd: directory });
      await run("diff", ["-r", "original", "copy"], { cwd: directory });
    });
    const inShort = await bytesOf(archiveOf(fs, shortRoom()));
    assert.ok(Buffer.from(inShort.buffer).equals(archive));
  },
});

Deno.test("adjacent files are read at once", async () => {
  const names = Array.from({ length: 2000 }, (_, i) => [`${i}`, `number ${i}`]);
  using fs = await open(packed(Object.fromEntries(names)));
  const reads = countReads(fs);
  let bytes = 0;
  for await (const piece of archiveOf(fs)) bytes += piece.length;
  assert.equal(bytes, 2000 * 1024 + 1024);
  assert.ok(reads.calls > 0 && reads.calls < 60, `${reads.calls} reads`);
  assert.ok(reads.bytes < 200_000, `${reads.bytes} bytes`);
});

Deno.test("a damaged file ends the archive before its bytes, after the files before it", async () => {
  const files = Object.fromEntries(
    Array.from(
      { length: 900 },
      (_, i) => [`${i}`.padStart(3, "0"), `number ${i}.`],
    ),
  );
  const archive = packed(files);
  const text = new TextDecoder("latin1").decode(archive);
  archive[text.indexOf("number 700.")]! ^= 1;
  using fs = await open(archive);
  let sent = "";
  await assert.rejects(
    async () => {
      for await (const piece of archiveOf(fs)) {
        sent += new TextDecoder("latin1").decode(piece);
      }
    },
    (error) =>
      error instanceof FormatError && error.code === "sample-checksum" &&
      error.sample === 700,
  );
  assert.ok(sent.includes("number 500."));
  assert.doesNotMatch(sent, /umber 700\./);
  using unchecked = await open(archive, { checkData: false });
  let bytes = 0;
  for await (const piece of archiveOf(unchecked)) bytes += piece.length;
  assert.equal(bytes, 900 * 1024 + 1024);
});

Deno.test("an empty file that is not as written ends the archive as well", async () => {
  using fs = await open(packed({ "a": "", "b": "b" }));
  const { tree } = fs;
  const locate = tree.locate.bind(tree);
  Object.defineProperty(tree, "locate", {
    value: (...[node, into]: Parameters<typeof locate>) => {
      const isFile = locate(node, into);
      if (into.length === 0) into.checksum = 1;
      return isFile;
    },
  });
  await assert.rejects(
    async () => {
      for await (const _ of archiveOf(fs));
    },
    { code: "sample-checksum" },
  );
});

Deno.test("a member with a damaged offset ends the archive after those before it", async () => {
  const large = new Uint8Array(2 * PIECE).fill(7);
  using fs = await open(packed({ "a": large, "b": "", "c": "c" }));
  const { tree } = fs;
  const stat = tree.stat.bind(tree);
  const bad = await fs.stat("b");
  Object.defineProperty(tree, "stat", {
    value: (...[node, into]: Parameters<typeof stat>) => {
      if (node === bad.ino) {
        throw new FormatError("out-of-bounds", "It is damaged");
      }
      return stat(node, into);
    },
  });
  let bytes = 0;
  await assert.rejects(
    async () => {
      for await (const piece of archiveOf(fs)) bytes += piece.length;
    },
    {
      code: "damaged",
      message: /Cannot archive 'b': it is damaged, and its size is unknown/,
    },
  );
  assert.ok(bytes >= 2 * PIECE, `${bytes}`);
});

Deno.test("wrong bytes in a cache are fetched again", async () => {
  using fs = await open(packed({ "a": "first", "b": "second", "c": "third" }));
  const source = fs.tree.sources.at(0)!;
  let isWrong = true;
  for (const name of ["readAt", "readAtSync", "readCached"] as const) {
    const read = source[name]?.bind(source);
    if (read === undefined) continue;
    const spoilt = (into: Uint8Array, got: number) => {
      if (isWrong) into.fill(0);
      return got;
    };
    Object.defineProperty(source, name, {
      value: (into: Uint8Array, offset: number) => {
        const got: number | Promise<number> = read(into, offset);
        return typeof got === "number"
          ? spoilt(into, got)
          : got.then((bytes) => spoilt(into, bytes));
      },
    });
  }
  const asked: number[] = [];
  Object.defineProperty(source, "invalidate", {
    value: (_: number, length: number) => {
      isWrong = false;
      asked.push(length);
    },
  });
  let text = "";
  for await (const piece of archiveOf(fs)) {
    text += new TextDecoder("latin1").decode(piece);
  }
  assert.deepEqual(asked, [5]);
  for (const content of ["first\0", "second\0", "third\0"]) {
    assert.ok(text.includes(content), content);
  }
});

Deno.test("other requests are served while an archive is sent, and a client that leaves ends it", async () => {
  const names = Array.from(
    { length: 40_000 },
    (_, i) => [`${i}`, `number ${i}`],
  );
  const fs = await open(packed(Object.fromEntries(names)));
  const reads = countReads(fs);
  await using folder = served(fs);
  const response = await folder.get("files/?tar");
  let isSent = false;
  const sent = response.bytes().then(({ length }) => {
    isSent = true;
    return length;
  });
  let answered = 0;
  while (!isSent) {
    const text = await (await folder.get("files/7")).text();
    assert.equal(text, "number 7");
    answered++;
  }
  assert.equal(await sent, 40_002 * 1024 - 1024);
  assert.ok(answered >= 10, `${answered}`);

  const before = reads.bytes;
  const leaving = new AbortController();
  const left = await folder.get("files/?tar", { signal: leaving.signal });
  await left.body!.getReader().read();
  leaving.abort();
  let after = -1;
  for (let i = 0; reads.bytes !== after; i++) {
    assert.ok(i < 100);
    after = reads.bytes;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await (await folder.get("files/?tar")).bytes();
  assert.ok(2 * (after - before) < reads.bytes - after);
});
