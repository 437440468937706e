/** Path segments of addresses, as the page shows them. */
import assert from "node:assert/strict";
import { decodedPart } from "../../../src/serve/page/route.ts";
import { shownName } from "../../../src/serve/page/text.ts";

Deno.test("a part is shown as the name that it encodes, byte by byte if that is not UTF-8", () => {
  for (
    const [part, name] of [
      ["a%20b", "a b"],
      ["%C3%A4%E2%82%AC%F0%9F%98%80", "\u00e4\u20ac\u{1f600}"],
      ["%FF", "\\xff"],
      ["ok%FF%C3%A4", "ok\\xff\u00e4"],
      ["%C3x", "\\xc3x"],
      ["%E2%82", "\\xe2\\x82"],
      ["%ED%B3%BF", "\\xed\\xb3\\xbf"], // a lone surrogate is not valid UTF-8
      ["100%", "100%"],
      ["%zz", "%zz"],
    ] as const
  ) assert.equal(shownName(decodedPart(part)), name, part);
});
