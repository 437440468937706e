import assert from "node:assert/strict";
import { LONG } from "../support/long.ts";
import fc from "../support/random.ts";
import {
  type PickledValue,
  readPickle,
} from "../../src/codecs/pickle/read_pickle.ts";
import {
  type PickleableValue,
  writePickle,
} from "../../src/codecs/pickle/write_pickle.ts";
import { needs, PYTHON } from "../support/programs/programs.ts";

/** Unpickles each base64 line, and prints types and values unambiguously. */
const UNPICKLER = `
import base64, pickle, struct, sys
sys.set_int_max_str_digits(0) if hasattr(sys, 'set_int_max_str_digits') else None
def show(v):
    kind = type(v).__name__
    if v is None or kind == 'bool': return str(v)
    if kind == 'int': return 'int:%x' % v
    if kind == 'float': return 'float:' + ('nan' if v != v else struct.pack('>d', v).hex())
    if kind == 'str': return 'str:' + v.encode('utf-16-le', 'surrogatepass').hex()
    if kind == 'bytes': return 'bytes:' + v.hex()
    if kind in ('list', 'tuple'): return kind + '(' + ','.join(map(show, v)) + ')'
    if kind in ('set', 'frozenset'): return kind + '(' + ','.join(sorted(map(show, v))) + ')'
    if kind == 'dict': return 'dict(' + ','.join(show(k) + '=' + show(x) for k, x in v.items()) + ')'
    raise TypeError(kind)
for line in sys.stdin:
    print(show(pickle.loads(base64.b64decode(line))))
`;

async function python(
  program: string,
  pickles: readonly Uint8Array[],
): Promise<string[]> {
  const child = new Deno.Command(PYTHON, {
    args: ["-c", program],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const input = pickles.map((bytes) => `${bytes.toBase64()}\n`).join("");
  const writing = new Blob([input]).stream().pipeTo(child.stdin);
  const { stdout, success } = await child.output();
  await writing;
  assert.ok(success);
  return new TextDecoder().decode(stdout).split("\n").slice(0, -1);
}

/** Returns the expected output of Python for a value; `isKey` if it must be hashable. */
function shown(value: PickleableValue, isKey = false): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "bigint") return `int:${value.toString(16)}`;
  if (typeof value === "number") {
    const isInt = Number.isSafeInteger(value) && !Object.is(value, -0);
    if (isInt) return shown(BigInt(value));
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, value);
    return `float:${
      Number.isNaN(value) ? "nan" : new Uint8Array(view.buffer).toHex()
    }`;
  }
  if (typeof value === "string") {
    const units = Array.from({ length: value.length }, (_, i) => i);
    const utf16 = Uint16Array.from(units, (i) => value.charCodeAt(i));
    return `str:${new Uint8Array(utf16.buffer).toHex()}`;
  }
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) {
    return shown(new Uint8Array(value));
  }
  if (value instanceof Uint8Array) {
    return `bytes:${Uint8Array.from(value).toHex()}`;
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => shown(item, isKey));
    return `${isKey ? "tuple" : "list"}(${items.join(",")})`;
  }
  if (value instanceof Set) {
    const items = [...value].map((item) => shown(item, true)).sort();
    return `${isKey ? "frozenset" : "set"}(${items.join(",")})`;
  }
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  const items = entries.map(([key, x]) => `${shown(key, true)}=${shown(x)}`);
  return `dict(${items.join(",")})`;
}

/** Returns the expected result of readPickle() for a written value. */
function reread(value: PickleableValue): PickledValue {
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) {
    return new Uint8Array(value).slice();
  }
  if (typeof value === "bigint") {
    return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  if (Array.isArray(value)) return value.map(reread);
  if (value instanceof Set) return new Set([...value].map(reread));
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return new Map(entries.map(([key, x]) => [reread(key), reread(x)]));
}

const bigint = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
  fc.tuple(fc.nat(3000), fc.constantFrom(-1n, 0n, 1n), fc.boolean())
    .map(([bits, more, minus]) =>
      (minus ? -1n : 1n) * (1n << BigInt(bits)) + more
    ),
);
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 400 }),
  fc.array(fc.nat(0xffff), { maxLength: 9 })
    .map((units) => String.fromCharCode(...units)), // includes lone surrogates
);
const bytes = fc.uint8Array({ maxLength: 400 });
const { value } = fc.letrec<
  { key: PickleableValue; value: PickleableValue }
>(
  (tie) => {
    const few = { maxLength: 5 };
    return {
      key: fc.oneof(
        { maxDepth: 2 },
        text,
        fc.integer(),
        fc.double({ noNaN: true }),
        fc.constant(null),
        fc.array(tie("key"), few),
      ),
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, true, false),
        fc.integer(),
        fc.maxSafeInteger(),
        fc.double(),
        bigint,
        text,
        bytes,
        bytes.map(({ buffer }) => buffer),
        fc.array(tie("value"), few),
        fc.uniqueArray(fc.oneof(text, fc.integer()), few)
          .map((items) => new Set<PickleableValue>(items)),
        fc.uniqueArray(fc.tuple(tie("key"), tie("value")), {
          ...few,
          // Arrays that are different keys here may be equal in Python.
          selector: ([key]) =>
            shown(key, true).replace(/^float:-?0*$/, "int:0"),
        }).map((entries) => new Map(entries)),
        fc.dictionary(text, tie("value"), { maxKeys: 5 }),
      ),
    };
  },
);
Deno.test({
  name: "Python reads what writePickle() writes",
  ...needs("python3"),
  async fn() {
    const values: PickleableValue[] = [
      ...fc.sample(value, 500),
      [0, 255, 256, 65_535, 65_536, 2 ** 31 - 1, 2 ** 31, -1, -(2 ** 31)],
      [-(2 ** 31) - 1, 2 ** 53 - 1, 1 - 2 ** 53, 2 ** 53, -0, NaN, -Infinity],
      [127n, 128n, -128n, -129n, 2n ** 63n, -(2n ** 63n), -(2n ** 31n) - 1n],
      [2n ** 2039n - 1n, 2n ** 2039n, -(2n ** 2039n), 2n ** 100_000n],
      "a".repeat(255) + "é",
      "x".repeat(100_000),
      new Uint8Array(70_000).fill(3),
      Array.from({ length: 2001 }, (_, i) => i),
      new Map(Array.from({ length: 2001 }, (_, i) => [`key ${i}`, i])),
      new Set(Array.from({ length: 2001 }, (_, i) => i)),
      Array.from(
        { length: 1000 },
        (_, i) => ({ id: i, name: `n${i}`, at: [] }),
      ),
      new Set<PickleableValue>([null, [1, [2, new Set([3])]], "a", []]),
      Object.create(null),
    ];
    const pickles = values.map((value) => writePickle(value));
    assert.deepEqual(
      await python(UNPICKLER, pickles),
      values.map((value) => shown(value)),
    );
  },
});

Deno.test("readPickle() restores the values of writePickle()", () => {
  fc.assert(
    fc.property(value, (value) => {
      assert.deepEqual(readPickle(writePickle(value)), reread(value));
    }),
    { numRuns: LONG ? 500 : 150 },
  );
});

Deno.test({
  name: "deeply nested values are written, and shared ones remain shared",
  ...needs("python3"),
  async fn() {
    let deep: PickleableValue = [];
    for (let i = 0; i < 100_000; i++) deep = i % 2 === 0 ? [deep] : { a: deep };
    let doubled: PickleableValue = ["leaf"];
    for (let i = 0; i < 50; i++) doubled = [doubled, doubled]; // 2^50 leaves
    const program = `
import base64, pickle, sys
deep, doubled = [pickle.loads(base64.b64decode(line)) for line in sys.stdin]
levels = 0
while deep:
    deep = deep[0] if type(deep) is list else deep['a']
    levels += 1
print(levels)
levels = 0
while len(doubled) == 2:
    assert doubled[0] is doubled[1]
    doubled = doubled[0]
    levels += 1
print(levels, flush=True)
import os; os._exit(0) # freeing what nests so deep is not what is tested
`;
    const pickles = [writePickle(deep), writePickle(doubled)];
    assert.deepEqual(await python(program, pickles), ["100000", "50"]);
    const again = readPickle(pickles[1]!) as PickledValue[][];
    assert.equal(again[0], again[1]);
  },
});

Deno.test("anything but plain data is rejected by name and position", () => {
  const cycle: unknown[] = [];
  cycle.push({ again: cycle });
  const own = new Set<unknown>();
  own.add([own]);
  const lost = new Uint8Array(3);
  structuredClone(lost, { transfer: [lost.buffer] });
  const refused: [unknown, RegExp][] = [
    [undefined, /undefined, at value:/],
    [() => 1, /a function, at value:/],
    [Symbol("a"), /a symbol/],
    [{ a: [1, new Date()] }, /Date, at value\["a"\]\[1\]:/],
    [new Map([[{ b: 1 }, 1]]), /an object as a key/],
    [new Map([["a", new Map([[7, [undefined]]])]]), /\["a"\]\[7\]\[0\]/],
    [[, 1], /undefined, at value\[0\]/],
    [[new (class Thing {})()], /Thing, at value\[0\]/],
    [/x/, /RegExp/],
    [Promise.resolve(), /Promise/],
    [new WeakMap(), /WeakMap/],
    [new Float32Array(2), /Float32Array/],
    [new DataView(new ArrayBuffer(2)), /DataView/],
    [Object(1n), /BigInt/],
    [{ [Symbol.iterator]: 1 }, /symbols as keys/],
    [new Set([new Map()]), /a Map as a key/],
    [cycle, /contains itself, at value\[0\]\["again"\]/],
    [own, /contains itself/],
    [lost, /its memory was transferred/],
  ];
  for (const [value, message] of refused) {
    assert.throws(
      () => writePickle(value as PickleableValue),
      { name: "TypeError", message },
    );
  }
});

Deno.test("keys that are equal in Python are rejected: a dict would lose one", () => {
  const equal: PickleableValue[][] = [
    [1, true],
    [0, false],
    [5, 5n],
    [2 ** 60, 2n ** 60n],
    [[1, "a"], [1, "a"]],
    [[1, [2]], [true, [2n]]],
    [Uint8Array.of(1), Uint8Array.of(1)],
    [new Set([1, 2]), new Set([2, 1])],
  ];
  for (const keys of equal) {
    const message = /two keys are equal in Python/;
    assert.throws(() => writePickle(new Set(keys)), { message });
    const map = new Map(keys.map((key) => [key, null]));
    assert.throws(() => writePickle([map]), { message });
  }
  const different = [
    "1",
    1,
    null,
    "None",
    [1],
    ["1"],
    Uint8Array.of(49),
    false,
  ];
  const set = readPickle(writePickle(new Set(different))) as Set<unknown>;
  assert.equal(set.size, different.length);
});
