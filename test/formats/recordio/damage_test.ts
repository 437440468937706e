/** Damaged, cut and hostile files of RecordIO, and indexes that are not theirs. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import fc from "fast-check";
import { check, open, openSamples } from "../../../mod.ts";
import { FormatError } from "../../../src/base/errors.ts";
import { withTempDir } from "../../support/paths.ts";
import {
  imageRecord,
  partOf,
  recordioBytes,
  recordioIndex,
} from "../../support/recordio/make_recordio.ts";

const CONTENTS = [3, 14, 200].map((size) => new Uint8Array(size).fill(7));
const IMAGES = CONTENTS.map((content, i) => imageRecord(i, i + 5, content));

/** Writes a file and perhaps its index, and opens it. */
async function opening(
  bytes: Uint8Array,
  index: string | undefined,
  body: (path: string, warnings: string[]) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.rec`;
    fs.writeFileSync(path, bytes);
    if (index !== undefined) fs.writeFileSync(`${dir}/a.idx`, index);
    await body(path, []);
  });
}

async function labelsIn(
  path: string,
  warnings: string[] = [],
): Promise<unknown[]> {
  const onWarning = (message: string) => void warnings.push(message);
  using samples = await openSamples<{ label: number }>(path, { onWarning });
  const indices = [...Array(samples.length).keys()];
  const read = await samples.get(indices, { fields: ["label"] });
  return read.map(({ label }) => label);
}

Deno.test("of a file that is cut, with an index or without, whole records are read, and what is missing is said", async () => {
  const whole = recordioBytes(IMAGES);
  const first = partOf(IMAGES[0]!).length;
  for (const index of [undefined, recordioIndex(IMAGES)]) {
    for (const cut of [first + 4, first + 8, first + 30]) {
      await opening(whole.subarray(0, cut), index, async (path, warnings) => {
        using samples = await openSamples(path, {
          onWarning: (message) => warnings.push(message),
        });
        assert.deepEqual(await samples.get(0, { fields: ["id"] }), { id: 5 });
        if (samples.length > 1) {
          await assert.rejects(samples.read(1), { code: "bad-structure" });
        }
        assert.equal(warnings.length, 1);
        const { damage } = await check(path, { onWarning() {} });
        assert.ok(damage!.length >= 1);
      });
    }
  }
});

Deno.test("an index that is not the file's is refused, or what it lacks is said", async () => {
  const whole = recordioBytes(IMAGES);
  const right = recordioIndex(IMAGES);
  for (const wrong of ["1 0\n", "1\tx\n", "1\t4x\n", "\n", "1\t-4\n"]) {
    await opening(
      whole,
      wrong,
      (path) => assert.rejects(open(path), { code: "bad-index" }),
    );
  }
  await opening(
    whole,
    "0\t0\n".repeat(10_000),
    (path) => assert.rejects(open(path), { code: "bad-index" }),
  );
  const lacking = right.split("\n").slice(0, 2).join("\n") + "\n";
  await opening(whole, lacking, async (path, warnings) => {
    assert.deepEqual(await labelsIn(path, warnings), [0, 1]);
    assert.match(warnings[0]!, /has 2 records, .* does not end at its end/);
  });
  const between = right.replace(/^1\t.*$/m, "1\t4\n8\t8\n9\t16");
  await opening(whole, between, async (path) => {
    using tree = await open(path, { onWarning() {} });
    await assert.rejects(tree.stat("000001/image"), { code: "bad-structure" });
    using samples = await openSamples(path, { onWarning() {} });
    await assert.rejects(samples.read([1]), (error) => {
      assert.ok(error instanceof FormatError);
      assert.deepEqual([error.code, error.sample], ["bad-structure", 1]);
      return true;
    });
  });
});

Deno.test("an index may be in any order, with repeats, line ends of Windows, and keys that are texts", async () => {
  const lines = recordioIndex(IMAGES).trim().split("\n");
  const index = [lines[2], lines[0], lines[1], lines[0]]
    .map((line, i) => line!.replace(/^./, `key ${i}`)).join("\r\n");
  await opening(
    recordioBytes(IMAGES),
    `${index}\r\n`,
    async (path, warnings) => {
      assert.deepEqual(await labelsIn(path, warnings), [0, 1, 2]);
      assert.deepEqual(warnings, []);
    },
  );
});

Deno.test("hostile lengths, flags and counts of labels are errors that cost nothing", async () => {
  const labels = imageRecord(0, 1, new Uint8Array(40));
  new DataView(labels.buffer).setUint32(0, 0xffff_ffff, true);
  const long = partOf(IMAGES[0]!);
  new DataView(long.buffer).setUint32(4, 0x1fff_ffff, true);
  const middle = partOf(IMAGES[0]!, 2);
  const unended = partOf(IMAGES[0]!, 1);
  const unknown = partOf(IMAGES[0]!, 5);
  for (const bytes of [long, middle, unended, unknown]) {
    await opening(
      bytes,
      undefined,
      (path) => assert.rejects(open(path), { code: "truncated-data" }),
    );
  }
  const second = recordioBytes([IMAGES[0]!, labels, IMAGES[1]!]);
  await opening(second, undefined, async (path) => {
    using samples = await openSamples(path);
    await assert.rejects(samples.read([1]), { code: "bad-structure" });
    assert.deepEqual(await samples.get(2, { fields: ["label"] }), { label: 1 });
    const { damage } = await check(path);
    assert.equal(damage!.length, 3); // each of its files
  });
});

Deno.test("any records are read as they were written, with an index and without", async () => {
  const word = fc.constant(Uint8Array.of(0x0a, 0x23, 0xd7, 0xce));
  const piece = fc.oneof(fc.uint8Array({ maxLength: 9 }), word);
  const record = fc.array(piece, { maxLength: 5 })
    .map((pieces) => Uint8Array.from(pieces.flatMap((piece) => [...piece])));
  await fc.assert(
    fc.asyncProperty(fc.array(record, { minLength: 1 }), async (records) => {
      // Not split: readers take a record in one part whatever it holds.
      const bytes = recordioBytes(records);
      for (const index of [undefined, recordioIndex(records)]) {
        await opening(bytes, index, async (path) => {
          using samples = await openSamples(path);
          const read = await samples.read(records.keys());
          const contents = read.map(({ content }) => content);
          assert.deepEqual(contents, records);
        });
      }
    }),
    { numRuns: 20 },
  );
});
