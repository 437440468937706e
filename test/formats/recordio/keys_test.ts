/** Names of samples by the keys of an index, and files next to samples: of one file and of shards. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import fc from "fast-check";
import { open, openSamples } from "../../../mod.ts";
import { withTempDir } from "../../support/paths.ts";
import {
  imageRecord,
  partOf,
  recordioBytes,
} from "../../support/recordio/make_recordio.ts";

/** A file of images whose labels are their numbers, with an index of their keys, in the order of these. */
function write(
  path: string,
  keys: readonly string[],
  order: readonly number[] = [...keys.keys()],
): void {
  const records = keys.map((_, i) => imageRecord(i, 50, Uint8Array.of(i)));
  const starts = records.map((_, i) =>
    records.slice(0, i).reduce((sum, one) => sum + partOf(one).length, 0)
  );
  fs.writeFileSync(`${path}.rec`, recordioBytes(records));
  const lines = order.map((i) => `${keys[i]}\t${starts[i]}\n`);
  fs.writeFileSync(`${path}.idx`, lines.join(""));
}

/** The labels of images by the names of their directories. */
async function shown(path: string): Promise<[string, number][]> {
  using tree = await open(path);
  const names = await tree.list("/");
  return Promise.all(names.map(async (name) => {
    const label = await tree.read(`${name}/label.json`);
    return [name, Number(new TextDecoder().decode(label))];
  }));
}

Deno.test("samples are named by keys of any order, with gaps, and large ones", () =>
  withTempDir(async (dir) => {
    const cases: [string[], string[]][] = [
      [["0", "1", "2"], ["000000", "000001", "000002"]],
      [["7", "8", "9"], ["000007", "000008", "000009"]],
      [["5", "0", "3"], ["000005", "000000", "000003"]],
      [["9007199254740991", "1"], ["9007199254740991", "0000000000000001"]],
      [["4294967296"], ["4294967296"]],
      // No whole numbers, or a key that occurs twice: their numbers.
      [["a", "b"], ["000000", "000001"]],
      [["-1", "2"], ["000000", "000001"]],
      [["", "2"], ["000000", "000001"]],
      [["9007199254740992", "2"], ["000000", "000001"]],
      [["4", "4"], ["000000", "000001"]],
    ];
    for (const [keys, names] of cases) {
      write(`${dir}/a`, keys);
      assert.deepEqual(
        await shown(`${dir}/a.rec`),
        names.map((name, i) => [name, i]),
        keys.join(),
      );
    }
  }));

Deno.test("every key leads to its sample, whatever the order of the index", () =>
  withTempDir((dir) =>
    fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.nat(), { minLength: 1, maxLength: 9 })
          .chain((keys) =>
            fc.tuple(
              fc.constant(keys),
              fc.shuffledSubarray([...keys.keys()], {
                minLength: keys.length,
              }),
            )
          ),
        async ([keys, order]) => {
          write(`${dir}/a`, keys.map(String), order);
          using tree = await open(`${dir}/a.rec`);
          const width = Math.max(6, String(Math.max(...keys)).length);
          for (const [i, key] of keys.entries()) {
            const name = String(key).padStart(width, "0");
            const label = await tree.read(`${name}/label.json`);
            assert.equal(new TextDecoder().decode(label), `${i}\n`);
          }
          assert.equal((await tree.list("/")).length, keys.length);
        },
      ),
      { numRuns: 30 },
    )
  ));

Deno.test("shards have keys of their own, and samples are numbered as before", () =>
  withTempDir(async (dir) => {
    write(`${dir}/a`, ["30", "10"]);
    write(`${dir}/b`, ["0", "1"]);
    using tree = await open(dir);
    assert.deepEqual(await tree.list("a"), ["000030", "000010"]);
    assert.deepEqual(await tree.list("b"), ["000000", "000001"]);
    using samples = await openSamples<{ label: number }>(dir);
    const labels = await samples.get([0, 1, 2, 3], { fields: ["label"] });
    assert.deepEqual(labels.map(({ label }) => label), [0, 1, 0, 1]);
  }));
