/** Mounted samples: parts of shards, what is decompressed, and files that are made; from a disk and from a server. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { mount } from "../../../../fuse/mod.ts";
import { MDSWriter } from "../../../../src/formats/mds/mod.ts";
import { open } from "../../../../src/open/mod.ts";
import { sha256 } from "../../../support/golden.ts";
import {
  type ExpectedMdsValue,
  type MdsCase,
  mdsCase,
} from "../../../support/mds/mds_golden.ts";
import { FULL } from "../../../support/long.ts";
import { withTempDir } from "../../../support/paths.ts";
import { FileServer } from "../../../support/remote/file_server.ts";
import {
  mountTest,
  output,
  withMountpoint,
} from "../../../fuse/support/mounting.ts";

/** Compares what is mounted with what the API reads. */
async function assertMounted(
  { path, content: { samples } }: MdsCase,
  mountpoint: string,
): Promise<void> {
  using shown = await open(path);
  const { stdout } = await output("find", mountpoint, "-type", "f");
  assert.equal(stdout.trim().split("\n").length, shown.info.files);
  for await (const entry of shown.walk("")) {
    if (!entry.isFile) continue;
    const read = fs.readFileSync(`${mountpoint}/${entry.path}`);
    assert.equal(sha256(read), sha256(await shown.read(entry)), entry.path);
  }
  const label = fs.readFileSync(`${mountpoint}/000002/label.json`, "utf8");
  assert.equal(label, "2\n");
  const image = fs.readFileSync(`${mountpoint}/000001/image.jpg`);
  assert.equal(sha256(image), samples[1]!["image"]!.sha256);
}

mountTest(
  "lists are directories of files",
  () =>
    withMountpoint(async (mountpoint) => {
      for (const name of ["lists", "lists_zstd"]) {
        const { path, content: { samples } } = mdsCase(name);
        await using _mounted = await mount(path, mountpoint);
        using shown = await open(path);
        let files = 0;
        for await (const entry of shown.walk("")) {
          if (!entry.isFile) continue;
          files++;
          const read = fs.readFileSync(`${mountpoint}/${entry.path}`);
          const expected = await shown.read(entry);
          assert.equal(sha256(read), sha256(expected), entry.path);
        }
        const { stdout } = await output("find", mountpoint, "-type", "f");
        assert.equal(stdout.trim().split("\n").length, files);
        assert.deepEqual(fs.readdirSync(`${mountpoint}/000000/images`), []);
        const { value } = samples[2]!["frames"]!;
        const { list } = value as { list: ExpectedMdsValue[] };
        const read = fs.readFileSync(`${mountpoint}/000002/frames/000001.jpg`);
        assert.equal(sha256(read), list[1]!.sha256);
      }
    }),
);

for (const name of ["plain", "zstd", "merged"]) {
  mountTest(
    `values are files: ${name}`,
    () =>
      withMountpoint(async (mountpoint) => {
        const golden = mdsCase(name);
        await using _mounted = await mount(golden.path, mountpoint);
        await assertMounted(golden, mountpoint);
      }),
  );

  if (!FULL && name !== "zstd") continue;
  mountTest(
    `values on a server are files: ${name}`,
    () =>
      withTempDir((dir) =>
        withMountpoint(async (mountpoint) => {
          const golden = mdsCase(name);
          await using server = await FileServer.start(golden.path);
          await using _mounted = await mount(
            `${server.url}/index.json`,
            mountpoint,
            { onLog() {}, remote: { cache: { directory: `${dir}/cache` } } },
          );
          await assertMounted(golden, mountpoint);
        })
      ),
  );
}

mountTest(
  "large arrays and values are read from any place, and by several at once",
  () =>
    withTempDir((dir) =>
      withMountpoint(async (mountpoint) => {
        const data = Float32Array.from({ length: 1 << 20 }, (_, i) => i);
        const raw = new Uint8Array(3 << 20).map((_, i) => i % 251);
        await using writer = await MDSWriter.open(`${dir}/d`, {
          columns: { array: "ndarray", raw: "bytes" },
        });
        for (let i = 0; i < 3; i++) {
          await writer.write({ array: { data }, raw });
        }
        await writer.close();
        await using _mounted = await mount(`${dir}/d`, mountpoint);
        const sums = await Promise.all([0, 1, 2].map(async (i) => {
          const { stdout } = await output(
            "sha256sum",
            `${mountpoint}/00000${i}/array.npy`,
            `${mountpoint}/00000${i}/raw`,
          );
          return stdout.split("\n").slice(0, 2).map((line) =>
            line.split(" ")[0]
          );
        }));
        using shown = await open(`${dir}/d`);
        const expected = [
          sha256(await shown.read("000000/array.npy")),
          sha256(raw),
        ];
        assert.deepEqual(sums, [expected, expected, expected]);
        const fd = fs.openSync(`${mountpoint}/000002/array.npy`, "r");
        const four = new Uint8Array(4);
        fs.readSync(fd, four, 0, 4, 128 + 4 * 1_000_000);
        fs.closeSync(fd);
        assert.equal(new DataView(four.buffer).getFloat32(0, true), 1_000_000);
      })
    ),
);

mountTest(
  "what is damaged is an error of that sample alone",
  () =>
    withTempDir((dir) =>
      withMountpoint(async (mountpoint) => {
        fs.cpSync(mdsCase("plain").path, `${dir}/d`, { recursive: true });
        const path = `${dir}/d/shard.00000.mds`;
        const bytes = fs.readFileSync(path);
        const start = bytes.readUInt32LE(4 * 2); // the second sample
        bytes.writeUInt32LE(2 ** 31, start);
        fs.writeFileSync(path, bytes);
        await using _mounted = await mount(`${dir}/d`, mountpoint, {
          onLog() {},
        });
        for (const [sample, isRight] of [[0, true], [1, false], [2, true]]) {
          const file = `${mountpoint}/00000${sample}/label.json`;
          const { code, stderr } = await output("cat", file);
          assert.equal(code === 0, isRight, stderr);
        }
      })
    ),
);
