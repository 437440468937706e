/** `--max-ratio`: every command that opens containers refuses a stream that expands to more. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { gzipSync } from "node:zlib";
import { convert } from "../../../src/open/convert/convert.ts";
import { mixedBytes } from "../../support/compress.ts";
import { withTempDir } from "../../support/paths.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";
import { recordfs } from "../run_cli.ts";

Deno.test("every command that opens containers refuses what expands to more than --max-ratio", () =>
  withTempDir(async (dir) => {
    const path = `${dir}/x.tar.gz`;
    const zeros = new Uint8Array(3 << 20);
    fs.writeFileSync(path, gzipSync(tarBytes([{ name: "a", data: zeros }])));
    const commands: Record<string, readonly string[]> = {
      cat: ["cat", path, "a"],
      check: ["check", path],
      convert: ["convert", path, `${dir}/y.tar`],
      extract: ["extract", path, `${dir}/out`],
      info: ["info", path],
      ls: ["ls", path],
      split: ["split", path, "--ratios", "1,1", "--out", `${dir}/split`],
      stat: ["stat", path, "a"],
      tree: ["tree", path],
    };
    for (const [name, args] of Object.entries(commands)) {
      const { code, stderr } = await recordfs([...args, "--max-ratio", "20"]);
      assert.match(stderr, /than 20 times as many. Raise --max-ratio/, name);
      assert.equal(code, 1, name);
    }
    assert.deepEqual(fs.readdirSync(dir), ["x.tar.gz"]);
    const args = [path, `${dir}/y.tar`, "--max-ratio", "2000"];
    assert.equal((await recordfs(["convert", ...args])).code, 0);
  }));

Deno.test("convert keeps the index of a compressed source where it is told", () =>
  withTempDir(async (dir) => {
    const path = `${dir}/x.tar.gz`;
    const data = mixedBytes(20_000_000);
    fs.writeFileSync(
      path,
      gzipSync(tarBytes([{ name: "a", data }]), { level: 1 }),
    );
    const cache = { directory: `${dir}/cache` };
    await convert(path, `${dir}/y.tar`, { remote: { cache }, onWarning() {} });
    assert.ok(fs.readdirSync(`${dir}/cache/indexes`).length > 0);
  }));
