import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "../../support/random.ts";
import {
  parseSample,
  SampleError,
} from "../../../src/cli/input/parse_sample.ts";

const parse = (text: string) => parseSample(new TextEncoder().encode(text));

Deno.test("any bytes survive as base64", () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => {
    const base64 = Buffer.from(bytes).toString("base64");
    assert.deepEqual(parse(JSON.stringify(base64)), bytes);
    assert.deepEqual(parse(` { "base64" : "${base64}" } \r`), bytes);
  }));
});

Deno.test("text is written as UTF-8", () => {
  const text = fc.string({ unit: "binary" });
  fc.assert(fc.property(text, (text) => {
    const expected = Uint8Array.from(Buffer.from(text));
    assert.deepEqual(parse(JSON.stringify({ text })), expected);
  }));
});

Deno.test("an invalid sample line is rejected with the reason", () => {
  const cases: [string, RegExp][] = [
    ["", /^it is empty$/],
    ["QUJD", /^it is not JSON \(.+\)$/],
    ['"QUJD" "QUJD"', /^it is not JSON/],
    ['"QUJ"', /base64 is invalid/],
    ['"Q-_D"', /base64 is invalid/],
    ['"QUI=QUI="', /base64 is invalid/],
    ["1", /^a sample must be .*, not a number$/],
    ["null", /, not null$/],
    ["[]", /, not an array$/],
    ["{}", /, not an object without keys$/],
    ['{"txt": ""}', /, not an object with "txt"$/],
    ['{"text": "a", "base64": "QQ=="}', /with "text", "base64"$/],
    ['{"__proto__": "QQ=="}', /with "__proto__"$/],
    ['{"base64": 1}', /^its "base64" is a number, not a string$/],
    ['{"text": null}', /^its "text" is null/],
    ['{"text": "\\ud800"}', /unpaired surrogate/],
  ];
  for (const [line, words] of cases) {
    assert.throws(() => parse(line), (error) => {
      assert.ok(error instanceof SampleError, line);
      assert.match(error.message, words, line);
      return true;
    });
  }
  assert.throws(() => parseSample(Uint8Array.of(0x22, 0xff, 0x22)), /UTF-8/);
});
