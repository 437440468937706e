import assert from "node:assert/strict";
import { outcomeOf, rangesCount } from "../../../src/serve/files/conditions.ts";

const STATE = { etag: '"a"', modified: Date.UTC(2026, 0, 2, 3, 4, 5) / 1000 };
const SAME = "Fri, 02 Jan 2026 03:04:05 GMT";
const BEFORE = "Fri, 02 Jan 2026 03:04:04 GMT";
const AFTER = "Fri, 02 Jan 2026 03:04:06 GMT";

/** Conditional headers and the required outcome, by RFC 9110, 13.1 and 13.2.2. */
const CASES: readonly (readonly [Record<string, string>, string])[] = [
  [{}, "go-on"],
  [{ "if-match": '"a"' }, "go-on"],
  [{ "if-match": "*" }, "go-on"],
  [{ "if-match": '"b", "a"' }, "go-on"],
  [{ "if-match": '"b"' }, "changed"],
  [{ "if-match": 'W/"a"' }, "changed"], // a weak tag never matches strongly
  [{ "if-none-match": '"a"' }, "not-modified"],
  [{ "if-none-match": 'W/"a"' }, "not-modified"],
  [{ "if-none-match": "*" }, "not-modified"],
  [{ "if-none-match": '"b",W/"c"' }, "go-on"],
  [{ "if-modified-since": SAME }, "not-modified"],
  [{ "if-modified-since": AFTER }, "not-modified"],
  [{ "if-modified-since": BEFORE }, "go-on"],
  [{ "if-modified-since": "yesterday" }, "go-on"],
  [{ "if-unmodified-since": SAME }, "go-on"],
  [{ "if-unmodified-since": BEFORE }, "changed"],
  // Entity tags take precedence over dates.
  [{ "if-none-match": '"b"', "if-modified-since": AFTER }, "go-on"],
  [{ "if-match": '"a"', "if-unmodified-since": BEFORE }, "go-on"],
  [{ "if-match": '"b"', "if-none-match": '"a"' }, "changed"],
  [{ "if-match": '"a"', "if-none-match": '"a"' }, "not-modified"],
];

Deno.test("conditions are evaluated by RFC 9110", () => {
  for (const [headers, expected] of CASES) {
    const outcome = outcomeOf(new Headers(headers), STATE);
    assert.equal(outcome, expected, JSON.stringify(headers));
  }
});

Deno.test("If-Range allows ranges only for the same state", () => {
  const cases: readonly (readonly [string | undefined, boolean])[] = [
    [undefined, true],
    ['"a"', true],
    ['"b"', false],
    ['W/"a"', false],
    [SAME, true],
    [BEFORE, false],
    [AFTER, false], // not exactly the date
    ["rubbish", false],
  ];
  for (const [value, expected] of cases) {
    const headers = new Headers(
      value === undefined ? {} : { "if-range": value },
    );
    assert.equal(rangesCount(headers, STATE), expected, value);
  }
});
