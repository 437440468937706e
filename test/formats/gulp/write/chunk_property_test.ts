import assert from "node:assert/strict";
import { LONG } from "../../../support/long.ts";
import fc from "../../../support/random.ts";
import type { JsonValue } from "../../../../src/formats/gulp/mod.ts";
import { chunkIn, contentOf } from "../../../support/gulp/gulp_chunks.ts";
import { fakeJpeg } from "../../../support/gulp/make_gulp.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs, PYTHON } from "../../../support/programs/programs.ts";

const json = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string({ unit: "binary" }),
    fc.double(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 70n }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.string(), tie("value"), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
})).value;

const videos = fc.array(
  fc.record({
    id: fc.oneof(fc.string({ unit: "binary" }), fc.nat({ max: 5 }).map(String)),
    meta: fc.dictionary(fc.string({ unit: "binary" }), json, {
      maxKeys: 3,
      noNullPrototype: true,
    }),
    sizes: fc.array(fc.integer({ min: 4, max: 40 }), { maxLength: 4 }),
  }),
  { maxLength: 8 },
);

for (const serializer of ["json", "pickle"] as const) {
  Deno.test(`any videos, written at once or added later, are restored (${serializer})`, async () => {
    await fc.assert(
      fc.asyncProperty(videos, fc.nat({ max: 8 }), async (all, cut) => {
        await withTempDir(async (dir) => {
          using chunk = await chunkIn(dir, serializer);
          const expected = new Map<
            string,
            { metas: unknown[]; frames: Uint8Array[] }
          >();
          for (
            const [mode, part] of [
              ["wb", all.slice(0, cut)],
              ["ab", all.slice(cut)],
            ] as const
          ) {
            await using _ = await chunk.open(mode);
            for (const { id, meta, sizes } of part) {
              const frames = sizes.map((size) => fakeJpeg(size, size));
              await chunk.append(id, meta, frames);
              const known = expected.get(id) ?? { metas: [], frames: [] };
              known.metas.push(meta);
              known.frames.push(...frames);
              expected.set(id, known);
            }
            await chunk.flush();
          }
          using read = await chunkIn(dir);
          const content = await contentOf(read);
          assert.deepEqual(content.map(({ id }) => id), [...expected.keys()]);
          for (const { id, metaData, frames } of content) {
            assert.deepEqual(
              metaData,
              expected.get(id)!.metas,
            );
            assert.deepEqual(frames, expected.get(id)!.frames);
          }
        });
      }),
      { numRuns: LONG ? 60 : 20 },
    );
  });
}

Deno.test({
  name: "Python's json and pickle read the output, like the originals",
  ...needs("python3"),
  fn: () =>
    withTempDir(async (dir) => {
      for (
        const [number, serializer] of (["json", "pickle"] as const).entries()
      ) {
        using chunk = await chunkIn(dir, serializer, number);
        for (const mode of ["wb", "ab"] as const) {
          await using _ = await chunk.open(mode);
          await chunk.append(7, { "ü": [1, 2.5, null, true], n: NaN }, [
            fakeJpeg(5),
            fakeJpeg(8),
          ]);
          await chunk.append("é", { big: 2n ** 64n, inf: -Infinity }, []);
          await chunk.flush();
        }
      }
      const program = `
import json, math, pickle, sys
from collections import OrderedDict
def load(number):
    if number == 0:
        with open(sys.argv[1] + "/meta_0.gmeta") as f:
            return json.load(f, object_pairs_hook=OrderedDict)
    with open(sys.argv[1] + "/meta_1.gmeta", "rb") as f:
        return pickle.load(f)
for number in (0, 1):
    meta = load(number)
    assert type(meta) is OrderedDict and list(meta) == ["7", "\\u00e9"], meta
    seven = meta["7"]
    assert list(seven) == ["frame_info", "meta_data"]
    assert type(seven) is OrderedDict and type(seven["frame_info"]) is list
    first = seven["meta_data"][0]
    assert first["\\u00fc"] == [1, 2.5, None, True] and math.isnan(first["n"])
    assert type(first["\\u00fc"][0]) is int and len(seven["meta_data"]) == 2
    assert meta["\\u00e9"]["meta_data"][0] == {"big": 2**64, "inf": float("-inf")}
    with open(sys.argv[1] + "/data_%d.gulp" % number, "rb") as f:
        sizes = []
        for loc, pad, length in seven["frame_info"]:
            f.seek(loc)
            record = f.read(length)
            frame = record[:len(record) - pad]
            assert frame[:2] == b"\\xff\\xd8" and frame[-2:] == b"\\xff\\xd9"
            assert record[len(frame):] == bytes(pad)
            sizes.append(len(frame))
        assert sizes == [5, 8, 5, 8], sizes
    seven["frame_info"].append((0, 0, 0))
print("ok")`;
      const { stdout, stderr } = await new Deno.Command(PYTHON, {
        args: ["-c", program, dir],
      }).output();
      assert.equal(new TextDecoder().decode(stderr), "");
      assert.equal(new TextDecoder().decode(stdout), "ok\n");
    }),
});
