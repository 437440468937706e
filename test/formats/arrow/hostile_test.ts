/** Damaged and hostile files: errors are the project's, in words, and cost no more than the file. */
import assert from "node:assert/strict";
import { FormatError, RecordfsError } from "../../../src/base/errors.ts";
import { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";
import { openSamples } from "../../../src/open/samples/open_samples.ts";
import { check } from "../../../src/open/open.ts";
import { arrowCase, refusedFile } from "../../support/arrow/arrow_golden.ts";
import { LONG } from "../../support/long.ts";

const NAME = "x.arrow";
const QUIET = { onWarning() {} };

/** Reads all rows, one by one, and checks; returns the errors. */
async function errorsOf(
  bytes: Uint8Array<ArrayBuffer>,
): Promise<RecordfsError[]> {
  const errors: RecordfsError[] = [];
  const note = (error: unknown) => {
    if (!(error instanceof RecordfsError)) throw error;
    errors.push(error);
  };
  const storage = new MemoryStorage({ [NAME]: bytes });
  try {
    using samples = await openSamples(NAME, { storage, ...QUIET });
    for (let i = 0; i < Math.min(samples.length, 5); i++) {
      await samples.read(i).catch(note);
    }
  } catch (error) {
    note(error);
  }
  return errors;
}

function bytesOf(path: string): Uint8Array<ArrayBuffer> {
  return Deno.readFileSync(path);
}

const SMALL = [
  "nested_dictionaries_stream",
  "duplicates",
  "deltas_file",
  "replaced",
  "deltas_zstd",
  "nested_stream",
  "types_lz4",
];

for (const name of SMALL) {
  Deno.test(`${name}: whatever byte is another, errors are the project's, in words`, async () => {
    const whole = bytesOf(arrowCase(name).path);
    const step = LONG ? 1 : Math.ceil(whole.length / 80);
    for (let at = 0; at < whole.length; at += step) {
      for (const byte of [0, 0xff, whole[at]! ^ 1]) {
        const bytes = whole.slice();
        bytes[at] = byte;
        for (const { message } of await errorsOf(bytes)) {
          assert.doesNotMatch(
            message,
            /undefined|NaN|\bnull\b.*of|not a function|Invalid (array|typed)|is not (a func|iterable)|Offset is outside/,
            `byte ${at} as ${byte}: ${message}`,
          );
        }
      }
    }
  });

  Deno.test(`${name}: cut at any length, it is refused or has fewer rows`, async () => {
    const whole = bytesOf(arrowCase(name).path);
    const step = LONG ? 1 : Math.ceil(whole.length / 300);
    for (let length = 0; length < whole.length; length += step) {
      await errorsOf(whole.slice(0, length));
    }
  });
}

for (const name of ["interval", "list_view", "run_end_encoded", "union"]) {
  Deno.test(`a column of type ${name} is refused by name`, async () => {
    const [error, ...others] = await errorsOf(
      bytesOf(refusedFile(`${name}.arrow`)),
    );
    assert.deepEqual(others, []);
    assert.ok(error instanceof FormatError);
    assert.equal(error.code, "unsupported");
    assert.match(error.message, new RegExp(`'b' of type ${name},`));
  });
}

Deno.test("Feather version 1 is refused by name, whatever its file is called", async () => {
  const bytes = bytesOf(refusedFile("version_1.feather"));
  for (const name of ["x.feather", "x.bin"]) {
    const storage = new MemoryStorage({ [name]: bytes });
    await assert.rejects(
      openSamples(name, { storage, ...QUIET }),
      { code: "unsupported", message: /Feather version 1/ },
    );
  }
});

for (const name of ["dictionary", "nulls", "structs", "zeros"]) {
  Deno.test(`lists of very many ${name} from few bytes are refused before they take memory`, async () => {
    const bytes = bytesOf(refusedFile(`large_${name}.arrow`));
    const before = performance.now();
    const [error, ...others] = await errorsOf(bytes);
    assert.deepEqual(others, []);
    assert.equal(error?.code, "too-large");
    assert.ok(performance.now() - before < 10_000);
    const { heapUsed, external } = Deno.memoryUsage(); // of this thread alone
    assert.ok(heapUsed + external < 2 ** 30);
  });
}

/** Changes the little-endian number of 8 bytes that follows some bytes, wherever they are. */
function withNumber(
  whole: Uint8Array<ArrayBuffer>,
  from: bigint,
  to: bigint,
): Uint8Array<ArrayBuffer>[] {
  const made: Uint8Array<ArrayBuffer>[] = [];
  const view = new DataView(whole.buffer);
  for (let at = 0; at + 8 <= whole.length; at += 4) {
    if (view.getBigInt64(at, true) !== from) continue;
    const bytes = whole.slice();
    new DataView(bytes.buffer).setBigInt64(at, to, true);
    made.push(bytes);
  }
  return made;
}

Deno.test("counts, lengths and offsets that lie are compared with what there is", async () => {
  const whole = bytesOf(arrowCase("nested_stream").path);
  const codes = new Set<string>();
  for (const from of [1n, 4n, 16n, 64n]) {
    for (const to of [-1n, 1n << 31n, 1n << 62n]) {
      for (const bytes of withNumber(whole, from, to)) {
        for (const { code } of await errorsOf(bytes)) codes.add(code);
        // After a sound batch, it is damage of the file and no error of a row.
        const storage = new MemoryStorage({ [NAME]: bytes });
        const onDamage = ({ code }: { code: string }) => void codes.add(code);
        const options = { storage, onDamage, ...QUIET };
        await check(NAME, options).catch(() => {}); // as above
      }
    }
  }
  assert.deepEqual(
    [...codes].sort(),
    ["absurd-count", "bad-structure"],
  );
});

Deno.test("a footer that lists a batch twice, or where there is none, is refused", async () => {
  const whole = bytesOf(arrowCase("many_none").path);
  const view = new DataView(whole.buffer);
  const tail = whole.length - 10;
  const start = tail - view.getUint32(tail, true);
  const places: number[] = [];
  for (let at = start; at + 24 <= tail; at += 4) {
    const [offset, length] = [
      view.getBigInt64(at, true),
      view.getInt32(at + 8, true),
    ];
    const isPlace = offset > 0n && offset < BigInt(start) && length > 8 &&
      length < start && view.getUint32(Number(offset), true) === 0xffffffff;
    if (isPlace) places.push(at);
  }
  assert.equal(places.length, 4); // a dictionary, and three batches
  const [, first, second] = places as [number, number, number];
  const twice = whole.slice();
  twice.copyWithin(second, first, first + 24);
  const nowhere = whole.slice();
  new DataView(nowhere.buffer).setBigInt64(second, 8n, true);
  for (const bytes of [twice, nowhere]) {
    const errors = await errorsOf(bytes);
    assert.deepEqual(errors.map(({ code }) => code), ["bad-structure"]);
  }
});

Deno.test("a check tells each damaged batch, and goes on", async () => {
  const whole = bytesOf(arrowCase("many_zstd_stream").path);
  const bytes = whole.slice();
  const magic = [0x28, 0xb5, 0x2f, 0xfd];
  const frames: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    if (magic.every((byte, i) => bytes[at + i] === byte)) frames.push(at);
  }
  assert.ok(frames.length > 10);
  bytes[frames[0]!] = 0;
  bytes[frames.at(-1)!] = 0;
  const damages: string[] = [];
  await check(NAME, {
    storage: new MemoryStorage({ [NAME]: bytes }),
    onDamage: ({ message }) => void damages.push(message),
  });
  assert.ok(damages.length >= 2, damages.join("\n"));
  assert.ok(
    damages.every((message) => /column '\w+' of batch \d/.test(message)),
  );
});
