/** Mounts of containers that are damaged, changed or replaced while they are mounted. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import { mount } from "../../../fuse/mount_container.ts";
import type { MountOptions } from "../../../fuse/mod.ts";
import type { Mount } from "../../../fuse/mounting/mount_handle.ts";
import { numberName } from "../../support/bags/bag_trees.ts";
import { goldenCase } from "../../support/golden.ts";
import { writeDataset } from "../../support/bags/make_bag.ts";
import { ffrBytes, ffrHeader } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { mountTest, output } from "../../fuse/support/mounting.ts";

/** Samples whose bytes identify them. */
const samplesOf = (lengths: readonly number[], first = 0): Uint8Array[] =>
  lengths.map((length, i) => {
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length; at += 256) {
      bytes.fill(first + i + (at >>> 8), at, at + 256);
    }
    return bytes;
  });

/** Mounts a container while `body` runs, and collects what the mount logs. */
async function mounted(
  path: string,
  dir: string,
  options: MountOptions,
  body: (
    file: (sample: number) => string,
    logs: readonly string[],
    mount: Mount,
  ) => Promise<void>,
): Promise<void> {
  const mountpoint = `${dir}/mnt`;
  fs.mkdirSync(mountpoint, { recursive: true });
  const logs: string[] = [];
  const onLog = (message: string) => logs.push(message);
  await using made = await mount(path, mountpoint, { onLog, ...options });
  await body((i) => `${mountpoint}/${numberName(i)}`, logs, made);
}

/** Drops a file's pages from the kernel's cache, so that the next read sends a request. */
async function dropCache(file: string): Promise<void> {
  const { code, stderr } = await output(
    "dd",
    `if=${file}`,
    "iflag=nocache",
    "count=0",
  );
  assert.equal(code, 0, stderr);
}

const IO_ERROR = /os error 5/;

/** Waits until a thread has logged a matching line. */
async function logged(logs: readonly string[], what: RegExp): Promise<void> {
  while (!logs.some((line) => what.test(line))) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

mountTest(
  "a damaged sample is an I/O error, and the others are right",
  () =>
    withTempDir((dir) => {
      const { path, content } = goldenCase("ffrecord/bad_flip_sample");
      return mounted(path, dir, {}, async (file, logs) => {
        for (const { index, crc32: expected } of content.samples) {
          if (index === 3) {
            await assert.rejects(Deno.readFile(file(index)), IO_ERROR);
          } else {
            assert.equal(crc32(await Deno.readFile(file(index))), expected);
          }
        }
        await assert.rejects(Deno.readFile(file(3)), IO_ERROR);
        await logged(logs, /checksum/);
        assert.equal(logs.length, 1);
        assert.ok(
          logs[0]!.startsWith(
            `Cannot read sample 3 of ${path}: checksum mismatch (expected`,
          ),
          logs[0],
        );
      });
    }),
);

mountTest(
  "without verification the bytes are those of the file",
  () =>
    withTempDir((dir) => {
      const { path, content } = goldenCase("ffrecord/bad_flip_sample");
      return mounted(path, dir, { verify: false }, async (file) => {
        const bytes = fs.readFileSync(path);
        const { n } = content;
        const read: Uint8Array[] = [];
        for (let i = 0; i < n; i++) read.push(await Deno.readFile(file(i)));
        const behindHeader = bytes.subarray(12 + 12 * n); // samples are stored back to back
        assert.ok(behindHeader.equals(Buffer.concat(read)));
      });
    }),
);

mountTest(
  "samples of all sizes are checked, and right wherever they are first read",
  () =>
    withTempDir(async (dir) => {
      const path = `${dir}/a.ffr`;
      const samples = samplesOf([0, 1, 100_000, 1 << 20, (1 << 20) + 1, 9e6]);
      fs.writeFileSync(path, ffrBytes(samples));
      await mounted(path, dir, {}, async (file, logs) => {
        for (const [i, sample] of samples.entries()) {
          using opened = await Deno.open(file(i));
          const middle = sample.length >>> 1;
          await opened.seek(middle, Deno.SeekMode.Start);
          const part = new Uint8Array(Math.min(5000, sample.length - middle));
          for (let done = 0; done < part.length;) {
            done += await opened.read(part.subarray(done)) ?? assert.fail();
          }
          assert.deepEqual(part, sample.slice(middle, middle + part.length));
          assert.deepEqual(await Deno.readFile(file(i)), sample);
        }
        assert.deepEqual(logs, []);
      });
    }),
);

mountTest(
  "content overwritten in place is an I/O error, even if it had been read",
  () =>
    withTempDir(async (dir) => {
      const path = `${dir}/a.ffr`;
      const samples = samplesOf([100_000, 3_000_000, 100_000]);
      fs.writeFileSync(path, ffrBytes(samples));
      await mounted(path, dir, {}, async (file, logs) => {
        for (const [i, sample] of samples.entries()) {
          assert.deepEqual(await Deno.readFile(file(i)), sample);
          await dropCache(file(i));
        }
        using opened = await Deno.open(path, { write: true });
        await opened.seek(12 + 12 * 3, Deno.SeekMode.Start);
        await opened.write(new Uint8Array(200_000)); // the first sample, and the start of the second
        await assert.rejects(Deno.readFile(file(0)), IO_ERROR);
        await assert.rejects(Deno.readFile(file(1)), IO_ERROR);
        assert.deepEqual(await Deno.readFile(file(2)), samples[2]);
        await logged(logs, /was changed while it is mounted \(modified /);
        await logged(logs, /sample 0 of .*: checksum mismatch /);
        await logged(logs, /sample 1 of .*: checksum mismatch /);
        assert.equal(logs.length, 3, logs.join("\n"));
        await opened.seek(0, Deno.SeekMode.Start);
        await opened.write(ffrBytes(samples)); // restores the content
        for (const [i, sample] of samples.entries()) {
          assert.deepEqual(await Deno.readFile(file(i)), sample);
        }
      });
    }),
);

mountTest(
  "without verification overwritten content is read, and the log reports it",
  () =>
    withTempDir(async (dir) => {
      const path = `${dir}/a.ffr`;
      fs.writeFileSync(path, ffrBytes(samplesOf([5000, 5000])));
      await mounted(path, dir, { verify: false }, async (file, logs) => {
        const later = samplesOf([5000, 5000], 99);
        fs.writeFileSync(path, ffrBytes(later));
        assert.deepEqual(await Deno.readFile(file(0)), later[0]);
        await logged(logs, /a\.ffr was changed while it is mounted/);
        assert.equal(logs.length, 1);
      });
    }),
);

for (
  const [name, change, message] of [
    [
      "cut",
      (path: string) => Deno.truncate(path, 6_000_000),
      /was truncated from \d+ to 6000000 bytes/,
    ],
    [
      "overwritten",
      async (path: string) => {
        using file = await Deno.open(path, { write: true });
        await file.seek(6_000_000, Deno.SeekMode.Start);
        const noise = new Uint8Array(1 << 20).fill(0xaa);
        for (let i = 0; i < 16; i++) await file.write(noise);
      },
      /was changed while it is mounted/,
    ],
  ] as const
) {
  mountTest(
    `four readers of a container that is ${name} get right bytes or I/O errors`,
    () =>
      withTempDir(async (dir) => {
        const path = `${dir}/a.ffr`;
        const samples = samplesOf(
          Array.from({ length: 200 }, (_, i) => i % 40 === 0 ? 2_500_000 : 1e5),
        );
        fs.writeFileSync(path, ffrBytes(samples));
        await mounted(path, dir, {}, async (file, logs) => {
          const outcomes = { right: 0, failed: 0 };
          let changed: Promise<void> | undefined;
          const reader = async (number: number) => {
            for (let i = 0; i < samples.length; i++) {
              const sample = (i * 7 + number * 50) % samples.length;
              if (outcomes.right === 100) changed ??= change(path);
              try {
                const bytes = await Deno.readFile(file(sample));
                assert.equal(
                  crc32(bytes),
                  crc32(samples[sample]!),
                  `${sample}`,
                );
                outcomes.right++;
              } catch (error) {
                assert.match(String(error), IO_ERROR);
                outcomes.failed++;
              }
            }
          };
          await Promise.all([0, 1, 2, 3].map(reader));
          await changed;
          assert.ok(changed !== undefined && outcomes.failed > 0);
          // The first sample was never overwritten.
          assert.equal(crc32(await Deno.readFile(file(1))), crc32(samples[1]!));
          await logged(logs, message);
        });
      }),
  );
}

mountTest(
  "a container replaced by rename is still read as it was opened",
  () =>
    withTempDir(async (dir) => {
      const path = `${dir}/a.ffr`;
      const samples = samplesOf([100_000, 2_000_000, 100_000]);
      fs.writeFileSync(path, ffrBytes(samples));
      await mounted(path, dir, {}, async (file, logs) => {
        assert.deepEqual(await Deno.readFile(file(0)), samples[0]);
        fs.writeFileSync(`${dir}/b.ffr`, ffrBytes(samplesOf([9, 9, 9], 50)));
        fs.renameSync(`${dir}/b.ffr`, path);
        for (const [i, sample] of samples.entries()) {
          await dropCache(file(i));
          assert.deepEqual(await Deno.readFile(file(i)), sample);
        }
        await logged(logs, /was replaced or removed while it is mounted/);
        assert.equal(logs.length, 1, logs.join("\n"));
      });
    }),
);

mountTest(
  "of 70 parts, those that are not kept open are checked and watched too",
  () =>
    withTempDir(async (dir) => {
      const parts = `${dir}/parts`;
      fs.mkdirSync(parts);
      const part = (i: number) =>
        `${parts}/PART_${`${i}`.padStart(5, "0")}.ffr`;
      const samples = samplesOf(Array<number>(70).fill(50_000));
      for (const [i, sample] of samples.entries()) {
        fs.writeFileSync(part(i), ffrBytes([sample]));
      }
      const damage = (path: string) => {
        const bytes = fs.readFileSync(path);
        bytes[bytes.length - 1]! ^= 1;
        fs.writeFileSync(path, bytes);
      };
      damage(part(68));
      await mounted(parts, dir, {}, async (file, logs) => {
        assert.deepEqual(await Deno.readFile(file(69)), samples[69]);
        await assert.rejects(Deno.readFile(file(68)), IO_ERROR);
        await dropCache(file(69));
        damage(part(69));
        await assert.rejects(Deno.readFile(file(69)), IO_ERROR);
        fs.renameSync(part(67), `${dir}/elsewhere.ffr`);
        assert.deepEqual(await Deno.readFile(file(67)), samples[67]);
        await logged(logs, /00069\.ffr was changed/);
        await logged(logs, /00067\.ffr was replaced or removed/);
      });
    }),
);

mountTest(
  "bags that are mapped when they are read are watched as well",
  () =>
    withTempDir(async (dir) => {
      const data = `${dir}/data`;
      const bytes = (value: number) => new Uint8Array(9000).fill(value);
      for (const shard of [0, 1, 2]) {
        const datapoint = { a: bytes(shard), b: bytes(shard) };
        const place = `${data}/${numberName(shard)}`;
        writeDataset(place, { a: "bytes", b: "bytes" }, [datapoint], 2);
      }
      await mounted(data, dir, {}, async (_file, logs, { mountpoint }) => {
        const at = (shard: number, key: string) =>
          `${mountpoint}/${numberName(shard)}/${numberName(0)}/${key}`;
        for (const shard of [0, 1, 2]) {
          assert.deepEqual(await Deno.readFile(at(shard, "a")), bytes(shard));
          await dropCache(at(shard, "a"));
        }
        const bag = (shard: number) => `${data}/${numberName(shard)}/a.bag`;
        const changed = fs.readFileSync(bag(0)).fill(7, 0, 9000);
        fs.writeFileSync(`${dir}/new.bag`, changed);
        fs.renameSync(`${dir}/new.bag`, bag(0));
        fs.writeFileSync(bag(1), changed); // no checksum: the new bytes are served
        await Deno.truncate(bag(2), 4096);
        // Any thread may respond; only a thread that has mapped the file before still reads the old bytes.
        const replaced = await Deno.readFile(at(0, "a"))
          .catch((error) => assert.match(String(error), IO_ERROR));
        if (replaced !== undefined) assert.deepEqual(replaced, bytes(0));
        await assert.rejects(Deno.readFile(at(2, "a")), IO_ERROR);
        assert.deepEqual(await Deno.readFile(at(2, "b")), bytes(2));
        await logged(logs, /2\/a\.bag/);
      });
    }),
);

/** Writes a container of a 3 GB sample, which is a hole in the file, and a small sample. */
function writeHuge(path: string): Uint8Array {
  const size = 3 * 2 ** 30;
  const small = new TextEncoder().encode("small");
  crcOfZeros ??= checksumOfZeros(size);
  const header = ffrHeader([size, small.length], [crcOfZeros, crc32(small)]);
  const file = fs.openSync(path, "w");
  fs.writeSync(file, header);
  fs.writeSync(file, small, 0, small.length, header.length + size);
  fs.closeSync(file);
  return small;
}

let crcOfZeros: number | undefined;

function checksumOfZeros(size: number): number {
  const zeros = new Uint8Array(1 << 24);
  let crc = 0;
  for (let done = 0; done < size; done += zeros.length) crc = crc32(zeros, crc);
  return crc;
}

/** Resolves when a READ of a node is traced. */
function readOf(node: number): {
  readonly onTrace: (line: string) => void;
  readonly came: Promise<void>;
} {
  const { promise, resolve } = Promise.withResolvers<void>();
  const isIt = (line: string) => line.startsWith(`READ node=${node} `);
  return { onTrace: (line) => isIt(line) && resolve(), came: promise };
}

mountTest(
  "a small sample is read while one of 3 GB is being checked",
  () =>
    withTempDir(async (dir) => {
      const path = `${dir}/a.ffr`;
      const small = writeHuge(path);
      const { onTrace, came } = readOf(2);
      const options = { workers: 1, onTrace };
      await mounted(path, dir, options, async (file, logs) => {
        const order: string[] = [];
        const huge = output("dd", `if=${file(0)}`, "count=1", "status=none")
          .then(() => order.push("huge"));
        await came;
        assert.deepEqual(await Deno.readFile(file(1)), small);
        order.push("small");
        await huge;
        assert.deepEqual(order, ["small", "huge"]);
        assert.deepEqual(logs, []);
      });
    }),
);

mountTest(
  "a process that waits for a sample of 3 GB to be checked can be killed",
  () =>
    withTempDir(async (dir) => {
      const path = `${dir}/a.ffr`;
      const small = writeHuge(path);
      const { onTrace, came } = readOf(2);
      await mounted(path, dir, { onTrace }, async (file, _logs, mount) => {
        const reader = new Deno.Command("cat", {
          args: [file(0)],
          stdout: "null",
          stderr: "null",
        }).spawn();
        await came;
        reader.kill("SIGKILL");
        assert.equal((await reader.status).signal, "SIGKILL");
        assert.deepEqual(await Deno.readFile(file(1)), small);
        await mount.unmount();
      });
    }),
);
