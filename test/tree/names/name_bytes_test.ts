import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import { bitsOf, sharedBytes } from "../../../src/tree/names/name_bytes.ts";

const few = fc.uint8Array({ max: 3, maxLength: 20 });

Deno.test("names are compared up to the first different byte", () => {
  fc.assert(fc.property(few, few, few, (before, a, b) => {
    const bytes = Uint8Array.from([...before, ...a, ...b]);
    const start = before.length;
    const most = Math.min(a.length, b.length);
    let expected = 0;
    while (expected < most && a[expected] === b[expected]) expected++;
    const view = new DataView(bytes.buffer);
    const shared = sharedBytes(view, start, start + a.length, most);
    assert.equal(shared, expected);
  }));
});

Deno.test("a slash or NUL is found at any position, and no other byte is mistaken for one", () => {
  const view = new DataView(new ArrayBuffer(24));
  for (let from = 0; from < 8; from++) {
    for (let to = from + 1; to <= 24; to++) {
      for (let at = from; at < to; at++) {
        for (let byte = 0; byte < 256; byte++) {
          new Uint8Array(view.buffer).fill(0x61);
          view.setUint8(at, byte);
          const bad = byte === 0 || byte === 0x2f;
          const others = to - from > 1 ? 0x61 : 0;
          assert.equal(bitsOf(view, from, to), bad ? -1 : byte | others);
        }
      }
    }
  }
});

Deno.test("bytes outside a name are ignored", () => {
  const bytes = Uint8Array.from([0, 0x2f, 0x62, 0x62, 0x62, 0x62, 0x62, 0, 47]);
  assert.equal(bitsOf(new DataView(bytes.buffer), 2, 7), 0x62);
});
