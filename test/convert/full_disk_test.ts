/** Conversions to a full disk name the requested target, and leave nothing behind. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { convert } from "../../src/open/convert/convert.ts";
import { type ConvertOptions } from "../../src/convert/conversion.ts";
import { packFolder } from "../../src/formats/ffrecord/mod.ts";
import { withTempDir } from "../support/paths.ts";
import { needs } from "../support/programs/programs.ts";
import { withTmpfs } from "../support/programs/tmpfs.ts";

const TARGETS: [name: string, named: string, options: ConvertOptions][] = [
  ["files/", "files/large", {}],
  ["a.bag", "a.bag", { to: "bag", lossy: true }],
  ["a.tar", "a.tar", {}],
  ["a.zip", "a.zip", {}],
  ["m", "m", { to: "mds" }],
];

Deno.test({
  name:
    "a full disk is reported for the requested target, of which nothing remains",
  ...needs("root"),
  fn: () =>
    withTempDir(async (dir) => {
      fs.mkdirSync(`${dir}/from`);
      fs.writeFileSync(`${dir}/from/large`, new Uint8Array(3 << 20));
      await packFolder(`${dir}/from`, `${dir}/from.ffr`);
      await withTmpfs("1m", async (full) => {
        for (const [name, named, options] of TARGETS) {
          await assert.rejects(
            convert(`${dir}/from.ffr`, `${full}/${name}`, options),
            (error: Error) => {
              assert.ok(
                error.message.includes(` ${full}/${named}: the disk is full`),
                error.message,
              );
              return true;
            },
          );
          assert.deepEqual(fs.readdirSync(full), [], name);
        }
      });
    }),
});
