import assert from "node:assert/strict";
import fc from "../support/random.ts";
import {
  type NdArray,
  NumpyError,
  readNpy,
  writeNpy,
} from "../../src/codecs/numpy/mod.ts";
import { needs, PYTHON } from "../support/programs/programs.ts";

/** Prints arrays as written by numpy.save, with their content. */
const ARRAYS = `
import base64, io, json, numpy as np
def out(name, a, version=None):
    f = io.BytesIO()
    np.lib.format.write_array(f, a, version=version)
    a = np.ascontiguousarray(a).reshape(a.shape).astype(a.dtype.newbyteorder('<'))
    print(json.dumps([name, base64.b64encode(f.getvalue()).decode(), a.dtype.str, a.shape,
        a.reshape(-1).tolist() if a.dtype.kind == 'U' else base64.b64encode(a.tobytes()).decode()]))
rng = np.random.default_rng(1)
for kind in 'b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 M8[ns] m8[s] M8[25D] S5 V3 U4'.split():
    for order in '<>':
        for shape in [(), (0,), (1,), (7,), (2, 3), (3, 0, 2), (2, 3, 4), (1, 5, 1, 2)]:
            count = int(np.prod(shape, dtype=int))
            dtype = np.dtype(order + kind)
            if dtype.kind == 'U':
                texts = ['', 'a', 'été', '😀b', '\\ud800', 'four', 'a\\0b']
                a = np.array([texts[i % 7] for i in range(count)], dtype)
            elif dtype.kind == 'b': a = rng.integers(0, 2, count).astype(dtype)
            else: a = np.frombuffer(rng.bytes(count * dtype.itemsize), dtype)
            a = a.reshape(shape)
            out(f'{order}{kind} {shape}', a)
            if len(shape) > 1: out(f'{order}{kind} {shape} fortran', np.asfortranarray(a))
out('version 2', np.arange(5, dtype='<i4'), (2, 0))
out('version 3', np.arange(5, dtype='<i4'), (3, 0))
out('aligned for many rows', np.zeros((10**5, 2), '<u2'))
`;

/** Loads each line's file, and prints numpy's content. */
const LOADER = `
import base64, io, json, sys, numpy as np
for line in sys.stdin:
    a = np.load(io.BytesIO(base64.b64decode(line)))
    print(json.dumps([a.dtype.str, a.shape, a.flags.c_contiguous,
        a.reshape(-1).tolist() if a.dtype.kind == 'U' else base64.b64encode(a.tobytes()).decode()]))
`;

async function python(script: string, input = ""): Promise<unknown[]> {
  const child = new Deno.Command(PYTHON, {
    args: ["-c", script],
    env: { PYTHONIOENCODING: "utf-8" },
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const written = ReadableStream.from([new TextEncoder().encode(input)])
    .pipeTo(child.stdin);
  const { stdout, success } = await child.output();
  await written;
  assert.ok(success);
  return new TextDecoder().decode(stdout).trim().split("\n")
    .map((line) => JSON.parse(line));
}

/** Returns the elements as base64, or the texts. */
function content({ data }: Pick<NdArray, "data">): string | string[] {
  return Array.isArray(data)
    ? data
    : new Uint8Array(data.buffer, data.byteOffset, data.byteLength).toBase64();
}

/** Returns a file with this header, according to the format's description. */
function npyFile(header: string, data: readonly number[] = []): Uint8Array {
  const text = new TextEncoder().encode(header);
  const start = [0x93, 78, 85, 77, 80, 89, 1, 0, text.length & 255];
  return Uint8Array.of(...start, text.length >> 8, ...text, ...data);
}

const SHORT = "{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }";

Deno.test({
  name:
    "arrays that numpy writes, of every type, order and shape (needs numpy)",
  ...needs("python3", "numpy"),
  async fn() {
    const cases = await python(ARRAYS) as [
      string,
      string,
      string,
      number[],
      string | string[],
    ][];
    assert.ok(cases.length > 400);
    for (const [name, file, dtype, shape, expected] of cases) {
      const array = readNpy(Uint8Array.fromBase64(file));
      assert.equal(array.dtype, dtype, name);
      assert.deepEqual(array.shape, shape, name);
      assert.deepEqual(content(array), expected, name);
    }
  },
});

Deno.test("each type has its class", () => {
  const classes: Record<string, unknown> = {
    "|b1": Uint8Array,
    "|i1": Int8Array,
    "<u2": Uint16Array,
    "<f2": Float16Array,
    "<f4": Float32Array,
    "<c16": Float64Array,
    "<i8": BigInt64Array,
    "<M8[us]": BigInt64Array,
    "<u8": BigUint64Array,
    "|S9": Uint8Array,
    "<U2": Array,
  };
  for (const [dtype, made] of Object.entries(classes)) {
    const header = `{'descr':'${dtype}','fortran_order':False,'shape':(0,)}`;
    const { data } = readNpy(npyFile(header));
    assert.equal(data.constructor, made, dtype);
  }
});

Deno.test("headers of other writers than numpy are read", () => {
  for (
    const header of [
      `{"shape": (2L,), "fortran_order": False, "descr": "<u2"}`,
      ` { 'fortran_order' : False,'descr':'<u2' ,'shape':( 2 , ) , } \n\n`,
    ]
  ) {
    const array = readNpy(npyFile(header, [1, 0, 2, 1]));
    assert.deepEqual(array, {
      dtype: "<u2",
      shape: [2],
      data: Uint16Array.of(1, 258),
    });
  }
});

Deno.test("memory is shared if the elements are aligned and in native order", () => {
  const file = writeNpy({ data: Uint16Array.of(1, 2, 3) });
  const shared = readNpy(file).data as Uint16Array;
  file[file.length - 2] = 9;
  assert.equal(shared[2], 9);

  const shifted = new Uint8Array(file.length + 1);
  shifted.set(file, 1);
  const copied = readNpy(shifted.subarray(1)).data as Uint16Array;
  shifted[shifted.length - 2] = 7;
  assert.deepEqual(copied, Uint16Array.of(1, 2, 9));
});

Deno.test("a big-endian array does not change the bytes it was read from", () => {
  const header = SHORT.replace("<", ">");
  const file = npyFile(header, [1, 0, 2, 1]);
  const before = file.slice();
  assert.deepEqual(readNpy(file).data, Uint16Array.of(256, 513));
  assert.deepEqual(file, before);
});

Deno.test("damaged files are rejected, wherever they are truncated or changed", () => {
  const sound = npyFile(SHORT, [1, 0, 2, 0]);
  assert.deepEqual(readNpy(sound).data, Uint16Array.of(1, 2));
  for (let length = 0; length < sound.length; length++) {
    assertRefused(sound.subarray(0, length), "bad-npy");
  }
  assertRefused(Uint8Array.of(...sound, 0), "bad-npy");
  for (
    const header of [
      "",
      "{",
      "{}",
      "[]",
      SHORT.replace("(2,)", "(3,)"),
      SHORT.replace("(2,)", "(2,,)"),
      SHORT.replace("(2,)", "(-2,)"),
      SHORT.replace("(2,)", "(1 0,)"),
      SHORT.replace("(2,)", "(9007199254740993, 9007199254740993)"),
      SHORT.replace("(2,)", `(${"1,".repeat(65)})`),
      SHORT.replace("(2,)", "2"),
      SHORT.replace("False", "'False'"),
      SHORT.replace("'<u2'", "True"),
      SHORT.replace("'shape'", "'form'"),
      SHORT + "x",
    ]
  ) {
    assertRefused(npyFile(header, [1, 0, 2, 0]), "bad-npy");
  }
  fc.assert(fc.property(
    fc.array(fc.tuple(fc.nat(sound.length - 1), fc.nat(255)), { minLength: 1 }),
    (changes) => {
      const file = sound.slice();
      for (const [at, byte] of changes) file[at] = byte;
      try {
        readNpy(file);
      } catch (error) {
        assert.ok(error instanceof NumpyError, String(error));
      }
    },
  ));
});

Deno.test("types that only Python can hold are rejected by name", () => {
  for (const dtype of ["|O", "<f16", "<c32", "<u3", "=i4", "<q8", "<U0"]) {
    const header = `{'descr':'${dtype}','fortran_order':False,'shape':(0,)}`;
    assertRefused(npyFile(header), "unsupported-dtype", dtype);
  }
  assertRefused(
    npyFile(
      "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (0,), }",
    ),
    "unsupported-dtype",
    "fields",
  );
});

function assertRefused(
  file: Uint8Array,
  code: NumpyError["code"],
  mentions = "",
): void {
  assert.throws(
    () => readNpy(file),
    (error) =>
      error instanceof NumpyError && error.code === code &&
      error.message.includes(mentions),
  );
}

/** Arrays of every type that has a class, with up to three dimensions. */
const anyArray: fc.Arbitrary<NdArray> = fc.tuple(
  fc.array(fc.nat(4), { maxLength: 3 }),
  fc.constantFrom(
    ...["|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2"],
    ...["<f4", "<f8", "<c8", "<c16", "<M8[ns]", "|S3", "|V7", "<U3"],
  ),
  fc.infiniteStream(fc.nat(255)),
  fc.infiniteStream(
    // numpy can't distinguish a trailing NUL from padding.
    fc.string({ unit: "binary", maxLength: 3 })
      .map((text) => text.replace(/\0+$/, "")),
  ),
).map(([shape, dtype, bytes, texts]) => {
  const count = shape.reduce((product, length) => product * length, 1);
  if (dtype === "<U3") {
    return { dtype, shape, data: [...texts.take(count)] };
  }
  const itemSize = Number(/\d+/.exec(dtype)![0]);
  const elements = [...bytes.take(count * itemSize)]
    .map((byte) => dtype === "|b1" ? byte & 1 : byte);
  const header = `{'descr':'${dtype}','fortran_order':False,'shape':(${
    shape.map((length) => `${length},`).join("")
  })}`;
  return readNpy(npyFile(header, elements));
});

Deno.test("written arrays are read back the same", () => {
  fc.assert(fc.property(anyArray, (array) => {
    const back = readNpy(writeNpy(array));
    assert.deepEqual([back.dtype, back.shape], [array.dtype, array.shape]);
    assert.deepEqual(content(back), content(array)); // compared as bytes, since NaN has many encodings
  }));
});

Deno.test({
  name: "numpy loads written arrays (needs numpy)",
  ...needs("python3", "numpy"),
  async fn() {
    const arrays = fc.sample(anyArray, 300);
    const files = arrays.map((array) => writeNpy(array).toBase64() + "\n");
    const loaded = await python(LOADER, files.join(""));
    arrays.forEach((array, i) => {
      const { dtype, shape } = array;
      assert.deepEqual(loaded[i], [dtype, shape, true, content(array)]);
    });
  },
});

Deno.test("shape and type follow from the elements", () => {
  const read = (data: NdArray["data"]) => readNpy(writeNpy({ data }));
  assert.deepEqual(read(["a", "été"]), {
    dtype: "<U3",
    shape: [2],
    data: ["a", "été"],
  });
  assert.equal(read([]).dtype, "<U1");
  assert.equal(read(new Float16Array(3)).dtype, "<f2");
  assert.equal(read(Int8Array.of(-1)).dtype, "|i1");
  const part = Float64Array.of(1, 2, 3).subarray(1);
  assert.deepEqual(read(part).data, Float64Array.of(2, 3));
});

Deno.test("data that do not fit shape or type are rejected", () => {
  for (
    const array of [
      { data: Uint8Array.of(1, 2), shape: [3] },
      { data: Uint8Array.of(1, 2), shape: [-2] },
      { data: Uint8Array.of(1, 2), shape: [0.5, 4] },
      { data: Uint8Array.of(1, 2), dtype: "<u2" },
      { data: Uint16Array.of(1, 2), dtype: ">u2" },
      { data: Float32Array.of(1), dtype: "<c8" },
      { data: Uint8Array.of(1), dtype: "<U1" },
      { data: ["long"], dtype: "<U3" },
      { data: ["a"], dtype: "|S1" },
      { data: new Uint8ClampedArray(1) as unknown as Uint8Array },
      { data: Uint8Array.of(1), shape: Array.from({ length: 65 }, () => 1) },
    ]
  ) {
    assert.throws(() => writeNpy(array), TypeError);
  }
});
