/** Runs of names and integers in a pickle have a fast path, which must produce the same result. */
import assert from "node:assert/strict";
import fc from "../support/random.ts";
import { PickleError } from "../../src/codecs/pickle/pickle_error.ts";
import { readPickle } from "../../src/codecs/pickle/read_pickle.ts";
import { needs, PYTHON } from "../support/programs/programs.ts";

/** Reads a pickle written as text, one character a byte. */
function read(pickle: string): unknown {
  return readPickle(Uint8Array.from(pickle, (char) => char.charCodeAt(0)));
}

function item(name: string, number: string): string {
  return `\x8c${String.fromCharCode(name.length)}${name}\x94${number}`;
}

const ONE = item("one", "K\x01");
const TWO = item("two", "M\x02\x01");
const FOUR = item("four", "J\xfc\xff\xff\xff");
const FRAME = "\x95\x01\0\0\0\0\0\0\0";
const HEAD = "\x80\x04}\x94("; // the dict is memo entry 0
const RUN = [["one", 1], ["two", 258], ["four", -4]] as const;

Deno.test("a run of names equals its items", () => {
  const expected = new Map<unknown, unknown>(RUN);
  assert.deepEqual(read(`${HEAD}${ONE}${TWO}${FOUR}u.`), expected);
  const framed =
    `${FRAME}${ONE}${FRAME}\x8c\x03two\x94${FRAME}M\x02\x01${FOUR}`;
  assert.deepEqual(read(`${HEAD}${framed}u.`), expected);
  // Two batches; the second has another value too.
  const batches = `${ONE}${TWO}u(${FOUR}\x8c\x04nine\x94G\0\0\0\0\0\0\0\0u.`;
  assert.deepEqual(read(HEAD + batches), new Map([...expected, ["nine", 0]]));
});

Deno.test("the memo contains the names of a run", () => {
  const run = `${HEAD}${ONE}${TWO}${FOUR}u`;
  for (const [i, [name]] of RUN.entries()) {
    const key = String.fromCharCode(1 + i);
    assert.equal(read(`${run}0h${key}.`), name); // POP, BINGET
  }
  // The next memo entry follows the run.
  assert.equal(read(`${run}0\x8c\x04next\x940h\x04.`), "next");
  assert.throws(() => read(`${run}h\x04.`), PickleError);
  // PUT overwrites one name of the run, and leaves the others.
  const put = `${run}0\x8c\x03newq\x020`;
  assert.deepEqual(read(`${put}h\x01h\x02h\x03\x87.`), ["one", "new", "four"]);
});

Deno.test("a run that is not added to a dict is not a run of a dict", () => {
  assert.deepEqual(read(`\x80\x04](${ONE}${TWO}e.`), ["one", 1, "two", 258]);
  assert.deepEqual(read(`\x80\x04(${ONE}${TWO}d.`), new Map(RUN.slice(0, 2)));
  assert.deepEqual(read(`${HEAD}${ONE}${TWO}10\x80\x04N.`), null); // POP_MARK
  assert.throws(() => read(`\x80\x04](${ONE}${TWO}u.`), PickleError);
  assert.throws(() => read(`\x80\x04(${ONE}${TWO}u.`), PickleError);
});

Deno.test("a run that is truncated or damaged anywhere is an error", () => {
  const whole = `${HEAD}${ONE}${FRAME}${TWO}${FOUR}u.`;
  for (let length = 0; length < whole.length; length++) {
    assert.throws(() => read(whole.slice(0, length)), PickleError);
  }
  const long = whole.replace(FRAME, "\x95\xff\xff\xff\xff\xff\xff\xff\x7f");
  assert.throws(() => read(long), /a frame/);
});

Deno.test({
  name: "folders of many files are read like Python",
  ...needs("python3"),
  async fn() {
    const [count] = fc.sample(fc.integer({ min: 3000, max: 6000 }), 1);
    // Some frames of the pickle begin between a name and its integer, for any length.
    const script = `
import collections, json, pickle, sys
folder = collections.OrderedDict(("x" * (i % 251) + str(i), i * 37 - 5000) for i in range(${count}))
folder["sub"] = collections.OrderedDict((k, 7) for k in list(folder)[::3])
sys.stdout.buffer.write(pickle.dumps(folder, 4))`;
    const { stdout } = await new Deno.Command(PYTHON, {
      args: ["-c", script],
    }).output();
    const expected = new Map<string, unknown>();
    for (let i = 0; i < count!; i++) {
      expected.set("x".repeat(i % 251) + i, i * 37 - 5000);
    }
    const names = [...expected.keys()].filter((_, i) => i % 3 === 0);
    expected.set("sub", new Map(names.map((name) => [name, 7])));
    assert.deepEqual(readPickle(stdout), expected);
  },
});
