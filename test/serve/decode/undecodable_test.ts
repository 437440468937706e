/** Content that does not match its suffix: every request is answered, and the reason is shown. */
import assert from "node:assert/strict";
import { crc32, deflateRawSync } from "node:zlib";
import * as fc from "fast-check";
import { writeMsgpack } from "../../../src/codecs/msgpack/mod.ts";
import { writeNpy } from "../../../src/codecs/numpy/mod.ts";
import type {
  BytesValue,
  TextValue,
  ValueMessage,
} from "../../../src/serve/api/value_messages.ts";
import { open } from "../../../src/open/open.ts";
import { makeZip } from "../../support/zip/make_zip.ts";
import { fromFileUrl } from "../../support/paths.ts";
import {
  type Files,
  served,
  type ServedFolder,
  serveFolder,
} from "../../support/serve/served_folder.ts";

const GOLDEN = fromFileUrl(new URL("../../golden/", import.meta.url));
const utf8 = new TextEncoder();

async function value<Value extends ValueMessage>(
  folder: ServedFolder,
  path: string,
): Promise<Value> {
  const response = await folder.get(`api/value?path=${path}`);
  const text = await response.text();
  assert.equal(response.status, 200, `${path}: ${text}`);
  return JSON.parse(text);
}

Deno.test("text that cannot be decoded is shown with the reason", async () => {
  await using folder = await serveFolder({
    "quote.csv": 'a,b\n1,"open\n2,3\n',
    "line.csv": `a,b\n${",".repeat(2 << 20)}\n`,
    "cut.json": '{"a": [1, 2',
    "two.json": '{"a": 1}\n{"a": 2}\n',
    "deep.json": `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
    "open.json": "[".repeat(100_000),
    "object.json": '{"a":'.repeat(100_000),
    "latin.json": Uint8Array.of(0x22, 0xe9, 0x22),
  });
  const reasons: [string, RegExp][] = [
    ["quote.csv", /quote/i],
    ["line.csv", /line at byte 4 has more than 1048576 bytes/],
    ["cut.json", /ends early/],
    ["two.json", /more follows/],
    ["deep.json", /nested more than 1000/],
    ["open.json", /nested more than 1000/],
    ["object.json", /nested more than 1000/],
  ];
  for (const [path, reason] of reasons) {
    const shown = await value<TextValue>(folder, path);
    assert.equal(shown.kind, "text", path);
    assert.match(shown.why!, reason);
    const bytes = await (await folder.get(`files/${path}`)).text();
    assert.ok(bytes.startsWith(shown.text) && shown.text.length > 0);
  }
  const latin = await value<BytesValue>(folder, "latin.json");
  assert.equal(latin.kind, "bytes");
  assert.match(latin.why!, /UTF-8/);
});

Deno.test("JSON is shown as written, in bounded memory", async () => {
  await using folder = await serveFolder({
    "a.json":
      '\ufeff{"s": "\\ud83d\\ude00\\n", "n": [1e2, -0.5, NaN, -Infinity], "": null}',
    "twice.json": '{"d": 1, "d": 2}',
  });
  const shown = await value(folder, "a.json");
  assert.deepEqual(shown, {
    kind: "tree",
    type: "json",
    isCut: false,
    value: {
      s: "😀\n",
      n: [100, -0.5, { $: "float", text: "NaN" }, {
        $: "float",
        text: "-Infinity",
      }],
      "": null,
    },
  });
  const twice = await value(folder, "twice.json");
  assert.deepEqual(twice, {
    kind: "tree",
    type: "json",
    isCut: false,
    value: { $: "object", pairs: [["d", 1], ["d", 2]] },
  });
});

Deno.test("JSON and MessagePack of any values are shown unchanged", async () => {
  const values = fc.sample(
    fc.jsonValue({ maxDepth: 4 }).filter((value) =>
      !JSON.stringify(value).includes('"$') &&
      !JSON.stringify(value).includes("-0")
    ),
    { numRuns: 60, seed: 5 },
  ).map((value) => JSON.parse(JSON.stringify(value)));
  const files: Record<string, Uint8Array> = {};
  for (const [i, value] of values.entries()) {
    files[`${i}.json`] = utf8.encode(JSON.stringify(value, null, i % 3));
    files[`${i}.msgpack`] = Uint8Array.from(writeMsgpack(value));
  }
  await using folder = await serveFolder(files);
  for (const [i, expected] of values.entries()) {
    for (const type of ["json", "msgpack"]) {
      const shown = await value(folder, `${i}.${type}`);
      assert.deepEqual(shown, {
        kind: "tree",
        type,
        value: expected,
        isCut: false,
      });
    }
  }
});

Deno.test("overlapping or oversized archives of arrays are rejected", async () => {
  const array = writeNpy({ data: new Uint8Array(66_000_000) });
  const packed = deflateRawSync(array);
  const facts = { method: 8, size: array.length, crc: crc32(array) };
  const member = (i: number, offset?: number) => ({
    name: `${i}.npy`,
    data: packed, // stored once, and shared by all members
    local: facts,
    central: offset === undefined ? facts : { ...facts, offset },
  });
  const one = makeZip([member(0)]);
  await using folder = await serveFolder({
    "one.npz": one,
    "sum.npz": makeZip([0, 1, 2, 3, 4].map((i) => member(i))),
    "overlap.npz": makeZip([0, 1, 2, 3].map((i) => member(i, 0))),
  });
  assert.ok(packed.length < 100_000);
  assert.equal((await value(folder, "one.npz")).kind, "arrays");
  const sum = await value<BytesValue>(folder, "sum.npz");
  assert.equal(sum.kind, "bytes");
  assert.match(sum.why!, /330000640 bytes, and at most 268435456/);
  const overlap = await value<BytesValue>(folder, "overlap.npz");
  assert.equal(overlap.kind, "bytes");
  assert.match(overlap.why!, /it overlaps another member/);
});

/** Valid content by suffix. */
const SOUND: Readonly<Record<string, Uint8Array>> = {
  csv: utf8.encode('a,b\n1,"x, y"\n2,z\n'),
  gif: utf8.encode("GIF89a"),
  html: utf8.encode("<p>text"),
  jpg: Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 16),
  json: utf8.encode('{"a": [1, 2.5, "é", null], "b": {"c": true}}'),
  mp4: utf8.encode("\0\0\0\x18ftypmp42"),
  msgpack: Uint8Array.from(
    writeMsgpack({ a: [1, "x", 2.5], b: { c: new Uint8Array(4) } }),
  ),
  npy: writeNpy({ data: Float32Array.of(1, 2, 3, 4), shape: [2, 2] }),
  npz: Uint8Array.from(makeZip([
    { name: "a.npy", data: writeNpy({ data: Int16Array.of(1, 2) }), method: 8 },
    { name: "b.npy", data: writeNpy({ data: Int16Array.of(3) }) },
  ])),
  pdf: utf8.encode("%PDF-1.7"),
  pkl: Uint8Array.from(
    "\x80\x02}q\0(X\x01\0\0\0aq\x01K\x01X\x01\0\0\0bq\x02]q\x03K\x02au.",
    (char) => char.charCodeAt(0),
  ),
  tsv: utf8.encode("a\tb\n1\t2\n"),
  txt: utf8.encode("text é\n"),
  bin: Uint8Array.of(1, 2, 3),
};
/** Kinds that are decoded. If they are shown as text or bytes, the response must give a reason. */
const DECODED = ["csv", "json", "msgpack", "npy", "npz", "pkl", "tsv"];

Deno.test("no content makes a server fail: truncated, changed or random content is shown, with the reason why it is not decoded", async () => {
  const files: Record<string, Uint8Array> = {};
  const random = fc.sample(fc.uint8Array({ maxLength: 120 }), {
    numRuns: 8,
    seed: 1,
  });
  for (const [ending, sound] of Object.entries(SOUND)) {
    const cuts = [0, 1, 5, sound.length >> 1, sound.length - 1];
    for (const [i, length] of cuts.entries()) {
      files[`cut${i}.${ending}`] = sound.slice(0, length);
    }
    for (const [i, bytes] of random.entries()) {
      files[`random${i}.${ending}`] = Uint8Array.from(bytes);
      const changed = sound.slice();
      for (const [at, byte] of bytes.subarray(0, 3).entries()) {
        changed[(byte * 7 + at) % changed.length]! ^= 1 << (byte & 7);
      }
      files[`changed${i}.${ending}`] = changed;
    }
    files[`sound.${ending}`] = sound;
  }
  await using folder = await serveFolder(files as Files);
  for (const path of Object.keys(files)) {
    const shown = await value(folder, path);
    const isPlain = shown.kind === "text" || shown.kind === "bytes";
    const ending = path.slice(path.lastIndexOf(".") + 1);
    if (!DECODED.includes(ending)) {
      assert.ok(isPlain, path);
      continue;
    }
    if (path.startsWith("sound.")) assert.ok(!isPlain, path);
    if (isPlain) assert.match(shown.why ?? "", /\w/, path);
  }
});

Deno.test("no damaged container makes a server fail", async () => {
  for (const room of ["bags", "granular", "gulp", "mds", "tfrecord"]) {
    for await (const { name } of Deno.readDir(`${GOLDEN}${room}`)) {
      if (!name.startsWith("bad_")) continue;
      const fs = await openAny(`${GOLDEN}${room}/${name}`);
      if (fs === undefined) continue;
      await using folder = served(fs);
      const paths = [""];
      for await (const { path } of fs.walk("", { onDamage() {} })) {
        if (paths.push(path) === 6) break;
      }
      for (const path of paths) {
        for (const question of ["value", "entry", "row", "list"]) {
          const url = encodeURIComponent(path);
          const response = await folder.get(`api/${question}?path=${url}`);
          const text = await response.text();
          assert.ok(
            response.status < 500,
            `${room}/${name}: ${question} ${path}: ${text}`,
          );
        }
      }
    }
  }
});

/** Opens a container in a directory of the golden files; `undefined` if none opens. */
async function openAny(directory: string) {
  for await (const { name } of Deno.readDir(directory)) {
    if (name === "expect.json") continue;
    try {
      return await open(`${directory}/${name}`);
    } catch {
      // Try the next file.
    }
  }
  return undefined;
}
