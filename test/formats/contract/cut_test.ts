/**
 * Small containers of every format that were truncated, or have a changed byte: errors are of recordfs, read bytes
 * are correct, missing data is reported, and no file remains open.
 */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { RecordfsError } from "../../../src/base/errors.ts";
import { check, open } from "../../../src/open/open.ts";
import { LONG } from "../../support/long.ts";
import { descriptorsBelowNow } from "../../support/programs/descriptors.ts";
import { filesBelow, type FormatCase, withSmall } from "./format_case.ts";
import { CASES } from "./formats.ts";

/** Number of truncated lengths, and of changed bytes, of a file in a quick run. */
const QUICK = 10;

/** Time limit of all reads together, in milliseconds. */
const PATIENCE_MS = LONG ? 600_000 : 60_000;

/** Observed content of a container that may be damaged. */
interface Seen {
  /** Bytes of its files, or the error of reading one. */
  readonly files: Map<string, string | RecordfsError>;
  /** Values that identify its samples. */
  readonly keys: (unknown | RecordfsError)[];
  /** Codes of all errors and reported damage. */
  readonly codes: Set<string>;
  /** Whether a warning was reported as well. */
  isTold: boolean;
}

/** Reads everything in a container. Errors of other classes are thrown. */
async function look(
  format: FormatCase,
  path: string,
  signal: AbortSignal,
): Promise<Seen> {
  const seen: Seen = {
    files: new Map(),
    keys: [],
    codes: new Set(),
    isTold: false,
  };
  const attempt = async <T>(call: () => Promise<T>) => {
    try {
      return await call();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RecordfsError)) throw error;
      seen.codes.add(error.code);
      return error;
    }
  };
  const onWarning = () => void (seen.isTold = true);
  const options = { format: format.name, onWarning, signal };
  await attempt(async () => {
    using shown = await open(path, options);
    for await (const entry of shown.walk("", { signal })) {
      if (!entry.isFile) continue;
      const read = await attempt(() => shown.read(entry, { signal }));
      seen.files.set(
        entry.path,
        read instanceof Uint8Array ? read.toHex() : read,
      );
    }
  });
  await attempt(async () => {
    using dataset = await format.openDataset(path, options);
    for (let i = 0; i < dataset.length; i++) {
      seen.keys.push(
        await attempt(async () => {
          const [sample] = await dataset.get([i], { signal });
          return format.keyOf(sample);
        }),
      );
    }
  });
  await attempt(() =>
    check(path, {
      ...options,
      onDamage: ({ code }) => void seen.codes.add(code),
    })
  );
  return seen;
}

/** Runs `body` with each file of a small container, and its bytes. */
function eachFile(
  format: FormatCase,
  body: (
    file: string,
    bytes: Uint8Array,
    lookAt: (bytes: Uint8Array) => Promise<Seen>,
    whole: Seen,
  ) => Promise<void>,
): Promise<void> {
  return withSmall(format, async (path, dir) => {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const whole = await look(format, path, signal);
    assert.deepEqual([...whole.codes], []);
    assert.equal(whole.isTold, false);
    for (const file of filesBelow(`${dir}/in`)) {
      const name = file.slice(`${dir}/in/`.length);
      const bytes = new Uint8Array(fs.readFileSync(file));
      const lookAt = async (bytes: Uint8Array) => {
        fs.writeFileSync(file, bytes);
        return await look(format, path, signal);
      };
      await body(name, bytes, lookAt, whole);
      fs.writeFileSync(file, bytes);
    }
    assert.equal(descriptorsBelowNow(dir), 0);
  });
}

/** Yields some or all indices below `count`, always including the first and last few. */
function* some(count: number): Generator<number> {
  const stride = LONG ? 1 : Math.max(1, Math.floor(count / QUICK));
  for (let i = 0; i < count; i++) {
    if (i % stride === 0 || i < 3 || i >= count - 3) yield i;
  }
}

/** Asserts that read data equals written data. */
function assertSound(seen: Seen, whole: Seen, what: string): void {
  for (const [path, read] of seen.files) {
    const right = whole.files.get(path);
    if (typeof read === "string" && right !== undefined) {
      assert.equal(read, right, `${what}: ${path}`);
    }
  }
  for (const [i, key] of seen.keys.entries()) {
    if (key instanceof RecordfsError) continue;
    const right = whole.keys[i];
    // Of a sample of several files, the last ones may be missing.
    const all = typeof key === "object" ? { ...right as object, ...key } : key;
    assert.deepEqual(all, right, `${what}: sample ${i}`);
  }
}

for (const [title, format] of CASES) {
  Deno.test(`${title}: of a truncated file, read data is correct, and missing data is reported`, async () => {
    const codes = new Set<string>();
    const silent: string[] = [];
    await eachFile(format, async (file, bytes, lookAt, whole) => {
      for (const length of some(bytes.length)) {
        const seen = await lookAt(bytes.subarray(0, length));
        assertSound(seen, whole, `${file} cut after ${length}`);
        for (const code of seen.codes) codes.add(code);
        if (seen.codes.size === 0 && !seen.isTold) {
          silent.push(`${file} ${length}`);
        }
      }
    });
    const unknown = [...codes].filter((code) => !format.cuts.includes(code));
    assert.deepEqual(unknown, []);
    const untold = (cut: string) => !format.soundCuts?.includes(cut);
    assert.deepEqual(silent.filter(untold), []);
    if (LONG) {
      assert.deepEqual([...codes].sort(), format.cuts);
      assert.deepEqual(silent, format.soundCuts ?? []);
    }
  });

  Deno.test(`${title}: a changed byte is an error of recordfs, or is read unchanged`, async () => {
    let dice = 1;
    await eachFile(format, async (file, bytes, lookAt, whole) => {
      for (const at of some(bytes.length)) {
        dice = Math.imul(dice, 1103515245) + 12345 >>> 0;
        const changed = bytes.slice();
        changed[at]! ^= (dice >>> 16) % 255 + 1;
        const seen = await lookAt(changed);
        const what = `${file} with ${changed[at]} at byte ${at}`;
        if (format.isSummed) assertSound(seen, whole, what);
      }
    });
  });
}
