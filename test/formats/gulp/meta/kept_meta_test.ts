/** Existing text of meta files is preserved when videos are appended. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { FULL, LONG } from "../../../support/long.ts";
import fc from "../../../support/random.ts";
import { FormatError } from "../../../../src/base/errors.ts";
import {
  GulpChunk,
  type JsonValue,
  parseJson,
} from "../../../../src/formats/gulp/mod.ts";
import {
  inPython,
  jsonObjectText,
  PYTHON_TYPED,
} from "../../../support/json_texts.ts";
import { fakeJpeg } from "../../../support/gulp/make_gulp.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import { pythonLines } from "../../../support/programs/python.ts";

type Meta = { [key: string]: JsonValue };

const raw = { decode: false } as const;

/** Frame of 12 bytes, for each `(loc, 3, 12)` below. */
const FRAME = fakeJpeg(9);

function load(dir: string) {
  return GulpChunk.load(`${dir}/data_0.gulp`, `${dir}/meta_0.gmeta`, raw);
}

/** Pickles a chunk's metadata in Python, or prints its content, with the originals' class. */
const PYTHON = `
import json, pickle, sys, types
from collections import OrderedDict, namedtuple
for package in ("gulpio", "gulpio2"):
    sys.modules[package] = types.ModuleType(package)
    module = sys.modules[package + ".fileio"] = types.ModuleType(package + ".fileio")
    ImgInfo = module.ImgInfo = namedtuple("ImgInfo", ["loc", "pad", "length"])
    ImgInfo.__module__ = package + ".fileio"
${PYTHON_TYPED}
def video(count, **meta):
    return OrderedDict([("frame_info", [ImgInfo(12 * i, 3, 12) for i in range(count)]), ("meta_data", [meta])])
path, protocol, make = json.load(sys.stdin)
if make is not None:
    shared = {"shared": (1, 1.0)}
    with open(path, "wb") as f:
        pickle.dump(eval(make), f, protocol)
with open(path, "rb") as f:
    meta = pickle.load(f)
for key, value in meta.items():
    print(json.dumps([typed(key), typed(value)]))
`;

async function inPickle(
  path: string,
  protocol = 0,
  make: string | null = null,
): Promise<[[string, string], unknown][]> {
  const lines = await pythonLines(
    PYTHON,
    JSON.stringify([path, protocol, make]),
  );
  return lines as [[string, string], unknown][];
}

async function appendTo(
  dir: string,
  videos: readonly (readonly [string, Meta, number])[],
): Promise<void> {
  using chunk = await load(dir);
  await using _ = await chunk.open("ab");
  for (const [id, meta, frames] of videos) {
    await chunk.append(id, meta, new Array(frames).fill(FRAME));
  }
  await chunk.flush();
}

/**
 * Values that JSON cannot represent, an order that JavaScript changes, shared objects, and 200 KB, which take several
 * frames.
 */
const VIDEOS = `OrderedDict([
  ("v", video(2, **{"10": 1.0, "2": 1, "t": (1, 2.0, ()), "n": None, "z": -0.0, "big": 2**80, "nan": float("nan"),
                    "d": OrderedDict([(7, True), (None, 1e5)]), "u": "\\u00e9\\ud800"})),
  ("10", video(1, a=shared)), ("2", video(0, a=shared, b=shared)), (5, {"meta_data": [{}], "frame_info": []}),
  ("twice", {"meta_data": [shared, {"n": 1.0}], "frame_info": [(0, 3, 12)], "more": [1.0]})]
  + [("long%d" % i, video(2, text="x" * 200, i=float(i))) for i in range(500)])`;

for (const protocol of FULL ? [0, 1, 2, 3, 4, 5] : [0, 4]) {
  Deno.test({
    name:
      `pickles of Python remain unchanged, opcode by opcode, when extended, protocol ${protocol}`,
    ...needs("python3"),
    fn: () =>
      withTempDir(async (dir) => {
        const path = `${dir}/meta_0.gmeta`;
        fs.writeFileSync(`${dir}/data_0.gulp`, new Uint8Array(24));
        const before = await inPickle(path, protocol, VIDEOS);
        const bytes = fs.readFileSync(path);
        const meta = parseJson('{"30": 1.0, "4": 1e0, "i": 1}') as Meta;
        await appendTo(dir, [
          ["new", meta, 1],
          ["v", { again: 1 }, 1],
          ["2", {}, 1500], // more than a pickler's batch
          ["new", {}, 0],
        ]);
        const after = await inPickle(path);
        const added = ["v", "2"];
        const kept = after.filter(([[, id]], i) =>
          i < before.length && !added.some((name) => id === `'${name}'`)
        );
        assert.equal(kept.length, before.length - 2);
        for (const [i, [key, value]] of after.entries()) {
          if (kept.includes(after[i]!)) {
            assert.deepEqual([key, value], before[i]);
          }
        }
        assert.deepEqual(
          await videoIn(path, "v"),
          "['gulpio2.fileio.ImgInfo', 'gulpio2.fileio.ImgInfo', 'builtins.tuple'] [9, 1]",
        );
        assert.match(await videoIn(path, "2"), /^(?:.*tuple'){2}.* \[2, 0\]$/);
        assert.deepEqual(after.at(-1), [["str", "'new'"], [
          "OrderedDict",
          [
            [["str", "'frame_info'"], ["list", [[
              "tuple",
              [["int", "24"], ["int", "3"], ["int", "12"]],
            ]]]],
            [["str", "'meta_data'"], ["list", [
              ["dict", [
                [["str", "'30'"], ["float", "0x1.0000000000000p+0"]],
                [["str", "'4'"], ["float", "0x1.0000000000000p+0"]],
                [["str", "'i'"], ["int", "1"]],
              ]],
              ["dict", []],
            ]]],
          ],
        ]]);
        // All bytes except the sizes of frames are still present, in order.
        assert.ok(isWithin(bytes, fs.readFileSync(path), protocol >= 4));
        using chunk = await load(dir);
        const { frames } = await chunk.readRaw("2", [0, -1]);
        assert.deepEqual(frames, [FRAME, FRAME]);
      }),
  });
}

/** Returns the classes of a video's frames, and the number of keys in its metadata items. */
async function videoIn(path: string, id: string): Promise<string> {
  const [line] = await pythonLines(
    `${PYTHON.slice(0, PYTHON.indexOf("path, protocol"))}
path, id = json.load(sys.stdin)
with open(path, "rb") as f:
    video = pickle.load(f)[id]
kinds = [type(i).__module__ + "." + type(i).__name__ for i in video["frame_info"]]
print(json.dumps(str(kinds) + " " + str([len(m) for m in video["meta_data"]])))`,
    JSON.stringify([path, id]),
  );
  return line as string;
}

/** Whether the bytes of `part` occur in `whole` in order, except the sizes of frames. */
function isWithin(
  part: Uint8Array,
  whole: Uint8Array,
  hasFrames: boolean,
): boolean {
  let at = 0;
  for (let i = 0; i < part.length; i++) {
    if (hasFrames && part[i] === 0x95) { // FRAME
      at = whole.indexOf(0x95, at) + 9;
      i += 8;
      continue;
    }
    at = whole.indexOf(part[i]!, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

Deno.test({
  name:
    "a pickled list that cannot be extended is rejected, and nothing is written",
  ...needs("python3"),
  fn: () =>
    withTempDir(async (dir) => {
      const path = `${dir}/meta_0.gmeta`;
      fs.writeFileSync(`${dir}/data_0.gulp`, new Uint8Array(12));
      await inPickle(
        path,
        4,
        `(lambda one: {"tuple": {"meta_data": ({},), "frame_info": []},
          "one": {"meta_data": one, "frame_info": []}, "other": {"meta_data": one, "frame_info": []}})([{}])`,
      );
      const before = fs.readFileSync(path);
      const refused = (id: string, what: RegExp) =>
        assert.rejects(appendTo(dir, [[id, {}, 1]]), (error) => {
          assert.ok(error instanceof FormatError);
          assert.match(error.message, what);
          return true;
        });
      await refused("tuple", /"tuple" of .*meta_0\.gmeta: its meta_data is no/);
      await refused("other", /its meta_data is that of another one too/);
      assert.deepEqual(fs.readFileSync(path), before);
      await appendTo(dir, [["new", {}, 1]]); // other videos can be appended
      assert.equal((await inPickle(path)).length, 4);
    }),
});

Deno.test("JSON remains unchanged, byte for byte, when extended, whatever its content and layout", async () => {
  const extra = fc.constantFrom("", ',"more" : [1.0]', ',"frame_info":[]');
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.constantFrom("10", "2", "a", "é", "b"), {
        minLength: 1,
      }),
      fc.array(jsonObjectText, { minLength: 5, maxLength: 5 }),
      fc.constantFrom("", " ", "\n  "),
      extra,
      (ids, metas, blank, more) =>
        withTempDir(async (dir) => {
          const video = (i: number) =>
            `{${blank}"meta_data":[${
              metas[i]
            }],"frame_info"${blank}:[]${more}}`;
          const videos = ids.map((id, i) => `"${id}":${blank}${video(i)}`);
          const inside = `{${blank}${videos.join(",")}`;
          const path = `${dir}/meta_0.gmeta`;
          fs.writeFileSync(path, `${inside}${blank}}\n`);
          fs.writeFileSync(`${dir}/data_0.gulp`, new Uint8Array(0));
          await appendTo(dir, [["new", { n: 1 }, 1]]);
          const added =
            '"new": {"frame_info": [[0, 3, 12]], "meta_data": [{"n": 1}]}';
          assert.equal(
            fs.readFileSync(path, "utf8"),
            `${inside}, ${added}${blank}}\n`,
          );
          // Metadata read from one chunk is also written to another one unchanged.
          using chunk = await load(dir);
          fs.mkdirSync(`${dir}/copy`);
          using copy = await load(`${dir}/copy`);
          await using _ = await copy.open("wb");
          for (const [id, { metaData }] of chunk.metaDict) {
            await copy.append(id, metaData[0] as Meta, []);
          }
          await copy.flush();
          const text = fs.readFileSync(copy.metaPath, "utf8");
          for (const i of ids.keys()) {
            assert.ok(text.includes(`"meta_data": [${metas[i]}]`), text);
          }
        }),
    ),
    { numRuns: LONG ? 60 : 20 },
  );
});

Deno.test("an empty object of videos, and empty lists in one, can be extended", () =>
  withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/data_0.gulp`, new Uint8Array(0));
    fs.writeFileSync(`${dir}/meta_0.gmeta`, "{ }\n");
    await appendTo(dir, [["a", {}, 0]]);
    await appendTo(dir, [["a", { b: 1 }, 1], ["c", {}, 0]]);
    assert.equal(
      fs.readFileSync(`${dir}/meta_0.gmeta`, "utf8"),
      '{ "a": {"frame_info": [[0, 3, 12]], "meta_data": [{}, {"b": 1}]}, ' +
        '"c": {"frame_info": [], "meta_data": []}}\n'.replace("[]}}", "[{}]}}"),
    );
  }));

Deno.test({
  name: "new metadata is pickled as Python pickles the values of its text",
  ...needs("python3"),
  fn: () =>
    withTempDir(async (dir) => {
      const texts = fc.sample(jsonObjectText, 200);
      using chunk = await GulpChunk.load(
        `${dir}/data_0.gulp`,
        `${dir}/meta_0.gmeta`,
        { ...raw, serializer: "pickle" },
      );
      await using _ = await chunk.open("wb");
      for (const [i, text] of texts.entries()) {
        await chunk.append(i, parseJson(text) as Meta, []);
      }
      await chunk.flush();
      const expected = await inPython(texts);
      const videos = await inPickle(chunk.metaPath);
      const metas = videos.map(([, video]) =>
        (video as [string, [unknown, [string, unknown[]]][]])[1][1]![1][1][0]
      );
      assert.deepEqual(metas, expected);
    }),
});

Deno.test("a custom serializer gets back the exact values that it created", () =>
  withTempDir(async (dir) => {
    const before = { duration: new Date(0) }; // JSON cannot represent it
    let dumped: unknown[] = [];
    const serializer = {
      load: () =>
        [["a", { frameInfo: [], metaData: [{}, before as never] }]] as [
          [string, { frameInfo: []; metaData: JsonValue[] }],
        ],
      dump(entries: Iterable<readonly [string, { metaData: unknown }]>) {
        dumped = Array.from(entries, ([id, { metaData }]) => [id, metaData]);
        return new Uint8Array([1]);
      },
    };
    fs.writeFileSync(`${dir}/data_0.gulp`, new Uint8Array(0));
    fs.writeFileSync(`${dir}/meta_0.gmeta`, "kept");
    using chunk = await GulpChunk.load(
      `${dir}/data_0.gulp`,
      `${dir}/meta_0.gmeta`,
      { ...raw, serializer },
    );
    await using _ = await chunk.open("ab");
    await chunk.append("a", { n: 1 }, []);
    await chunk.append("b", {}, []);
    await chunk.flush();
    assert.deepEqual(dumped, [["a", [{}, before, { n: 1 }]], ["b", [{}]]]);
    assert.equal((dumped as [string, unknown[]][])[0]![1][1], before);
  }));
