/** Files compressed by real programs read like the decompressed files, in any order. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { runAsync, runSync } from "../../../src/io/concurrency/steps.ts";
import {
  type CompressedOptions,
  CompressedStorage,
} from "../../../src/io/compressed/compressed_storage.ts";
import type { ByteSource } from "../../../src/io/storage/byte_source.ts";
import { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";
import { LOCAL_DISK, type Storage } from "../../../src/io/storage/storage.ts";
import { FormatError } from "../../../src/base/errors.ts";
import {
  COMPRESSED_CASES,
  joined,
  mixedBytes,
  piped,
} from "../../support/compress.ts";
import { LONG } from "../../support/long.ts";
import { withMemoryDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import fc from "../../support/random.ts";
import { slowStorage } from "../../support/slow_storage.ts";

const PLAIN = mixedBytes(11_000_000);

function layer(
  base: Storage,
  path: string,
  options: CompressedOptions = {},
): CompressedStorage {
  return new CompressedStorage(base, new Map([[path, path]]), {
    remote: { cache: false },
    ...options,
  });
}

function inMemory(bytes: Uint8Array): Storage {
  return new MemoryStorage({ x: bytes });
}

/** Reads ranges in random order, and compares them. */
async function compareReads(
  source: ByteSource,
  plain: Uint8Array,
  isSync: boolean,
): Promise<void> {
  assert.equal(source.size, plain.length);
  const range = fc.tuple(
    fc.nat(plain.length + 10),
    fc.oneof(
      { weight: 9, arbitrary: fc.nat(70_000) },
      { weight: 1, arbitrary: fc.nat(plain.length) },
    ),
  );
  await fc.assert(
    fc.asyncProperty(range, async ([offset, length]) => {
      const expected = plain.subarray(offset, offset + length);
      const into = new Uint8Array(length).fill(0xa5);
      const got = isSync
        ? source.readAtSync!(into, offset)
        : await source.readAt(into, offset);
      assert.equal(got, expected.length);
      assert.ok(Buffer.from(into.buffer, 0, got).equals(expected));
    }),
    { numRuns: LONG ? 300 : 20 },
  );
}

for (const { name, needs: programs, make } of COMPRESSED_CASES) {
  Deno.test({
    name: `${name}: random reads are those of the decompressed file`,
    ...needs(...programs),
    fn: () =>
      withMemoryDir(async (dir) => {
        const bytes = await make(PLAIN);
        const path = `${dir}/x`;
        fs.writeFileSync(path, bytes);
        const options = {
          remote: { cache: { directory: `${dir}/cache` } },
          onWarning: (message: string) => assert.fail(message),
        };
        const near = runSync(layer(LOCAL_DISK, path, options).open(path));
        await compareReads(near, PLAIN, true);
        near.close();
        const slow = layer(slowStorage(1, inMemory(bytes)), "x");
        const far = await runAsync(slow.open("x"));
        assert.equal(far.readAtSync, undefined);
        await compareReads(far, PLAIN, false);
        far.close();
      }),
  });

  Deno.test({
    name:
      `${name}: truncated and damaged files are rejected, and never read incorrectly`,
    ...needs(...programs),
    fn: async () => {
      const plain = PLAIN.subarray(0, 200_000);
      const bytes = await make(plain);
      const open = (bytes: Uint8Array) => {
        const warnings: string[] = [];
        const onWarning = (message: string) => warnings.push(message);
        const source = runSync(
          layer(inMemory(bytes), "x", { onWarning }).open("x"),
        );
        const into = new Uint8Array(source.size);
        assert.equal(source.readAtSync!(into, 0), into.length);
        return { into, warnings };
      };
      assert.ok(Buffer.from(open(bytes).into).equals(plain));
      fc.assert(
        fc.property(
          fc.integer({ min: 6, max: bytes.length - 1 }),
          fc.nat(254),
          (at, change) => {
            const damaged = bytes.slice();
            damaged[at] = damaged[at]! + 1 + change;
            for (const wrong of [damaged, bytes.subarray(0, at)]) {
              try {
                const { into, warnings } = open(wrong);
                // Some bytes of headers, padding and frames without checksums have no effect, or turn everything
                // after them into trailing junk.
                const isPart = Buffer.from(into).equals(
                  plain.subarray(0, into.length),
                );
                if (name.includes("--no-check")) continue;
                assert.ok(isPart, `byte ${at}`);
                if (into.length < plain.length && wrong === damaged) {
                  assert.match(warnings.join(), /not part of the compressed/);
                }
              } catch (error) {
                assert.ok(
                  error instanceof FormatError || wrong.length < 16,
                  `${error}`,
                );
              }
            }
          },
        ),
        { numRuns: LONG ? 300 : 40 },
      );
    },
  });
}

Deno.test(
  "trailing junk is reported and not read",
  needs("gzip"),
  async () => {
    const plain = PLAIN.subarray(0, 1000);
    const bytes = joined(await piped(plain, "gzip", "-c"), Uint8Array.of(7, 8));
    const warnings: string[] = [];
    const storage = layer(inMemory(bytes), "x", {
      onWarning: (message) => warnings.push(message),
    });
    const source = runSync(storage.open("x"));
    assert.equal(source.size, plain.length);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /^x: its last 2 bytes are not part/);
  },
);
