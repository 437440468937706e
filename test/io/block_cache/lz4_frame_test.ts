/** LZ4 frames compressed by pyarrow, and damaged ones. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { decompressLz4Frame } from "../../../src/io/block_cache/lz4_frame.ts";
import { needs, PYTHON } from "../../support/programs/programs.ts";

class Fault extends Error {}
const fault = (why: string) => new Fault(why);

/** Contents: empty, incompressible, with short and long matches, and longer than the 64 KiB of a block. */
const CONTENTS = [
  new Uint8Array(0),
  Uint8Array.of(7),
  crypto.getRandomValues(new Uint8Array(5000)),
  new Uint8Array(300_000),
  Uint8Array.from({ length: 200_000 }, (_, i) => i % 3 + i % 70_001 % 11),
  Uint8Array.from(
    { length: 150_000 },
    (_, i) => Math.imul(i, 0x9e3779b1) >>> 24 & (i >> 12),
  ),
];

const SCRIPT = `
import json, sys
import pyarrow as pa
frames = [pa.compress(bytes.fromhex(one), codec="lz4", asbytes=True).hex() for one in json.load(sys.stdin)]
json.dump(frames, sys.stdout)
`;

/** Returns frames of the contents. */
function framesOf(contents: readonly Uint8Array[]): Uint8Array[] {
  const input = JSON.stringify(contents.map((content) => content.toHex()));
  const options = { input, encoding: "utf8", maxBuffer: 1 << 28 } as const;
  const output = execFileSync(PYTHON, ["-c", SCRIPT], options);
  return (JSON.parse(output) as string[]).map((hex) => Uint8Array.fromHex(hex));
}

Deno.test(
  "frames have the contents that were compressed, across blocks",
  needs("pyarrow"),
  () => {
    const frames = framesOf(CONTENTS);
    for (const [i, content] of CONTENTS.entries()) {
      const made = decompressLz4Frame(frames[i]!, content.length, fault);
      assert.deepEqual(made, content);
      for (const size of [content.length + 1, content.length - 1]) {
        if (size < 0) continue;
        assert.throws(() => decompressLz4Frame(frames[i]!, size, fault), Fault);
      }
    }
  },
);

Deno.test(
  "damaged frames fail, or have the size they should",
  needs("pyarrow"),
  () => {
    const content = CONTENTS[4]!.subarray(0, 70_000);
    const [frame] = framesOf([content]) as [Uint8Array];
    for (let length = 0; length < frame.length; length++) {
      const cut = frame.subarray(0, length);
      assert.throws(
        () => decompressLz4Frame(cut, content.length, fault),
        Fault,
      );
    }
    for (let at = 0; at < frame.length; at++) {
      for (const byte of [0, 0xff, frame[at]! ^ 0x10]) {
        const bytes = frame.slice();
        bytes[at] = byte;
        try {
          const made = decompressLz4Frame(bytes, content.length, fault);
          assert.equal(made.length, content.length);
        } catch (error) {
          assert.ok(error instanceof Fault, String(error));
        }
      }
    }
  },
);
