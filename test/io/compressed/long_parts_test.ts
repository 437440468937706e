/**
 * Streams without random access: decoded once, then read from the disk cache, and decoded again if they are evicted.
 */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { runAsync, runSync } from "../../../src/io/concurrency/steps.ts";
import { CompressedStorage } from "../../../src/io/compressed/compressed_storage.ts";
import { DecodedBlocks } from "../../../src/io/block_cache/decoded_blocks.ts";
import { LOCAL_DISK } from "../../../src/io/storage/storage.ts";
import type { ByteSource } from "../../../src/io/storage/byte_source.ts";
import type { CacheOptions } from "../../../src/io/remote/remote_options.ts";
import { mixedBytes, piped } from "../../support/compress.ts";
import { withMemoryDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";

const PLAIN = mixedBytes(24_000_000, 3);
/** Memory limit, so small that the stream is too long to be decoded for a single read. */
const MEMORY = 4 << 20;

interface Opened {
  readonly source: ByteSource;
  readonly warnings: string[];
}

function open(path: string, cache: CacheOptions | false): Opened {
  const warnings: string[] = [];
  const options = {
    remote: { cache },
    onWarning: (message: string) => warnings.push(message),
  };
  const storage = new CompressedStorage(
    LOCAL_DISK,
    new Map([[path, path]]),
    options,
    DecodedBlocks.ofSize(MEMORY),
  );
  return { source: runSync(storage.open(path)), warnings };
}

/** Reads backwards, which no decoder supports, and compares. */
async function compareBackwards({ source }: Opened): Promise<void> {
  const into = new Uint8Array(50_000);
  for (let at = PLAIN.length - 7; at >= 0; at -= 2_999_999) {
    const expected = PLAIN.subarray(at, at + into.length);
    assert.equal(source.readAtSync!(into, at), expected.length);
    assert.ok(Buffer.from(into.buffer, 0, expected.length).equals(expected));
    assert.equal(await source.readAt(into, at), expected.length);
    assert.ok(Buffer.from(into.buffer, 0, expected.length).equals(expected));
  }
}

async function withFrame(
  use: (path: string, directory: string) => Promise<void>,
): Promise<void> {
  await withMemoryDir(async (dir) => {
    const path = `${dir}/x.zst`;
    fs.writeFileSync(path, await piped(PLAIN, "zstd", "-c"));
    await use(path, `${dir}/cache`);
  });
}

Deno.test({
  name: "one zstd frame is decoded once, for all programs",
  ...needs("zstd"),
  fn: () =>
    withFrame(async (path, directory) => {
      for (let program = 0; program < 2; program++) {
        const opened = open(path, { directory });
        assert.equal(opened.source.size, PLAIN.length);
        await compareBackwards(opened);
        assert.deepEqual(opened.warnings, []);
        opened.source.close();
      }
    }),
});

Deno.test({
  name: "data that the cache has lost is decoded again, with one warning",
  ...needs("zstd"),
  fn: () =>
    withFrame(async (path, directory) => {
      open(path, { directory }).source.close();
      fs.rmSync(`${directory}/objects`, { recursive: true });
      const opened = open(path, { directory });
      await compareBackwards(opened);
      assert.equal(opened.warnings.length, 1, opened.warnings.join("\n"));
      assert.match(opened.warnings[0]!, /decompressed again from its start/);
      opened.source.close();
      // Now it is cached again.
      const again = open(path, { directory });
      await compareBackwards(again);
      assert.deepEqual(again.warnings, []);
      again.source.close();
    }),
});

Deno.test({
  name:
    "without a cache, or with a small one, reads are correct and disk use is bounded",
  ...needs("zstd"),
  fn: () =>
    withFrame(async (path, directory) => {
      for (const cache of [false, { directory, size: 3 << 20 }] as const) {
        const opened = open(path, cache);
        await compareBackwards(opened);
        assert.equal(opened.warnings.length, 1, opened.warnings.join("\n"));
        opened.source.close();
      }
      let used = 0;
      for (const name of fs.readdirSync(directory, { recursive: true })) {
        const { blocks } = fs.statSync(`${directory}/${name}`);
        used += 512 * blocks;
      }
      assert.ok(used < 5 << 20, `${used} bytes`);
    }),
});

Deno.test({
  name: "a damaged cache is detected, and reads are correct",
  ...needs("zstd"),
  fn: () =>
    withFrame(async (path, directory) => {
      open(path, { directory }).source.close();
      const damage = (file: string) => {
        const bytes = fs.readFileSync(file);
        for (let at = 1000; at < bytes.length; at += 99_991) bytes[at]! ^= 0xff;
        fs.writeFileSync(file, bytes);
      };
      const names = fs.readdirSync(directory, { recursive: true }) as string[];
      for (const name of names) {
        if (/\.index$/.test(name)) damage(`${directory}/${name}`);
      }
      const opened = open(path, { directory });
      await compareBackwards(opened);
      opened.source.close();
      const far = await runAsync(LOCAL_DISK.open(path));
      far.close();
    }),
});
