/** Conversion of files that do not match their columns' encodings. */
import { openMds } from "../../support/mds/open_mds.ts";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { convert } from "../../../src/open/convert/convert.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";

/** Returns the start of a PNG with one bit a pixel. */
function pngHead(width: number, height: number): Buffer {
  const head = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
  const facts = Buffer.alloc(17);
  facts.writeUInt32BE(width, 0);
  facts.writeUInt32BE(height, 4);
  facts[8] = 1;
  return Buffer.concat([head, facts]);
}

Deno.test("invalid JSON and images are skipped only on request, with their samples", () =>
  withTempDir(async (dir) => {
    const texts = (...all: string[]) =>
      all.map((text) => new TextEncoder().encode(text));
    const jpeg = fs.readFileSync(`${REPOSITORY}test/golden/pictures/gray.jpg`);
    const deep = Buffer.from(jpeg);
    deep[deep.indexOf("ffc0", "hex") + 4] = 12; // bits a sample
    const png = pngHead(1, 1);
    // More pixels than the decoding limit, of one bit each.
    const large = Buffer.concat([
      pngHead(20_000, 10_000),
      Buffer.alloc(30_000),
    ]);
    const cases: [string, Uint8Array[], Uint8Array[], RegExp][] = [
      [
        "json",
        texts('{"a": [1, NaN]}', " 1 ", "[]"),
        [
          ...texts("{bad", "", "[1,", "1 2", '\ufeff{"a": 1}'),
          Uint8Array.of(0x22, 0xff, 0x22),
        ],
        /'0\.json' is not a valid json: a key is missing \(byte 1\)/,
      ],
      [
        "jpg",
        [jpeg, deep, png],
        [...texts("nojpg", ""), jpeg.subarray(0, 20)],
        /'0\.jpg' is not a valid jpeg: it is not a picture/,
      ],
      [
        "png",
        [png, large, jpeg],
        [...texts("nopng", ""), png.subarray(0, 20)],
        /'0\.png' is not a valid png: it is not a picture/,
      ],
    ];
    for (const [extension, right, wrong, says] of cases) {
      const [source, target] = [`${dir}/${extension}`, `${dir}/${extension}.m`];
      fs.mkdirSync(source);
      for (const [i, content] of [...wrong, ...right].entries()) {
        fs.writeFileSync(`${source}/${i}.${extension}`, content);
        fs.writeFileSync(`${source}/${i}.txt`, `text ${i}`);
      }
      await assert.rejects(convert(source, target, { to: "mds" }), {
        code: "would-lose",
        message: says,
      });
      assert.equal(fs.existsSync(target), false);
      const warnings: string[] = [];
      const { count, leftOut } = await convert(source, target, {
        to: "mds",
        lossy: true,
        onWarning: (warning) => warnings.push(warning),
      });
      assert.deepEqual([count, leftOut], [right.length, wrong.length]);
      assert.equal(warnings.length, wrong.length);
      using reader = await openMds(target);
      for (const [i, content] of right.entries()) {
        const sample = await reader.read(i);
        const [key] = texts(`${wrong.length + i}`);
        assert.deepEqual(sample["__key__"], key);
        assert.deepEqual(sample[extension], new Uint8Array(content));
      }
    }
  }));

Deno.test("a file that does not fit its column's encoding is skipped only on request", () =>
  withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/in`);
    for (const [i, text] of ["1", " 2\n", "x"].entries()) {
      fs.writeFileSync(`${dir}/in/${i}.cls`, text);
      fs.writeFileSync(`${dir}/in/${i}.txt`, `text ${i}`);
    }
    await assert.rejects(convert(`${dir}/in`, `${dir}/out`, { to: "mds" }), {
      code: "would-lose",
      message: /'2.cls' is not a valid str_int: it is not a whole number/,
    });
    assert.equal(fs.existsSync(`${dir}/out`), false);
    const { count, leftOut } = await convert(`${dir}/in`, `${dir}/out`, {
      to: "mds",
      lossy: true,
      onWarning() {},
    });
    assert.deepEqual([count, leftOut], [2, 1]);
    using reader = await openMds(`${dir}/out`);
    assert.deepEqual({ ...await reader.get(1) }, {
      "__key__": "1",
      cls: 2,
      txt: "text 1",
    });
  }));

Deno.test("empty directories are lost, which needs the caller's consent", () =>
  withTempDir(async (dir) => {
    const source = `${dir}/source`;
    fs.mkdirSync(`${source}/a/empty`, { recursive: true });
    fs.mkdirSync(`${source}/b`);
    fs.mkdirSync(`${source}/z/last`, { recursive: true });
    fs.writeFileSync(`${source}/b/x.txt`, "1");
    fs.writeFileSync(`${source}/c.txt`, "2");
    const target = `${dir}/m`;
    await assert.rejects(convert(source, target, { to: "mds" }), {
      code: "would-lose",
      message: /empty directories \(2\)/,
    });
    assert.equal(fs.existsSync(target), false);
    await convert(source, target, { to: "mds", lossy: true });
    using reader = await openMds(target);
    assert.equal(reader.length, 2);
    fs.rmSync(`${source}/a/empty`, { recursive: true });
    fs.rmSync(`${source}/a`, { recursive: true });
    fs.rmSync(`${source}/z`, { recursive: true });
    await convert(source, `${dir}/whole`, { to: "mds" });
  }));
