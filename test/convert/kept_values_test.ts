/** Numbers and the order of keys are preserved by every conversion of values. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { convert } from "../../src/open/convert/convert.ts";
import {
  DatasetReader,
  DatasetWriter,
  decodersOf,
} from "../../src/formats/bags/mod.ts";
import { open } from "../../src/open/open.ts";
import { succeed } from "../cli/run_cli.ts";
import { jpeg, put } from "../support/adapted.ts";
import { hex } from "../support/programs/python.ts";
import { withTempDir } from "../support/paths.ts";

/** Details that a JavaScript parser would change: floats, the order of keys. */
const META =
  '{"10": 1.0, "2": 1, "z": -0.0, "deep": [{"3": 100000.0, "1": null}]}';

/** The same as packed by Python's `msgpack.packb(json.loads(META))`, according to the format's description. */
const PACKED = hex(
  "84 a23130 cb3ff0000000000000 a132 01 a17a cb8000000000000000 " +
    "a464656570 91 82 a133 cb40f86a0000000000 a131 c0",
);

async function writeGulp(dir: string, meta: string): Promise<void> {
  const frame = await jpeg();
  put(`${dir}/data_0.gulp`, frame);
  fs.writeFileSync(
    `${dir}/meta_0.gmeta`,
    `{"v": {"frame_info": [[0, 0, ${frame.length}]], "meta_data": [${meta}]}}`,
  );
}

const metaOf = (dir: string) => fs.readFileSync(`${dir}/meta_0.gmeta`, "utf8");

Deno.test("metadata of videos is preserved through files, packed folders and other chunks", () =>
  withTempDir(async (dir) => {
    const odd = ' {"10":1.0,\t"2": 1e0, "2": [12345678901234567890, NaN, -0]}';
    await writeGulp(`${dir}/gulp`, odd);
    await convert(`${dir}/gulp`, `${dir}/files/`);
    await convert(`${dir}/gulp`, `${dir}/folder.ffr`);
    for (const from of ["gulp", "files", "folder.ffr"]) {
      const to = `${dir}/${from}.again`;
      await convert(`${dir}/${from}`, to, { to: "gulp" });
      assert.ok(metaOf(to).includes(`"meta_data": [${odd.trim()}]`), from);
    }
  }));

Deno.test("metadata becomes MessagePack as in Python, and JSON again", () =>
  withTempDir(async (dir) => {
    await writeGulp(`${dir}/gulp`, META);
    for (const generation of [1, 2, 3] as const) {
      const bags = `${dir}/bags_${generation}`;
      const form = { to: "bags", generation } as const;
      const { plan } = await convert(`${dir}/gulp`, bags, form);
      assert.ok(!plan.changed.some((what) => /1\.0/.test(what)));
      using reader = await DatasetReader.open(bags, { decoders: null });
      const { meta } = await reader.get(0, ["meta"]);
      assert.deepEqual(new Uint8Array(meta as Uint8Array), PACKED);
      await convert(bags, `${bags}.gulp`, { to: "gulp" });
      assert.ok(
        metaOf(`${bags}.gulp`).includes(META.slice(0, -1)),
        metaOf(`${bags}.gulp`),
      );
    }
  }));

Deno.test("JSON lines become MessagePack as in Python, and are shown unchanged", () =>
  withTempDir(async (dir) => {
    const spec = '{"n": "int", "packed": "msgpack", "tree": "tree"}';
    const line = `{"tree": ${META}, "packed": ${META}, "n": 5.0}`;
    fs.writeFileSync(`${dir}/lines`, `${line}\n`);
    await succeed(
      ["bag", "create", `${dir}/bags`, `${dir}/lines`, "--spec", spec],
    );
    using reader = await DatasetReader.open(`${dir}/bags`, { decoders: null });
    for (const key of ["packed", "tree"]) {
      const value = (await reader.get(0, [key]))[key];
      assert.deepEqual(new Uint8Array(value as Uint8Array), PACKED);
      const path = `000000/${key}.json`;
      const { stdout } = await succeed(
        ["cat", "--decoded", `${dir}/bags`, path],
      );
      assert.equal(stdout, `${META}\n`);
      using vfs = await open(`${dir}/bags`, { decoded: true });
      assert.equal((await vfs.stat(path)).size, META.length + 1);
    }
  }));

Deno.test("values that are read for rewriting keep their floats on request", () =>
  withTempDir(async (dir) => {
    const spec = { tree: "tree", packed: "msgpack" };
    {
      await using writer = await DatasetWriter.open(`${dir}/a`, spec, {
        encoders: null,
      });
      await writer.write({ tree: PACKED, packed: PACKED });
      await writer.close();
    }
    const decoders = decodersOf(3, { keepFloats: true });
    using reader = await DatasetReader.open(`${dir}/a`, { decoders });
    {
      await using writer = await DatasetWriter.open(`${dir}/b`, spec);
      await writer.write(await reader.get(0) as never);
      await writer.close();
    }
    for (const key of ["tree", "packed"]) {
      const bytes = fs.readFileSync(`${dir}/b/${key}.bag`);
      assert.deepEqual(Uint8Array.from(bytes), PACKED);
    }
    using plain = await DatasetReader.open(`${dir}/a`);
    const { tree } = await plain.get(0, ["tree"]);
    assert.deepEqual((tree as Map<string, unknown>).get("10"), 1);
  }));
