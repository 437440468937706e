import assert from "node:assert/strict";
import fc from "../support/random.ts";
import {
  type PickledValue,
  readPickle,
} from "../../src/codecs/pickle/read_pickle.ts";
import { ByteReader } from "../../src/codecs/pickle/byte_reader.ts";
import { PickleError } from "../../src/codecs/pickle/pickle_error.ts";
import { FULL } from "../support/long.ts";
import { cpuTime } from "../support/programs/cpu_time.ts";
import { needs, PYTHON } from "../support/programs/programs.ts";

/** Pickles each line of JSON in all protocols; `$` marks values that JSON cannot represent. */
const PICKLER = `
import base64, collections, io, json, pickle, sys
def build(v):
    if isinstance(v, list): return [build(x) for x in v]
    if not isinstance(v, dict): return v
    (kind, x), = v.items()
    if kind == '$map': return {build(k): build(y) for k, y in x}
    if kind == '$ordered': return collections.OrderedDict((build(k), build(y)) for k, y in x)
    if kind == '$tuple': return tuple(build(y) for y in x)
    if kind == '$set': return set(x)
    if kind == '$frozenset': return frozenset(x)
    if kind == '$bytes': return bytes(x)
    if kind == '$bytearray': return bytearray(x)
    if kind == '$int': return int(x)
    if kind == '$float': return float(x)
for line in sys.stdin:
    value = build(json.loads(line))
    out = []
    for protocol in range(6):
        out.append(base64.b64encode(pickle.dumps(value, protocol)).decode())
        f = io.BytesIO(); pickle._Pickler(f, protocol).dump(value)
        out.append(base64.b64encode(f.getvalue()).decode())
    print(json.dumps(out), flush=True)
`;

async function pythonPickles(
  values: readonly unknown[],
): Promise<Uint8Array[][]> {
  const child = new Deno.Command(PYTHON, {
    args: ["-c", PICKLER],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  const lines = values.map((value) => JSON.stringify(value) + "\n").join("");
  const written = writer.write(new TextEncoder().encode(lines))
    .then(() => writer.close());
  const { stdout, success } = await child.output();
  await written;
  assert.ok(success);
  return new TextDecoder().decode(stdout).trim().split("\n").map((line) =>
    (JSON.parse(line) as string[]).map((base64) =>
      Uint8Array.fromBase64(base64)
    )
  );
}

/** Returns the expected result of {@linkcode readPickle} for a value in PICKLER's notation. */
function expected(value: unknown): PickledValue {
  if (Array.isArray(value)) return value.map(expected);
  if (typeof value !== "object" || value === null) return value as PickledValue;
  const [[kind, x]] = Object.entries(value) as [[string, never]];
  switch (kind) {
    case "$map":
    case "$ordered":
      return new Map(
        (x as [unknown, unknown][]).map(([k, v]) => [expected(k), expected(v)]),
      );
    case "$tuple":
      return (x as unknown[]).map(expected);
    case "$set":
    case "$frozenset":
      return new Set(x as PickledValue[]);
    case "$bytes":
    case "$bytearray":
      return Uint8Array.from(x as number[]);
    case "$int": {
      const big = BigInt(x as string);
      return Number.isSafeInteger(Number(big)) ? Number(big) : big;
    }
    default:
      return { inf: Infinity, "-inf": -Infinity, nan: NaN }[x as string]!;
  }
}

const scalar = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, "", { $float: "inf" }, {
    $float: "-inf",
  }, { $float: "nan" }),
  fc.integer({ min: -(2 ** 33), max: 2 ** 33 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((x) =>
    !Number.isInteger(x)
  ),
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.bigInt({ min: -(2n ** 300n), max: 2n ** 300n }).map((x) => ({
    $int: String(x),
  })),
);
const { value } = fc.letrec((tie) => {
  const many = { maxLength: 6 };
  const pairs = fc.uniqueArray(
    fc.tuple(fc.oneof(fc.string(), fc.integer()), tie("value")),
    {
      ...many,
      selector: ([key]) => key,
    },
  );
  return {
    value: fc.oneof(
      { maxDepth: 4 },
      scalar,
      fc.array(tie("value"), many),
      pairs.map((x) => ({ $map: x })),
      pairs.map((x) => ({ $ordered: x })),
      fc.array(tie("value"), many).map((x) => ({ $tuple: x })),
    ),
  };
});

Deno.test({
  name:
    "readPickle() reads pickles of Python, in every protocol, by both picklers",
  ...needs("python3"),
  async fn() {
    const values = [
      ...fc.sample(value, 200),
      Array.from({ length: 2500 }, (_, i) => i),
      { $map: Array.from({ length: 2500 }, (_, i) => [`key ${i}`, i * 1000]) },
      "long ".repeat(40_000),
      "\\u0041 \\ \\\\u0041 \n \r \0 é 😀 \ud800",
      ["same", "same"],
      { $int: "9007199254740993" },
      { $int: "-1" },
      { $int: "-32768" },
      { $int: String(-(2n ** 47n)) },
      { $tuple: [] },
      { $tuple: [1] },
      { $tuple: [1, { $tuple: [2, 3] }, { $tuple: [4, 5, 6] }, 7] },
    ];
    const pickles = await pythonPickles(values);
    values.forEach((value, i) => {
      for (const pickle of pickles[i]!) {
        assert.deepEqual(
          readPickle(pickle),
          expected(value),
          JSON.stringify(value),
        );
      }
    });
  },
});

Deno.test({
  name: "readPickle() reads bytes and sets from protocol 4 on",
  ...needs("python3"),
  async fn() {
    const values = [
      { $bytes: [] },
      { $bytes: Array.from({ length: 256 }, (_, i) => i) },
      { $bytes: Array.from({ length: 70_000 }, (_, i) => i & 255) },
      { $set: [1, 2, 3] },
      { $frozenset: ["a", "b"] },
    ];
    const pickles = await pythonPickles(values);
    values.forEach((value, i) => {
      for (const pickle of pickles[i]!.slice(8)) { // two picklers a protocol
        assert.deepEqual(readPickle(pickle), expected(value));
      }
    });
    const [arrays] = await pythonPickles([{ $bytearray: [1, 2, 255] }]);
    assert.deepEqual(readPickle(arrays![10]!), Uint8Array.of(1, 2, 255)); // protocol 5
  },
});

Deno.test("readPickle() preserves shared and cyclic structure", () => {
  const bytes = new TextEncoder().encode("(lp0\ng0\na."); // a list that contains itself
  const list = readPickle(bytes) as PickledValue[];
  assert.equal(list.length, 1);
  assert.equal(list[0], list);
});

Deno.test("Python 2 pickles: byte strings, and OrderedDict from a list of pairs", () => {
  const bytes = (text: string) =>
    Uint8Array.from(text, (char) => char.charCodeAt(0));
  assert.equal(readPickle(bytes("S'it\\'s \\x41\\n'\np0\n.")), "it's A\n");
  assert.equal(readPickle(bytes("U\x03abc.")), "abc");
  const ordered =
    "ccollections\nOrderedDict\n((l(lS'a'\naI1\naa(lS'b'\naI2\naatR.";
  assert.deepEqual(readPickle(bytes(ordered)), new Map([["a", 1], ["b", 2]]));
  assert.throws(() => readPickle(bytes("U\x01\xe9.")), /not ASCII/);
});

Deno.test("random bytes only throw PickleError or return", () => {
  const opcode = fc.constantFrom(
    ...[..."()N.012BCFGIJKLMPQRSTUVX]abcdeghijloprqstu}"].map((c) =>
      c.charCodeAt(0)
    ),
    ...Array.from({ length: 0x99 - 0x80 }, (_, i) => 0x80 + i),
  );
  const program = fc.array(fc.oneof(opcode, fc.nat(255), fc.nat(3)), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(program, (codes) => {
      try {
        readPickle(Uint8Array.from(codes));
      } catch (error) {
        assert.ok(error instanceof PickleError, String(error));
        assert.ok(error.offset >= 0 && error.offset <= codes.length);
      }
    }),
    { numRuns: FULL ? 20_000 : 5000 },
  );
});

Deno.test("nothing is allocated from an unchecked length", () => {
  const cases: [number[], RegExp][] = [
    [[0x8b, 0xff, 0xff, 0xff, 0x7f, 0x2e], /integer of 2147483647 bytes/],
    [[0x4e, 0x72, 0xff, 0xff, 0xff, 0xff, 0x2e], /memo entry 4294967295/],
    [[0x8e, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x2e], /truncated/],
    [[0x49, ...new Array(5000).fill(0x39), 0x0a, 0x2e], /not an integer/],
  ];
  for (const [codes, pattern] of cases) {
    assert.throws(() => readPickle(Uint8Array.from(codes)), pattern);
  }
});

Deno.test("pickles that would run code are rejected by name", () => {
  const cases: [string, RegExp][] = [
    ["cos\nsystem\n(S'true'\ntR.", /refused to execute os\.system/],
    ["(S'true'\nios\nsystem\n.", /refused to execute os\.system/],
    ["ccollections\nOrderedDict\n)R}b.", /BUILD/],
    [
      "ccollections\nOrderedDict\n(I1\nI2\ntR.",
      /OrderedDict with other arguments/,
    ],
    ["Pperson\n.", /PERSID/],
    ["\x82\x01.", /EXT1/],
    ["ccollections\nOrderedDict\n.", /a class/],
  ];
  for (const [pickle, pattern] of cases) {
    const bytes = Uint8Array.from(pickle, (char) => char.charCodeAt(0));
    assert.throws(
      () => readPickle(bytes),
      (error) =>
        error instanceof PickleError && error.code === "unsafe-pickle" &&
        pattern.test(error.message),
      pickle,
    );
  }
});

Deno.test("a short pickle takes little time and memory", () => {
  const latin1 = (text: string) =>
    Uint8Array.from(text, (char) => char.charCodeAt(0));
  const pairs = "K\x01K\x02\x86".repeat(5000);
  const cases: [string, string, RegExp | undefined][] = [
    ["backslashes", `V${"\\".repeat(1_000_000)}\n.`, undefined],
    [
      "one list made into many dicts",
      "\x80\x02ccollections\nOrderedDict\nq\0]q\x01(" + pairs +
      "eq\x020" + "h\0h\x01\x85R0".repeat(60_000) + "N.",
      /many dicts/,
    ],
    [
      "one string named many times",
      "\x80\x04](B\x40\x42\x0f\0" + "a".repeat(1_000_000) + "\x94" +
      "h\0".repeat(100_000) + "e.",
      undefined,
    ],
    ["empty tuples", ")".repeat(2_000_000) + ".", undefined],
  ];
  for (const [name, pickle, refusal] of cases) {
    const bytes = latin1(pickle);
    const before = Deno.memoryUsage().rss;
    const start = cpuTime();
    if (refusal === undefined) readPickle(bytes);
    else assert.throws(() => readPickle(bytes), refusal);
    const seconds = cpuTime() - start;
    // A hundred times the usual time; the bugs that this guards against took minutes and gigabytes.
    assert.ok(seconds < 10, `${name}: ${seconds} s`);
    const grown = Deno.memoryUsage().rss - before;
    assert.ok(grown < 500e6, `${name}: ${grown} bytes`);
  }
});

Deno.test("MEMOIZE numbers entries by how many are set, like Python", () => {
  // PUT 7 'a', then MEMOIZE 'b' is entry 1; GET 1 is 'b'
  const pickle = "\x80\x04\x8c\x01aq\x07\x8c\x01b\x94h\x01\x86.";
  const bytes = Uint8Array.from(pickle, (char) => char.charCodeAt(0));
  assert.deepEqual(readPickle(bytes), ["b", "b"]);
});

Deno.test("a pickle too long for its offsets is rejected before it is read", () => {
  // Code compiled by V8 15.0 for short arrays only treats a length of 2^31 as negative.
  for (let i = 0; i < 20_000; i++) new ByteReader(new Uint8Array(i % 7));
  const sparse = new Uint8Array(2 ** 31); // never touched
  assert.throws(() => readPickle(sparse), {
    code: "bad-pickle",
    message: /2147483648 bytes, more than the limit of 2 GiB/,
  });
});
