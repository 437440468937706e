/** Slow requests do not block others. */
import assert from "node:assert/strict";
import { open } from "../../../src/open/open.ts";
import { handler } from "../../../src/serve/mod.ts";
import {
  packed,
  served,
  serveFolder,
} from "../../support/serve/served_folder.ts";
import { makeZip } from "../../support/zip/make_zip.ts";

const MEBI = 1 << 20;

/** Returns a JSON list of about this many bytes. */
function listOf(item: string, bytes: number): string {
  return `[${
    Array(Math.floor(bytes / (item.length + 1))).fill(item).join(",")
  }]`;
}

/** Returns a MessagePack list that repeats one value. */
function packedList(item: readonly number[], bytes: number): Uint8Array {
  const count = Math.floor((bytes - 5) / item.length);
  const made = new Uint8Array(5 + count * item.length);
  made[0] = 0xdd;
  new DataView(made.buffer).setUint32(1, count);
  for (let i = 0; i < count; i++) made.set(item, 5 + i * item.length);
  return made;
}

Deno.test("other requests are served while any value is decoded", async () => {
  const size = 8 * MEBI;
  const long = "a".repeat(250);
  const names = Array.from({ length: 30 }, (_, i) => `${long}${i}`);
  await using folder = await serveFolder({
    "numbers.json": listOf("0.25", size),
    "objects.json": listOf('{"a":[1,{}]}', size),
    "maps.msgpack": packedList([0x81, 1, 1], size),
    "rows.csv": "1,2,3\n".repeat(MEBI),
    "small.txt": "small",
    long: Object.fromEntries(names.map((name) => [name, ""])),
  });
  // Starts the decoding thread.
  await (await folder.get("api/value?path=small.txt")).text();
  const questions: [question: string, kind: string | undefined][] = [
    ["value?path=numbers.json", "tree"],
    ["value?path=objects.json", "tree"],
    ["value?path=maps.msgpack", "tree"],
    ["value?path=rows.csv&offset=1000000", undefined],
    ["search?glob=*a*a*a*[b]", undefined],
  ];
  for (const [question, kind] of questions) {
    let isOver = false;
    const answer = folder.get(`api/${question}`).then(async (response) => {
      const text = await response.text();
      isOver = true;
      assert.equal(response.status, 200, `${question}: ${text}`);
      if (kind !== undefined) assert.equal(JSON.parse(text).kind, kind);
    });
    for (let i = 0; i < 3; i++) {
      const small = await folder.get("files/small.txt");
      assert.equal(await small.text(), "small");
    }
    assert.ok(!isOver, question);
    await answer;
  }
});

Deno.test("other requests are served while a large, repetitive member of a zip is inflated", async () => {
  const size = 1000 * MEBI;
  const zip = makeZip([
    { name: "zeros.bin", data: new Uint8Array(size), method: 8 },
    { name: "small.txt", data: "small" },
  ]);
  await using folder = served(
    await open(new File([new Uint8Array(zip)], "a.zip")),
  );
  let isOver = false;
  const end = folder.get("files/zeros.bin", {
    headers: { range: `bytes=${size - 5}-` },
  }).then(async (response) => {
    assert.equal((await response.bytes()).length, 5);
    isOver = true;
  });
  let answered = 0;
  while (!isOver) {
    const small = await folder.get("files/small.txt");
    assert.equal(await small.text(), "small");
    answered++;
  }
  await end;
  // Inflating gives way every 16 ms, and a response takes a few turns of the event loop. If it did not, there would be two.
  assert.ok(answered > 3, String(answered));
});

Deno.test("a program that has requested a value from a handler can end after the response", async () => {
  using container = await open(packed({ "a.json": "[1]" }));
  const answer = handler(container, { token: null });
  const request = new Request("http://localhost/api/value?path=a.json");
  const response = await answer(request);
  assert.deepEqual(await response.json(), {
    kind: "tree",
    type: "json",
    value: [1],
    isCut: false,
  });
});
