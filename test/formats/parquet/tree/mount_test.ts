/** Mounted rows, some of them damaged. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { mount } from "../../../../fuse/mount_container.ts";
import { parquetCase } from "../../../support/parquet/parquet_golden.ts";
import { withTempDir } from "../../../support/paths.ts";
import {
  mountTest,
  output,
  withMountpoint,
} from "../../../fuse/support/mounting.ts";

mountTest(
  "cells of a damaged page cannot be read, others can",
  () =>
    withTempDir((dir) =>
      withMountpoint(async (mountpoint) => {
        const whole = fs.readFileSync(parquetCase("none_v1").path);
        const value = Uint8Array.from({ length: 39 }, (_, i) => 39 + i);
        whole[whole.indexOf(value)]! ^= 1;
        fs.writeFileSync(`${dir}/t.parquet`, whole);
        const log: string[] = [];
        await using _mounted = await mount(`${dir}/t.parquet`, mountpoint, {
          onLog: (message) => log.push(message),
        });
        const wrong = await output("cat", `${mountpoint}/000039/data`);
        assert.match(wrong.stderr, /Input\/output error/);
        const right = await output("cat", `${mountpoint}/000039/id.json`);
        assert.equal(right.stdout, "39\n");
        assert.ok(
          log.some((line) => line.includes("CRC-32")),
          log.join("\n"),
        );
      })
    ),
);
