/** Truncated trees: which entries come first, and access to the rest part by part. */
import assert from "node:assert/strict";
import { writeMsgpack } from "../../../src/codecs/msgpack/mod.ts";
import { writePickle } from "../../../src/codecs/pickle/write_pickle.ts";
import type {
  Display,
  DisplayMarker,
  TreeValue,
} from "../../../src/serve/api/value_messages.ts";
import {
  type ServedFolder,
  serveFolder,
} from "../../support/serve/served_folder.ts";

const utf8 = new TextEncoder();

/** A marker, or an object with the same keys. */
type Marker = DisplayMarker & Readonly<Record<string, Display>>;

/** Requests a part of a file. Asserts that the response is small. */
async function partOf(
  folder: ServedFolder,
  path: string,
  part = "",
  from = 0,
): Promise<Display> {
  const question = `api/value?path=${path}&part=${part}&skip=${from}`;
  const text = await (await folder.get(question)).text();
  assert.ok(text.length < 8 << 20, `${question}: ${text.length} characters`);
  const value: TreeValue = JSON.parse(text);
  assert.equal(value.kind, "tree", `${question}: ${text.slice(0, 500)}`);
  return value.value;
}

/** Assembles a value from all of its parts. Maps and objects become lists of pairs. */
async function wholeOf(
  shown: Display,
  at: string,
  ask: (part: string, from: number) => Promise<Display>,
): Promise<unknown> {
  const below = (step: string | number) =>
    at === "" ? `${step}` : `${at}.${step}`;
  if (shown === null || typeof shown !== "object") return shown;
  const marker = (Array.isArray(shown) ? undefined : shown) as
    | Marker
    | undefined;
  if (typeof marker?.$ === "string") {
    const more = (from: number) => ask(at, from) as Promise<Marker>;
    switch (marker.$) {
      case "bytes": {
        const parts = [Uint8Array.fromBase64(marker.base64)];
        let got = parts[0]!.length;
        while (got < marker.size) {
          const next = await more(got);
          assert.ok(next.$ === "bytes");
          parts.push(Uint8Array.fromBase64(next.base64));
          assert.ok(parts.at(-1)!.length > 0);
          got += parts.at(-1)!.length;
        }
        return parts.map((part) => part.toHex()).join("");
      }
      case "integer":
        return BigInt(marker.digits);
      case "float":
        return Number(marker.text);
      case "cut": {
        if (typeof marker.shown === "string") {
          let text = marker.shown;
          while (text.length < marker.length) {
            const next = await more(text.length);
            const added: Display = next.$ === "cut" ? next.shown : next;
            assert.ok(typeof added === "string" && added !== "");
            text += added;
          }
          return text;
        }
        const inner = marker.shown as Marker;
        if (inner.$ === "integer") {
          let { digits } = inner;
          while (digits.length < marker.length) {
            const next = await more(digits.length);
            assert.ok(next.$ === "cut");
            digits += (next.shown as Marker & { digits: string }).digits;
          }
          return BigInt(digits);
        }
        const isList = Array.isArray(marker.shown);
        const all: unknown[] = [];
        let held: Display = marker.shown;
        for (;;) {
          all.push(...await entriesOf(held, all.length));
          if (all.length >= marker.length) break;
          const next = await more(all.length);
          held = next.$ === "cut" ? next.shown : next;
          assert.ok(isList === Array.isArray(held));
        }
        assert.equal(all.length, marker.length);
        return isList ? all : { pairs: all };
      }
    }
  }
  const entries = await entriesOf(shown, 0);
  return Array.isArray(shown) ? entries : { pairs: entries };

  async function entriesOf(held: Display, first: number): Promise<unknown[]> {
    const all: unknown[] = [];
    if (Array.isArray(held)) {
      for (const [i, each] of held.entries()) {
        all.push(await wholeOf(each, below(first + i), ask));
      }
      return all;
    }
    const object = held as Marker;
    const pairs = object.$ === "map" || object.$ === "object"
      ? object.pairs as readonly [Display, Display][]
      : Object.entries(object as Record<string, Display>);
    for (const [i, [key, each]] of pairs.entries()) {
      all.push([
        await wholeOf(key, below(`k${first + i}`), ask),
        await wholeOf(each, below(first + i), ask),
      ]);
    }
    return all;
  }
}

/** Converts a value to the form of {@linkcode wholeOf}. */
function expected(value: unknown): unknown {
  if (value instanceof Uint8Array) return value.toHex();
  if (Array.isArray(value)) return value.map(expected);
  if (typeof value !== "object" || value === null) return value;
  const pairs = value instanceof Map ? [...value] : Object.entries(value);
  return { pairs: pairs.map((pair) => pair.map(expected)) };
}

/** Returns nested lists of this depth. */
function nested(depth: number): unknown {
  let value: unknown = ["bottom"];
  for (let i = 0; i < depth; i++) value = [value, i];
  return value;
}

Deno.test("the second key is shown whatever the first is, in JSON, MessagePack and pickles", async () => {
  const value = new Map<string, unknown>([
    ["images", Array.from({ length: 30_000 }, (_, i) => [i, [i]])],
    ["long", "x".repeat(2 << 20)],
    ["categories", [{ id: 1, name: "cat" }]],
  ]);
  await using folder = await serveFolder({
    "a.json": JSON.stringify(Object.fromEntries(value)),
    "a.msgpack": Uint8Array.from(writeMsgpack(value as never)),
    "a.pkl": Uint8Array.from(writePickle(value as never)),
  });
  for (const path of ["a.json", "a.msgpack", "a.pkl"]) {
    const shown = await partOf(folder, path) as Record<string, Marker>;
    assert.deepEqual(Object.keys(shown), ["images", "long", "categories"]);
    assert.deepEqual(shown.categories, [{ id: 1, name: "cat" }]);
    const { images, long } = shown;
    assert.ok(images!.$ === "cut" && long!.$ === "cut");
    assert.equal(images!.length, 30_000);
    const held = images!.shown as Display[];
    assert.ok(held.length > 100);
    assert.deepEqual(held[7], [7, [7]]);
    assert.equal(long!.length, 2 << 20);
  }
});

Deno.test("all of a tree is reached part by part, however it is split", async () => {
  const wide = Object.fromEntries(
    Array.from({ length: 1200 }, (_, i) => [`key${i}`, { i, list: [i, [i]] }]),
  );
  const text = "aé😀".repeat(40_000);
  const json = {
    wide,
    deep: nested(300),
    text,
    ["k".repeat(100_000)]: 1,
    rows: Array.from(
      { length: 4 },
      () =>
        Array.from(
          { length: 25 },
          () => Array.from({ length: 250 }, (_, i) => i),
        ),
    ),
  };
  const twice = '{"9": 1, "1": {"9": [2], "1": 3}, "9": 4, "$": 5}';
  const digits = "9".repeat(150_000);
  const map = new Map<unknown, unknown>([
    ...Array.from({ length: 2500 }, (_, i) => [i, `value ${i}`] as const),
    ["bytes", Uint8Array.from({ length: 200_000 }, (_, i) => i % 251)],
    [text, null],
    [[1, [2, "x".repeat(70_000)]], nested(100)],
  ]);
  await using folder = await serveFolder({
    "a.json": JSON.stringify(json),
    "twice.json": twice,
    "digits.json": `[${digits}, -${digits}]`,
    "a.msgpack": Uint8Array.from(writeMsgpack(map as never)),
    "a.pkl": Uint8Array.from(writePickle(map as never)),
  });
  const whole = async (path: string) =>
    await wholeOf(
      await partOf(folder, path),
      "",
      (part, from) => partOf(folder, path, part, from),
    );
  assert.deepEqual(await whole("a.json"), expected(json));
  assert.deepEqual(await whole("a.msgpack"), expected(map));
  assert.deepEqual(await whole("a.pkl"), expected(map));
  assert.deepEqual(await whole("twice.json"), {
    pairs: [
      ["9", 1],
      ["1", { pairs: [["9", [2]], ["1", 3]] }],
      ["9", 4],
      ["$", 5],
    ],
  });
  assert.deepEqual(await whole("digits.json"), [
    BigInt(digits),
    -BigInt(digits),
  ]);
});

Deno.test("a missing part, or a part of a value that is not a tree, is rejected", async () => {
  await using folder = await serveFolder({
    "a.json": '{"a": [1, "x"]}',
    "bad.json": '{"a": [1, "x"}',
    "a.txt": "text",
  });
  const asked: readonly (readonly [string, number])[] = [
    ["a.json&part=0.1", 200],
    ["a.json&part=0.k1", 404],
    ["a.json&part=0.2", 404],
    ["a.json&part=0.1.0", 404],
    ["a.json&part=x", 400],
    ["a.json&part=.0", 400],
    [`a.json&part=${"0.".repeat(1024)}0`, 400],
    ["a.json&part=0&as=text", 400],
    ["a.txt&part=0", 400],
    ["bad.json&part=0", 400],
  ];
  for (const [query, status] of asked) {
    const response = await folder.get(`api/value?path=${query}`);
    const text = await response.text();
    assert.equal(response.status, status, `${query}: ${text}`);
  }
  assert.deepEqual(await partOf(folder, "a.json", "0", 1), {
    $: "cut",
    shown: ["x"],
    length: 2,
  });
});

Deno.test("a pickle that repeats one value many times takes no more memory", async () => {
  // l0 = ["…"]; l1 = [l0, l0]; …: 2^60 values by path, which share one text of 64 KiB.
  const bytes = [0x80, 2, 0x58, 0, 0, 1, 0];
  bytes.push(...utf8.encode("x".repeat(65_536)), 0x71, 0);
  for (let i = 1; i <= 60; i++) {
    // Opcodes ( h h l q: MARK, the previous list twice, LIST, and the index to store it at.
    bytes.push(0x28, 0x68, i - 1, 0x68, i - 1, 0x6c, 0x71, i);
  }
  const many = [0x80, 2, 0x58, 0, 0, 1, 0];
  many.push(...utf8.encode("x".repeat(65_536)), 0x71, 0, 0x30, 0x28);
  for (let i = 0; i < 15_000; i++) many.push(0x68, 0);
  many.push(0x6c, 0x2e);
  bytes.push(0x2e);
  await using folder = await serveFolder({
    "twos.pkl": Uint8Array.from(bytes),
    "many.pkl": Uint8Array.from(many),
  });
  const twos = await partOf(folder, "twos.pkl");
  assert.ok(Array.isArray(twos) && twos.length === 2);
  const texts = await partOf(folder, "many.pkl") as Marker;
  assert.ok(texts.$ === "cut" && texts.length === 15_000);
});
