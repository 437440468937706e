import assert from "node:assert/strict";
import * as fs from "node:fs";
import { Buffer } from "node:buffer";
import { FormatError } from "../../../../src/base/errors.ts";
import { GulpDirectory } from "../../../../src/formats/gulp/mod.ts";
import { open } from "../../../../src/open/open.ts";
import { fakeJpeg, writeChunk } from "../../../support/gulp/make_gulp.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs, PYTHON } from "../../../support/programs/programs.ts";

const raw = { decode: false } as const;

/** Runs Python with the class of both originals, to make real pickles. */
async function pickle(
  expression: string,
  protocol: number,
): Promise<Uint8Array> {
  const program = `
import pickle, sys, types
from collections import OrderedDict, namedtuple
def img_info(package):
    module = types.ModuleType(package + ".fileio")
    sys.modules[package] = types.ModuleType(package)
    sys.modules[package + ".fileio"] = module
    module.ImgInfo = namedtuple("ImgInfo", ["loc", "pad", "length"])
    module.ImgInfo.__module__ = package + ".fileio"
    return module.ImgInfo
One, Two = img_info("gulpio"), img_info("gulpio2")
nan, inf = float("nan"), float("inf")
sys.stdout.buffer.write(pickle.dumps(${expression}, ${protocol}))`;
  const { stdout, stderr, success } = await new Deno.Command(PYTHON, {
    args: ["-c", program],
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return stdout;
}

async function withPickle(
  bytes: Uint8Array,
  body: (dir: string) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    writeChunk(dir, 0, [{ id: "v", frames: [fakeJpeg(9), fakeJpeg(12)] }]);
    fs.writeFileSync(`${dir}/meta_0.gmeta`, bytes);
    await body(dir);
  });
}

for (const protocol of [0, 1, 2, 3, 4, 5]) {
  Deno.test({
    name:
      `named tuples, tuples and lists of Python's pickle protocol ${protocol}`,
    ...needs("python3"),
    async fn() {
      // Older protocols make bytes by a call, which is not allowed.
      const bytesOrText = protocol < 3 ? '"AP8="' : 'b"\\x00\\xff"';
      const bytes = await pickle(
        `OrderedDict([
          ("b", {"meta_data": [{"x": [1, 2.0, None, True, -0.0, 1e100, nan, inf, -inf, 2**80],
                                "\\u00e9\\ud800": "\\U0001F600", 7: (), "b": ${bytesOrText}}],
                 "frame_info": [One(0, 3, 12), [12, 0, 12]]}),
          ("1", OrderedDict(frame_info=[Two(loc=0, pad=3, length=12), (12, 0, 12)], meta_data=[{}, {"again": 1}])),
          (0, {"frame_info": [], "meta_data": ({},)})])`,
        protocol,
      );
      await withPickle(bytes, async (dir) => {
        using directory = await GulpDirectory.open(dir, raw);
        assert.deepEqual([...directory.mergedMetaDict.keys()], ["b", "1", "0"]);
        const { frames, meta } = await directory.get("b");
        assert.deepEqual(frames, [fakeJpeg(9), fakeJpeg(12)]);
        assert.deepEqual(meta, {
          x: [1, 2, null, true, -0, 1e100, NaN, Infinity, -Infinity, 2n ** 80n],
          "é\ud800": "😀",
          7: [],
          b: "AP8=",
        });
        assert.deepEqual((await directory.get(1)).frames, frames);
        assert.deepEqual(directory.mergedMetaDict.get("1")!.metaData, [{}, {
          again: 1,
        }]);
        using vfs = await open(dir);
        const text = new TextDecoder().decode(await vfs.read("b/meta.json"));
        assert.match(
          text,
          /^\{"x": \[1, 2\.0, null, true, -0\.0, 1e\+100, NaN,/,
        );
        assert.equal((await vfs.stat("b/meta.json")).size, text.length);
      });
    },
  });
}

Deno.test({
  name: "shared meta_data is stored once, however many videos share it",
  ...needs("python3"),
  async fn() {
    const bytes = await pickle(
      `(lambda meta: {str(i): {"frame_info": [], "meta_data": [meta]} for i in range(3000)})({"text": "x" * 100000})`,
      4,
    );
    await withPickle(bytes, async (dir) => {
      using directory = await GulpDirectory.open(dir, raw);
      const { meta } = await directory.get(2999);
      assert.equal((meta.text as string).length, 100_000);
    });
  },
});

const text = (value: string) => Buffer.from(value, "latin1");

/** Returns an entry of a dict in protocol 2: a short string and the following opcodes. */
const key = (name: string) =>
  Buffer.concat([text("X"), Buffer.from([name.length, 0, 0, 0]), text(name)]);

Deno.test("hostile pickles are rejected: nothing is called, built without limit or traversed in a cycle", async () => {
  const video = (frames: Uint8Array, meta: Uint8Array) =>
    Buffer.concat([
      text("}("),
      key("frame_info"),
      frames,
      key("meta_data"),
      meta,
      text("u"),
    ]);
  const chunk = (...parts: Uint8Array[]) =>
    Buffer.concat([Buffer.from([0x80, 2]), text("}("), ...parts, text("u.")]);
  const empty = text("]");
  // Nested lists that each contain the previous one ten times: 10^20 items.
  const lists = Array.from({ length: 20 }, (_, i) =>
    Buffer.concat([
      text("(" + (i === 0 ? "K\x01" : `h${String.fromCharCode(i)}`).repeat(10)),
      text("lq" + String.fromCharCode(i + 1)),
    ]));
  const laughs = Buffer.concat([
    text("]}("),
    key("x"),
    ...lists.flatMap((list) => [list, text("0")]),
    text("h\x14ua"),
  ]);
  const manyFrames = Buffer.concat([
    text("]q\x01("),
    ...Array.from({ length: 5000 }, () => text("]")),
    text("e"),
  ]);
  const cases: [string, Uint8Array, string][] = [
    ["a call", text("cposix\nsystem\n(S'true'\ntR."), "unsafe-pickle"],
    [
      "another package's ImgInfo",
      text("cevil\nImgInfo\n(K\x00K\x00K\x00t\x81."),
      "unsafe-pickle",
    ],
    ["tuple, called", text("c__builtin__\ntuple\n(tR."), "unsafe-pickle"],
    [
      "_reconstructor of another class",
      text(
        "ccopy_reg\n_reconstructor\n(ccollections\nOrderedDict\nc__builtin__\ntuple\n(I0\nI0\nI0\nttR.",
      ),
      "unsafe-pickle",
    ],
    [
      "ImgInfo of two",
      text("cgulpio.fileio\nImgInfo\n(K\x00K\x00t\x81."),
      "unsafe-pickle",
    ],
    ["a list", text("(l."), "bad-meta"],
    ["an end that is missing", text("}("), "bad-meta"],
    [
      "a class as data",
      chunk(key("v"), video(empty, text("]ccollections\nOrderedDict\na"))),
      "bad-meta",
    ],
    [
      "a dict in itself",
      chunk(
        key("v"),
        video(
          empty,
          Buffer.concat([text("]}q\x01("), key("x"), text("h\x01ua")]),
        ),
      ),
      "bad-meta",
    ],
    ["a billion laughs", chunk(key("v"), video(empty, laughs)), "bad-meta"],
    [
      "one list of frames in many videos",
      chunk(
        key("0"),
        video(manyFrames, text("]}a")),
        ...Array.from(
          { length: 200 },
          (_, i) =>
            Buffer.concat([key(`v${i}`), video(text("h\x01"), text("]}a"))]),
        ),
      ),
      "bad-meta",
    ],
  ];
  for (const [name, bytes, code] of cases) {
    await withPickle(bytes, async (dir) => {
      await assert.rejects(
        GulpDirectory.open(dir, { ...raw, serializer: "pickle" }),
        (error) => error instanceof FormatError && error.code === code,
        name,
      );
    });
  }
});
