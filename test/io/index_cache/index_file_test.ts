/** Index files next to containers: who opens by them, what that costs, and what is ignored or refused. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { zstdCompressSync } from "node:zlib";
import { check, open } from "../../../src/open/open.ts";
import { writeIndex } from "../../../src/open/write_index.ts";
import { Sfc32 } from "../../../src/data/random/random.ts";
import { pieces, piped } from "../../support/compress.ts";
import { withTempDir } from "../../support/paths.ts";
import { asked, type Served, serving } from "../../support/remote/serving.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";

const INDEX = ".recordfs-index";

/** Bytes that cannot be compressed. */
function noise(length: number, seed: number): Uint8Array {
  const random = new Sfc32(seed, 1, 1);
  const words = Uint32Array.from({ length: length / 4 }, () => random.next());
  return new Uint8Array(words.buffer);
}

const LONG = 100_000;
const NOISE = noise(200 * LONG, 1);
const contentOf = (i: number) => NOISE.subarray(i * LONG, (i + 1) * LONG - i);

/** A tar of over 8 MiB, with directories between files, and names that take a header of their own. */
function largeTar(count = 120): Uint8Array<ArrayBuffer> {
  return tarBytes(
    Array.from({ length: count }, (_, i) => [
      ...(i % 10 === 0 ? [{ name: `d${i}/`, type: "5" }] : []),
      ...(i === 57
        ? [{ name: "././@LongLink", type: "L", data: `${"n".repeat(150)}.bin` }]
        : []),
      { name: `d${i - i % 10}/${i}.bin`, data: contentOf(i) },
    ]).flat(),
  );
}

const nameOf = (i: number) =>
  i === 57 ? `${"n".repeat(150)}.bin` : `d${i - i % 10}/${i}.bin`;

async function assertContents(
  container: Awaited<ReturnType<typeof open>>,
  which: readonly number[],
): Promise<void> {
  for (const i of which) {
    const read = await container.read(nameOf(i));
    assert.ok(Buffer.from(read).equals(contentOf(i)), nameOf(i));
  }
}

/** Requests for the index of a file. */
function indexRequests({ server }: Served, path: string): number {
  return server.asked.filter((one) => one.path === path + INDEX).length;
}

Deno.test("a tar on a server is opened by its index in one request more, and none once that is cached", () =>
  serving(async (served) => {
    const { dir, server, remote } = served;
    const bytes = largeTar();
    fs.writeFileSync(`${dir}/x.tar`, bytes);
    const [written] = await writeIndex(`${dir}/x.tar`);
    assert.deepEqual([written!.path, written!.entries], [
      `${dir}/x.tar${INDEX}`,
      120,
    ]);
    assert.ok(written!.bytes < bytes.length / 100);
    fs.utimesSync(`${dir}/x.tar`, 1, 1); // a copy has another time
    const warnings: string[] = [];
    const onWarning = (message: string) => warnings.push(message);
    const url = `${server.url}/x.tar`;
    {
      using container = await open(url, { remote, onWarning });
      assert.equal(container.info.files, 120);
      assert.equal(indexRequests(served, "/x.tar"), 1);
      const { count, bytes: fetched } = asked(served, "/x.tar");
      assert.ok(
        count <= 4 && fetched < bytes.length / 4,
        `${count} ${fetched}`,
      );
      await assertContents(container, [0, 57, 58, 119]);
    }
    server.asked.length = 0;
    using container = await open(url, { remote, onWarning });
    await assertContents(container, [57, 33]);
    assert.equal(indexRequests(served, "/x.tar"), 0);
    assert.deepEqual(warnings, []);
    using whole = await open(`${dir}/x.tar`);
    const names = (fs: typeof whole) => [...fs.walkSync("")].map(String);
    assert.deepEqual(names(container), names(whole));
  }));

for (
  const [name, compress] of [
    ["gz", (tar: Uint8Array) => piped(tar, "gzip", "-1")],
    [
      "zst", // a single frame has no random access
      (tar: Uint8Array) =>
        Buffer.concat(pieces(tar, 2 << 20).map((one) => zstdCompressSync(one))),
    ],
  ] as const
) {
  Deno.test(`.tar.${name} on a server is opened without being decompressed, by an index that was made elsewhere`, () =>
    serving(async (served) => {
      const { dir, server, remote } = served;
      fs.writeFileSync(`${dir}/x.tar.${name}`, await compress(largeTar(200)));
      const url = `${server.url}/x.tar.${name}`;
      const path = `/x.tar.${name}`;
      await writeIndex(url, { remote, output: dir });
      fs.rmSync(served.directory, { recursive: true }); // another machine
      server.asked.length = 0;
      using container = await open(url, { remote });
      assert.equal(container.info.files, 200);
      assert.equal(indexRequests(served, path), 1);
      await assertContents(container, [199, 0]);
      // What is damaged far behind is not found before it is read.
      const damaged = fs.readFileSync(dir + path);
      damaged.fill(0, damaged.length - 100_000, damaged.length - 50_000);
      fs.writeFileSync(dir + path, damaged);
      fs.rmSync(served.directory, { recursive: true });
      using later = await open(url, { remote });
      assert.equal(later.info.files, 200);
      await assertContents(later, [0]);
      await assert.rejects(async () => await later.read(nameOf(199)), {
        code: "bad-structure",
      });
      if (name === "zst") return; // frames say their sizes
      fs.rmSync(`${dir}${path}${INDEX}`);
      await assert.rejects(open(url, { remote: { cache: false } }), {
        code: "bad-structure",
      });
    }));
}

Deno.test("check says that an index was made of another state, and nothing of one that was not", () =>
  withTempDir(async (dir) => {
    const tar = `${dir}/x.tar`;
    fs.writeFileSync(tar, tarBytes([{ name: "a", data: "1" }]));
    await writeIndex(tar);
    const warnings: string[] = [];
    const onWarning = (message: string) => warnings.push(message);
    assert.equal((await check(tar, { onWarning })).damaged, 0);
    assert.deepEqual(warnings, []);
    fs.utimesSync(tar, 1, 1);
    assert.equal((await check(tar, { onWarning })).damaged, 0);
    assert.equal(warnings.length, 1);
    assert.match(
      warnings[0]!,
      /x\.tar\.recordfs-index was made of another state of .*x\.tar/,
    );
    fs.writeFileSync(`${tar}${INDEX}`, "no index");
    const { damage } = await check(tar, { onWarning });
    assert.deepEqual(damage!.map(({ code }) => code), ["bad-index"]);
  }));
