/** Mounted samples: large values, read in parts and by several readers. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { mount } from "../../../../fuse/mount_container.ts";
import { MDSWriter } from "../../../../src/formats/mds/mod.ts";
import { open } from "../../../../src/open/open.ts";
import { sha256 } from "../../../support/golden.ts";
import { withTempDir } from "../../../support/paths.ts";
import {
  mountTest,
  output,
  withMountpoint,
} from "../../../fuse/support/mounting.ts";

mountTest(
  "large arrays and values are read at any offset, and by several readers at once",
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
