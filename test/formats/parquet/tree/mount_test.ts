/** Mounted rows: local and on a server, by programs, and damaged ones. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { mount } from "../../../../fuse/mod.ts";
import { open } from "../../../../src/open/mod.ts";
import {
  filesIn,
  parquetCase,
} from "../../../support/parquet/parquet_golden.ts";
import { FULL } from "../../../support/long.ts";
import { withTempDir } from "../../../support/paths.ts";
import { FileServer } from "../../../support/remote/file_server.ts";
import {
  mountTest,
  output,
  withMountpoint,
} from "../../../fuse/support/mounting.ts";

const CASES = ["pictures", "shards", "snappy_v1", "nested", "odd_names"];
for (const name of FULL ? CASES : CASES.slice(0, 2)) {
  mountTest(
    `${name}: mounted files are those of the tree`,
    () =>
      withMountpoint(async (mountpoint) => {
        const { path } = parquetCase(name);
        using container = await open(path);
        await using _mounted = await mount(path, mountpoint);
        for (const file of filesIn(container)) {
          const bytes = fs.readFileSync(`${mountpoint}/${file}`);
          const expected = container.readSync(file);
          assert.equal(fs.statSync(`${mountpoint}/${file}`).size, bytes.length);
          assert.deepEqual(new Uint8Array(bytes), expected, file);
        }
      }),
  );
}

mountTest(
  "rows on a server are mounted",
  () =>
    withTempDir((dir) =>
      withMountpoint(async (mountpoint) => {
        const { path } = parquetCase("pictures");
        fs.mkdirSync(`${dir}/www`);
        fs.copyFileSync(path, `${dir}/www/p.parquet`);
        await using server = await FileServer.start(`${dir}/www`);
        await using _mounted = await mount(
          `${server.url}/p.parquet`,
          mountpoint,
          { remote: { cache: { directory: `${dir}/cache` } } },
        );
        using container = await open(path);
        for (const file of ["000000/image.png", "000011/label.json"]) {
          const { code, stdout } = await output("cat", `${mountpoint}/${file}`);
          assert.equal(code, 0);
          assert.equal(
            stdout,
            new TextDecoder().decode(container.readSync(file)),
          );
        }
        const { stdout } = await output("ls", `${mountpoint}/000007`);
        assert.equal(stdout, "caption.txt\nimage.png\nlabel.json\n");
      })
    ),
);

mountTest(
  "cells of a page that is damaged can't be read, others can",
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
