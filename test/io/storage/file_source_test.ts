import assert from "node:assert/strict";
import * as fs from "node:fs";
import { crc32 } from "node:zlib";
import fc from "../../support/random.ts";
import { FormatError, RecordfsError } from "../../../src/base/errors.ts";
import { FileSource, openError } from "../../../src/io/storage/file_source.ts";
import { fillAsync, fillSync } from "../../../src/io/read/read_part.ts";
import { runAsync, runSync } from "../../../src/io/concurrency/steps.ts";
import {
  descriptorsBelow,
  descriptorsBelowNow,
} from "../../support/programs/descriptors.ts";
import { withTempDir } from "../../support/paths.ts";

Deno.test("reads end where the file ends", async () => {
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/a`, "0123456789");
    const source = await runAsync(FileSource.open(`${dir}/a`));
    const into = new Uint8Array(4);
    assert.equal(await source.readAt(into, 8), 2);
    assert.deepEqual([...into.subarray(0, 2)], [0x38, 0x39]);
    assert.equal(source.readAtSync(into, 10), 0);
    assert.equal(source.readAtSync(into, 3), 4);
    assert.equal(source.size, 10);
    source.close();
  });
});

Deno.test("a file replaced after it was opened is not read as the old one", async () => {
  await withTempDir((dir) => {
    fs.writeFileSync(`${dir}/a`, "old");
    const source = runSync(FileSource.open(`${dir}/a`));
    fs.writeFileSync(`${dir}/b`, "new");
    fs.renameSync(`${dir}/b`, `${dir}/a`);
    const into = new Uint8Array(3);
    source.readAtSync(into, 0); // the open descriptor still refers to the old file
    assert.equal(new TextDecoder().decode(into), "old");
    // Enough other files to evict the descriptor, so that the path must be opened again.
    const others = Array.from({ length: 200 }, (_, i) => {
      fs.writeFileSync(`${dir}/other${i}`, "x");
      return runSync(FileSource.open(`${dir}/other${i}`));
    });
    assert.throws(
      () => source.readAtSync(into, 0),
      (error) => error instanceof FormatError && error.code === "changed",
    );
    for (const other of [source, ...others]) other.close();
  });
});

Deno.test("closing waits for running reads", async () => {
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/a`, new Uint8Array(1 << 24).fill(7));
    const source = runSync(FileSource.open(`${dir}/a`));
    const into = new Uint8Array(1 << 24);
    const reading = source.readAt(into, 0);
    source.close();
    assert.equal(await reading, 1 << 24);
    assert.ok(into.every((byte) => byte === 7));
    await assert.rejects(source.readAt(into, 0), /has been closed/);
  });
});

Deno.test("a read that waits for a descriptor can be aborted", async () => {
  await withTempDir(async (dir) => {
    const sources = Array.from({ length: 300 }, (_, i) => {
      fs.writeFileSync(`${dir}/${i}`, "x");
      return runSync(FileSource.open(`${dir}/${i}`));
    });
    const controller = new AbortController();
    const { signal } = controller;
    const reading = sources.map((source, i) =>
      source.readAt(new Uint8Array(1), 0, i < 200 ? {} : { signal })
    );
    controller.abort();
    const answers = await Promise.allSettled(reading);
    assert.deepEqual(
      answers.map(({ status }) => status),
      sources.map((_, i) => i < 200 ? "fulfilled" : "rejected"),
    );
    for (const source of sources) source.close();
  });
});

Deno.test("many reads at once need no more descriptors than the pool keeps", async () => {
  await withTempDir(async (dir) => {
    const sources = Array.from({ length: 400 }, (_, i) => {
      fs.writeFileSync(`${dir}/${i}`, "x");
      return runSync(FileSource.open(`${dir}/${i}`));
    });
    const reading = sources.map((source) =>
      source.readAt(new Uint8Array(1), 0)
    );
    const during = descriptorsBelowNow(dir);
    // A synchronous read, which cannot wait, gets a descriptor anyway.
    assert.equal(sources[399]!.readAtSync(new Uint8Array(1), 0), 1);
    assert.deepEqual(await Promise.all(reading), sources.map(() => 1));
    // Deno duplicates each descriptor while one of its threads reads.
    assert.ok(during <= 2 * 128, `${during} descriptors`);
    const open = await descriptorsBelow(dir);
    assert.ok(open <= 128, `${open} descriptors`);
    for (const source of sources) source.close();
  });
});

/** Makes a source of a file of non-repeating bytes. */
function madeSource(path: string, length: number) {
  const bytes = new Uint8Array(length).map((_, i) => (i * 2654435761) >>> 13);
  fs.writeFileSync(path, bytes);
  return { bytes, source: runSync(FileSource.open(path)) };
}

/** Makes the source count as slow, whatever it is stored on. */
function takeForSlow(source: FileSource): void {
  for (let i = 0; i < 20; i++) source.pace.took(1000, 1);
  assert.ok(!source.pace.allows());
}

/**
 * Ways to read a file: the system reports which data is cached, if it can; the measured speed indicates that nothing
 * is cached; or, in /dev/shm, the file system does not report it.
 */
const WAYS: [name: string, dir: string | undefined, slow: boolean][] = [
  ["the system's memory", undefined, false],
  ["a slow disk", "/dev/shm", true],
  ["a file system that does not tell", "/dev/shm", false],
];

for (const [name, parent, slow] of WAYS) {
  const ignore = parent !== undefined && !fs.existsSync(parent);
  Deno.test(
    `all ways to read return the same bytes: ${name}`,
    { ignore },
    async () => {
      const dir = await Deno.makeTempDir(
        parent === undefined ? {} : { dir: parent },
      );
      try {
        const { bytes, source } = madeSource(`${dir}/a`, 3_000_000);
        const range = fc.tuple(
          fc.nat(bytes.length),
          fc.oneof(fc.nat(100), fc.nat(5000), fc.nat(bytes.length)),
        );
        await fc.assert(
          fc.asyncProperty(range, async ([offset, length]) => {
            if (slow) takeForSlow(source);
            await allWaysGive(
              source,
              offset,
              bytes.slice(offset, offset + length),
            );
          }),
          { numRuns: 60 },
        );
        source.close();
      } finally {
        await Deno.remove(dir, { recursive: true });
      }
    },
  );
}

async function allWaysGive(
  source: FileSource,
  offset: number,
  expected: Uint8Array,
): Promise<void> {
  const sum = crc32(expected);
  const size = expected.length;
  const [a, b, c, d] = [0, 1, 2, 3].map(() => new Uint8Array(size));
  assert.equal(source.readAtSync(a!, offset), size);
  assert.equal(await source.readAt(b!, offset), size);
  assert.equal(fillSync(source, c!, offset, crc32), sum);
  const filling = fillAsync(source, d!, offset, crc32, undefined);
  assert.equal(await filling, sum);
  for (const read of [a, b, c, d]) assert.deepEqual(read, expected);
  const shared = new Uint8Array(new SharedArrayBuffer(size));
  assert.equal(fillSync(source, shared, offset, crc32), sum);
  await fillAsync(source, shared.fill(0), offset, false, undefined);
  assert.equal(crc32(shared), sum);
}

Deno.test("data that is not in the page cache is waited for", async () => {
  await withTempDir(async (dir) => {
    const { bytes, source } = madeSource(`${dir}/a`, 2_000_000);
    // Evicts the file from the page cache, if its file system uses it.
    const { success } = await new Deno.Command("dd", {
      args: [
        `of=${dir}/a`,
        "oflag=nocache",
        "conv=notrunc,fdatasync",
        "count=0",
      ],
      stderr: "null",
    }).output();
    assert.ok(success);
    const into = new Uint8Array(1_500_000);
    const crc = await fillAsync(source, into, 1000, crc32, undefined);
    const expected = bytes.slice(1000, 1_501_000);
    assert.deepEqual(into, expected);
    assert.equal(crc, crc32(expected));
    source.close();
  });
});

Deno.test("a truncated file ends every way of reading with an error", async () => {
  await withTempDir(async (dir) => {
    const { source } = madeSource(`${dir}/a`, 2_000_000);
    fs.truncateSync(`${dir}/a`, 1_000_000);
    const cut = (error: unknown) =>
      error instanceof FormatError && error.code === "out-of-bounds" &&
      error.path === `${dir}/a`;
    for (const [offset, length] of [[999_000, 2000], [0, 2_000_000]] as const) {
      const into = new Uint8Array(length);
      for (const summed of [crc32, false] as const) {
        assert.throws(() => fillSync(source, into, offset, summed), cut);
        const reading = fillAsync(source, into, offset, summed, undefined);
        await assert.rejects(reading, cut);
      }
    }
    source.close();
  });
});

Deno.test("every system error becomes an error of recordfs, and no other error does", async () => {
  const refusal = await fs.promises.readFile("/").catch((error) => error);
  const error = openError("/", refusal) as RecordfsError;
  assert.ok(error instanceof RecordfsError);
  assert.deepEqual([error.code, error.path, error.cause], [
    "EISDIR",
    "/",
    refusal,
  ]);
  assert.equal(error.message, "Cannot open /: it is a directory");
  const rare = Object.assign(new Error("EREMOTEIO: remote i/o error"), {
    code: "EREMOTEIO",
  });
  assert.match(
    String(openError("/x", rare)),
    /^RecordfsError: Cannot open \/x: EREMOTEIO: remote i\/o error/,
  );
  const other = new TypeError("no refusal");
  assert.equal(openError("/x", other), other);
});
