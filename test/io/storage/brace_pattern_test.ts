/** Path patterns in the syntax of Python's braceexpand, with limits. */
import assert from "node:assert/strict";
import { BracePattern } from "../../../src/io/storage/shards/brace_pattern.ts";
import { needs } from "../../support/programs/programs.ts";
import { pythonLines } from "../../support/programs/python.ts";

function expand(text: string): string[] | undefined {
  const pattern = BracePattern.parse(text);
  return pattern && BracePattern.expand([pattern]);
}

Deno.test("expands numbers, letters and lists like bash", () => {
  const cases: Record<string, string> = {
    "{11..9}": "11 10 9",
    "{0..10..5}": "0 5 10",
    "{10..0..-4}": "10 6 2",
    "{a..c}": "a b c",
    "{e..a..2}": "e c a",
    "{a,b}": "a b",
    "x{08..11}.tar": "x08.tar x09.tar x10.tar x11.tar",
    "{-01..1}": "-01 000 001",
    "{5..5}": "5",
    "{a,b}{1,2}": "a1 a2 b1 b2",
    "{a{1..2},{x,y}z}": "a1 a2 xz yz",
    "{a,}b": "ab b",
    "{a\\,b,c}\\{d\\}": "a,b{d} c{d}",
    "{a}": "{a}",
    "{9007199254740992..9007199254740994}":
      "9007199254740992 9007199254740993 9007199254740994",
  };
  for (const [text, wanted] of Object.entries(cases)) {
    assert.deepEqual(expand(text), wanted.split(" "), text);
  }
  for (const text of ["{1..3", "a}", "{a,b}}", "}{{"]) {
    assert.equal(expand(text), undefined, text);
  }
});

Deno.test("distinguishes patterns from paths, and yields the first path without the others", () => {
  for (const text of ["{1..2}", "{a,b}", "x{{1..2}}", "{3..3}"]) {
    assert.ok(BracePattern.parse(text)!.isPattern, text);
  }
  for (const text of ["", "x.tar", "{x}.tar", "{}", "\\{a,b\\}"]) {
    assert.ok(!BracePattern.parse(text)!.isPattern, text);
  }
  const all = BracePattern.parse("x{1..1000000000}{,.gz}")!;
  assert.equal(all.first(), "x1");
});

Deno.test("rejects patterns that expand to too many paths, before expanding them", () => {
  for (
    const [text, paths] of [
      ["{1..1000000000}", 1_000_000_000n],
      ["{0..99999999999999999999}", 10n ** 20n],
      ["{0,1}".repeat(200), 2n ** 200n],
      ["{a,{1..1000000}}", 1_000_001n],
      [`${"x".repeat(300)}{1..1000000}`, 1_000_000n],
    ] as const
  ) {
    const error = { name: "BracePatternError", paths };
    assert.throws(() => expand(text), error, text.slice(0, 40));
  }
  const half = BracePattern.parse("{1..600000}")!;
  assert.throws(() => BracePattern.expand([half, half]), {
    paths: 1_200_000n,
  });
  assert.throws(() => expand("{".repeat(1e5) + "}".repeat(1e5)), {
    name: "BracePatternError",
    message: /nests more than 64 braces/,
  });
  assert.equal(expand("{1..1000000}")!.length, 1_000_000);
  const long = "{1..1}{a}".repeat(20_000);
  assert.equal(BracePattern.parse(long)!.first(), "1{a}".repeat(20_000));
  assert.equal(expand(long)!.length, 1);
});

/** Tokens of random patterns. */
const TOKENS = [
  ...["{", "}", ",", "..", "\\", "a", "b", "Z", "1", "03", "-2", "10"],
  ...["{1..3}", "{a,b}", "x", "/", "{0..6..3}"],
];

Deno.test({
  name: "expands like Python's braceexpand (needs braceexpand)",
  ...needs("braceexpand"),
  async fn() {
    let seed = 7;
    const next = (below: number) => {
      seed = Math.imul(seed, 1103515245) + 12345 >>> 0;
      return (seed >>> 8) % below;
    };
    const patterns = Array.from({ length: 3000 }, () =>
      Array.from(
        { length: 1 + next(11) },
        () => TOKENS[next(TOKENS.length)]!,
      ).join(""));
    patterns.push(
      "{Z..a}",
      "{z..A..7}",
      "{-5..5..3}",
      "{5..-05..2}",
      "{00..0}",
    );
    const script = `
import json, sys
from braceexpand import braceexpand, UnbalancedBracesError
for pattern in json.load(sys.stdin):
    try: print(json.dumps(list(braceexpand(pattern))))
    except UnbalancedBracesError: print("null")
`;
    const theirs = await pythonLines(script, JSON.stringify(patterns));
    assert.equal(theirs.length, patterns.length);
    let expanded = 0;
    for (const [i, pattern] of patterns.entries()) {
      const ours = expand(pattern);
      assert.deepEqual(ours ?? null, theirs[i], pattern);
      if (ours !== undefined && ours.length > 1) expanded++;
    }
    assert.ok(expanded > 200, `${expanded}`);
  },
});
