/** Number of requests, which object stores charge for. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { crc32 } from "node:zlib";
import { succeed } from "../../cli/run_cli.ts";
import { ffrHeader, packedSamples } from "../../support/ffrecord/make_ffr.ts";
import { FULL, LONG } from "../../support/long.ts";
import { withTempDir } from "../../support/paths.ts";
import { type Asked, FileServer } from "../../support/remote/file_server.ts";

const FILES = LONG ? 1_000_000 : FULL ? 200_000 : 50_000;
/** Longest requested range in bytes. */
const LONGEST = 8 << 20;

function nameOf(file: number): string {
  return `n02119789_${String(file).padStart(7, "0")}.JPEG`;
}

/** Makes a packed folder of equal files. `index` is the number of bytes that locate them. */
function packedFolder(): { bytes: Uint8Array; index: number } {
  const content = new TextEncoder().encode("x".repeat(120));
  const folder: Record<string, Uint8Array> = {};
  for (let i = 0; i < FILES; i++) folder[nameOf(i)] = content;
  const samples = packedSamples(folder);
  const structure = samples.at(-1)!;
  const sum = crc32(content);
  const header = ffrHeader(
    samples.map(({ length }) => length),
    samples.map((sample) => sample === structure ? crc32(sample) : sum),
  );
  const bytes = Buffer.concat([header, ...samples]);
  return { bytes, index: header.length + structure.length };
}

/** Describes a request in failure messages. */
function shown({ range, headers }: Asked): string {
  return `${range} ${headers["if-none-match"] ?? ""}`;
}

Deno.test(`reading one of ${FILES} files of a folder takes few requests at first, then one`, async () => {
  await withTempDir(async (dir) => {
    const { bytes, index } = packedFolder();
    fs.mkdirSync(`${dir}/www`);
    fs.writeFileSync(`${dir}/www/a.ffr`, bytes);
    await using server = await FileServer.start(`${dir}/www`);
    const cat = async (file: number) => {
      server.asked.length = 0;
      const { stdout } = await succeed([
        ...["cat", `${server.url}/a.ffr`, nameOf(file)],
        ...["--cache-dir", `${dir}/cache`],
      ]);
      assert.equal(stdout.length, 120);
      return server.asked.map(shown);
    };
    const needed = Math.ceil(index / LONGEST);
    const asked = await cat(FILES * 0.7);
    assert.ok(asked.length <= needed + 4, asked.join("\n"));
    // Opening it again only revalidates, which transfers no bytes.
    const again = await cat(FILES * 0.7);
    assert.equal(again.length, 1, again.join("\n"));
    assert.match(again[0]!, /"/);
    const other = await cat(FILES * 0.3);
    assert.equal(other.length, 2, other.join("\n"));
  });
});
