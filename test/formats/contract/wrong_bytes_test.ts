/** Bytes that a server or its cache returned wrong once: each format detects them, and reads them again. */
import { openRows } from "../../support/parquet/open_rows.ts";
import { openMds } from "../../support/mds/open_mds.ts";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { crc32 } from "node:zlib";
import { check, open } from "../../../src/open/open.ts";
import { sha256 } from "../../support/golden.ts";
import { mdsCase } from "../../support/mds/mds_golden.ts";
import { largeFile } from "../../support/parquet/make_parquet.ts";
import { type Served, serving } from "../../support/remote/serving.ts";
import { memberBytes } from "../../support/tar/make_tar.ts";
import { makeZip } from "../../support/zip/make_zip.ts";

/** Makes the server corrupt a byte of a file, the first `times` times it is requested. */
function sendWrong(
  { server }: Served,
  path: string,
  at: number,
  times: number,
): void {
  server.fault = (asked, response, file) => {
    if (file === undefined || asked.path !== path) return false;
    const [, first = 0, last = Infinity] =
      /bytes=(\d+)-(\d+)/.exec(asked.range ?? "")?.map(Number) ?? [];
    const end = Math.min(last + 1, file.length);
    const bytes = Buffer.from(file.subarray(first, end));
    if (times > 0 && first <= at && at < end) {
      times--;
      bytes[at - first]! ^= 0x41;
    }
    response.writeHead(206, {
      "content-range": `bytes ${first}-${end - 1}/${file.length}`,
      "content-length": bytes.length,
      etag: `"${crc32(file)}"`,
    }).end(bytes);
    return true;
  };
}

/** Served file, and one of its bytes. */
interface Case {
  /** Path of the file with that byte. */
  readonly path: string;
  /** Writes it below a directory, and returns the offset of the byte. */
  write(dir: string): number | Promise<number>;
  /** Fills the cache before the byte is corrupted. */
  prepare?(served: Served): Promise<void>;
  /** Reads content that includes the byte. */
  read(url: string, remote: Served["remote"]): Promise<Uint8Array>;
  /** SHA-256 of that content. */
  readonly expected: string;
  /** Error code if the byte is corrupted each time. */
  readonly code: string;
}

const CONTENT = new Uint8Array(300_000).map((_, i) => Math.imul(i, i) >> 7);
const [LOCAL_HEADER, NAME] = [30, "member"];

async function readZip(
  url: string,
  remote: Served["remote"],
): Promise<Uint8Array> {
  using container = await open(`${url}/a.zip`, { remote });
  return await container.read(NAME);
}

function writeZip(dir: string, method: number): void {
  const member = { name: NAME, data: CONTENT, method };
  fs.writeFileSync(`${dir}/a.zip`, makeZip([member]));
}

/** Content of a tar large enough for its index to be cached. */
const LARGE = new Uint8Array(9 << 20);

async function readTar(
  url: string,
  remote: Served["remote"],
): Promise<Uint8Array> {
  using container = await open(`${url}/a.tar`, { remote });
  return await container.read(NAME);
}

const CASES: Readonly<Record<string, Case>> = {
  "the content of a stored member of a zip": {
    path: "/a.zip",
    write(dir) {
      writeZip(dir, 0);
      return 1000;
    },
    read: readZip,
    expected: sha256(CONTENT),
    code: "sample-checksum",
  },
  "the header of a stored member of a zip": {
    path: "/a.zip",
    write(dir) {
      writeZip(dir, 0);
      return LOCAL_HEADER + 2;
    },
    read: readZip,
    expected: sha256(CONTENT),
    code: "bad-structure",
  },
  "a deflated member of a zip, which cannot be inflated": {
    path: "/a.zip",
    write(dir) {
      writeZip(dir, 8);
      return LOCAL_HEADER + NAME.length;
    },
    read: readZip,
    expected: sha256(CONTENT),
    code: "bad-structure",
  },
  "the header of a member of a tar": {
    path: "/a.tar",
    write(dir) {
      const first = memberBytes({ name: "first", data: "1" });
      const member = memberBytes({ name: NAME, data: CONTENT });
      const tar = Buffer.concat([first, member, Buffer.alloc(1024)]);
      fs.writeFileSync(`${dir}/a.tar`, tar);
      return first.length + 2;
    },
    read: readTar,
    expected: sha256(CONTENT),
    code: "not-found",
  },
  "the header of a member of a tar whose index is cached": {
    path: "/a.tar",
    write(dir) {
      const large = memberBytes({ name: "large", data: LARGE });
      const member = memberBytes({ name: NAME, data: CONTENT });
      const tar = Buffer.concat([large, member, Buffer.alloc(1024)]);
      fs.writeFileSync(`${dir}/a.tar`, tar);
      return large.length + 2;
    },
    async prepare({ server, remote, directory }) {
      await readTar(server.url, remote);
      fs.rmSync(`${directory}/objects`, { recursive: true });
    },
    read: readTar,
    expected: sha256(CONTENT),
    code: "bad-index",
  },
  "the header of a page of Parquet": {
    path: "/a.parquet",
    write(dir) {
      const shape = { groups: 1, pages: 3, rows: 4, size: 1000 };
      const file = largeFile({ ...shape, isIndexed: true });
      fs.writeFileSync(`${dir}/a.parquet`, file);
      return Buffer.from(file).indexOf(file.subarray(4, 10), 10); // the second page
    },
    async read(url, remote) {
      using reader = await openRows(`${url}/a.parquet`, { remote });
      return (await reader.read(5) as { data: Uint8Array }).data;
    },
    expected: sha256(new Uint8Array(1000).fill(5)),
    code: "bad-structure",
  },
  "a compressed shard of MDS": {
    path: "/d/shard.00000.mds.zstd",
    write(dir) {
      fs.cpSync(mdsCase("zstd").path, `${dir}/d`, { recursive: true });
      return 0;
    },
    async read(url, remote) {
      using reader = await openMds(`${url}/d/index.json`, { remote });
      return (await reader.read(0))["image"]!;
    },
    expected: mdsCase("zstd").content.samples[0]!["image"]!.sha256,
    code: "bad-structure",
  },
};

for (const [what, one] of Object.entries(CASES)) {
  Deno.test(`bytes that were corrupt once are read again: ${what}`, () =>
    serving(async (served) => {
      const at = await one.write(served.dir);
      sendWrong(served, one.path, at, 0);
      await one.prepare?.(served);
      sendWrong(served, one.path, at, 1);
      const { url } = served.server;
      const read = await one.read(url, served.remote);
      assert.equal(sha256(read), one.expected);
    }));

  Deno.test(`bytes that are always corrupt are an error: ${what}`, () =>
    serving(async (served) => {
      const at = await one.write(served.dir);
      sendWrong(served, one.path, at, 0);
      await one.prepare?.(served);
      sendWrong(served, one.path, at, Infinity);
      const { url } = served.server;
      await assert.rejects(() => one.read(url, served.remote), {
        code: one.code,
      });
    }));
}

/** Containers to check, and the corrupted byte. */
const CHECKED: Readonly<
  Record<
    string,
    Pick<Case, "path"> & { write(dir: string): string; at: number }
  >
> = {
  "a zip": {
    path: "/a.zip",
    write(dir) {
      writeZip(dir, 0);
      return "a.zip";
    },
    at: 1000,
  },
  "a shard of MDS, by its hashes": {
    path: "/d/shard.00000.mds",
    write(dir) {
      fs.cpSync(mdsCase("plain").path, `${dir}/d`, { recursive: true });
      return "d/index.json";
    },
    at: 1000,
  },
};

for (const [what, { path, write, at }] of Object.entries(CHECKED)) {
  Deno.test(`bytes that were corrupt once are not damage to a check: ${what}`, () =>
    serving(async (served) => {
      const location = write(served.dir);
      const checked = async () => {
        const { damaged } = await check(`${served.server.url}/${location}`, {
          remote: served.remote,
          onDamage() {},
        });
        return damaged;
      };
      sendWrong(served, path, at, 1);
      assert.equal(await checked(), 0);
      fs.rmSync(served.directory, { recursive: true });
      sendWrong(served, path, at, Infinity);
      assert.equal(await checked(), 1);
    }));
}
