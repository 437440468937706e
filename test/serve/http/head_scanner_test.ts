import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { HeadScanner } from "../../../src/serve/http/head_scanner.ts";
import { RequestHead } from "../../../src/serve/http/request_head.ts";
import { ServeError } from "../../../src/serve/serve_error.ts";

const OWN = { scheme: "http", authority: "127.0.0.1:8000" } as const;
const HEAD =
  "GET /files/a.txt HTTP/1.1\r\nHost: localhost\r\nX-A:\t1 2\r\n\r\n";

/**
 * Scans text that arrives in pieces. Returns where the head ends, 0 if it is incomplete, or the negative position of an
 * error.
 */
function scanned(text: string, cuts: readonly number[] = []): number {
  const bytes = Buffer.from(text, "latin1");
  const ends = [...cuts, bytes.length].map((cut) => Math.min(cut, bytes.length))
    .sort((a, b) => a - b);
  const scanner = new HeadScanner();
  let start = 0;
  for (const end of ends) {
    const found = scanner.scan(bytes, start, end);
    if (found !== 0) return found;
    start = end;
  }
  return 0;
}

/**
 * Whether `RequestHead` accepts the syntax of a head. Heads that it rejects for other reasons are syntactically valid.
 */
function isHead(text: string): boolean {
  try {
    new RequestHead(text, OWN);
    return true;
  } catch (error) {
    assert.ok(error instanceof ServeError);
    // `RequestHead` rejects another version before it parses the headers.
    if (error.code === "bad-version") {
      return isHead(text.replace(/HTTP\/[0-9]/, "HTTP/1"));
    }
    return /no Host|two Hosts|no path|two ways|coding|Content-Length/
      .test(error.message);
  }
}

Deno.test("a head ends after its empty line, however its bytes arrive", () => {
  const cuts = fc.array(fc.nat(HEAD.length + 20), { maxLength: 6 });
  fc.assert(
    fc.property(cuts, fc.constantFrom("", "GET /", "\n\0"), (cuts, next) => {
      assert.equal(scanned(HEAD + next, cuts), HEAD.length);
      assert.equal(scanned(`\r\n${HEAD}`, cuts), HEAD.length + 2);
    }),
  );
});

Deno.test("an invalid head is detected at its first wrong byte", () => {
  const cases = [
    "\n",
    "\0",
    " ",
    "\x16",
    "\r\n\r",
    "\r\r",
    "GET / HTTP/1.1\n",
    "GET /\n",
    "GET / \r",
    "GET  ",
    "GET / HTTP/1.1 ",
    "GET / HTTX",
    "GET / HTTP/11",
    "GET /a\0",
    "GET /a\x7f",
    "HELLO\r",
    `${HEAD.slice(0, -2)} `,
    `${HEAD.slice(0, -2)}X\r`,
    `${HEAD.slice(0, -2)}:`,
    `${HEAD.slice(0, -2)}X: a\n`,
    `${HEAD.slice(0, -2)}X: a\r\r`,
    `${HEAD.slice(0, -2)}X: \0`,
    `${HEAD.slice(0, -2)}\n`,
    `${HEAD.slice(0, -2)}\r\r`,
  ];
  for (const text of cases) {
    assert.equal(scanned(text), -1, JSON.stringify(text));
    assert.equal(scanned(text.slice(0, -1)), 0, JSON.stringify(text));
  }
});

Deno.test("the scanner accepts exactly what RequestHead accepts", () => {
  const byte = fc.oneof(
    fc.constantFrom(..."\r\n\0\t :/AZ09~\x7f\x80\xff"),
    fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  );
  const change = fc.record({
    at: fc.nat(HEAD.length),
    removed: fc.nat(3),
    added: fc.array(byte, { maxLength: 3 }).map((bytes) => bytes.join("")),
  });
  const property = fc.property(
    fc.array(change, { minLength: 1, maxLength: 3 }),
    (changes) => {
      let text = HEAD;
      for (const { at, removed, added } of changes) {
        text = text.slice(0, at) + added + text.slice(at + removed);
      }
      const end = scanned(text);
      if (end > 0) assert.ok(isHead(text.slice(0, end).trimStart()));
      const whole = text.indexOf("\r\n\r\n") + 4;
      if (end < 0 && whole > 4) assert.ok(!isHead(text.slice(0, whole)));
    },
  );
  fc.assert(property, {
    numRuns: 2000,
    examples: [[[
      { at: 22, removed: 1, added: "0" }, // HTTP/0.1
      { at: 27, removed: 0, added: "\r" },
    ]]],
  });
});
