/** Mounted records, small and large, are verified by CRC-32C before any byte is returned. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { mount } from "../../../../fuse/mount_container.ts";
import { withTempDir } from "../../../support/paths.ts";
import { FileServer } from "../../../support/remote/file_server.ts";
import { fileOf } from "../../../support/tfrecord/make_tfrecord.ts";
import {
  mountTest,
  output,
  withMountpoint,
} from "../../../fuse/support/mounting.ts";

const LARGE = 5 << 20;

/** Returns records, some of them damaged: small, large, and without data. */
function damaged(): Buffer {
  const large = Buffer.alloc(LARGE, 3);
  const whole = fileOf(["right", "wrong", large, large, "", ""]);
  const starts = [0, 21, 42, 42 + LARGE + 16, 42 + 2 * (LARGE + 16)];
  whole[starts[1]! + 12]! ^= 1;
  whole[starts[3]! + 12 + LARGE - 1]! ^= 1;
  whole[starts[4]! + 16 + 12]! ^= 1; // the checksum of the last one
  return whole;
}

async function assertDamage(mountpoint: string): Promise<void> {
  for (
    const [i, isRight] of [true, false, true, false, true, false].entries()
  ) {
    const { code, stderr } = await output("cat", `${mountpoint}/00000${i}`);
    assert.equal(code === 0, isRight, `${i}: ${stderr}`);
    if (!isRight) assert.match(stderr, /Input\/output error/);
  }
}

mountTest(
  "no byte of a record with a wrong checksum leaves a mount",
  () =>
    withTempDir((dir) =>
      withMountpoint(async (mountpoint) => {
        fs.writeFileSync(`${dir}/t.tfrecord`, damaged());
        const log: string[] = [];
        await using _mounted = await mount(`${dir}/t.tfrecord`, mountpoint, {
          onLog: (message) => log.push(message),
        });
        await assertDamage(mountpoint);
        for (const sample of [1, 3, 5]) {
          const says = `sample ${sample} of `;
          assert.ok(log.some((line) => line.includes(says)), log.join("\n"));
        }
      })
    ),
);

mountTest(
  "no byte of such a record on a server leaves a mount",
  () =>
    withTempDir((dir) =>
      withMountpoint(async (mountpoint) => {
        fs.mkdirSync(`${dir}/www`);
        fs.writeFileSync(`${dir}/www/t.tfrecord`, damaged());
        await using server = await FileServer.start(`${dir}/www`);
        await using _mounted = await mount(
          `${server.url}/t.tfrecord`,
          mountpoint,
          { onLog() {}, remote: { cache: { directory: `${dir}/cache` } } },
        );
        await assertDamage(mountpoint);
      })
    ),
);
