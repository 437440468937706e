/** Files of zips as samples: decoded, over ranks and threads, resumed, and from a server. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { writeNpy } from "../../../../src/codecs/numpy/mod.ts";
import { DataLoader } from "../../../../src/open/data/mod.ts";
import { openDataset } from "../../../../src/open/data/open_dataset.ts";
import { type SampleValues } from "../../../../src/tree/samples/samples.ts";
import { resumedPass } from "../../../support/resumed_pass.ts";
import { FULL } from "../../../support/long.ts";
import { REPOSITORY, withTempDir } from "../../../support/paths.ts";
import { FileServer } from "../../../support/remote/file_server.ts";
import { makeZip } from "../../../support/zip/make_zip.ts";

const COUNT = 23;

/** Returns arrays as stored by `numpy.savez` and `savez_compressed`, alternating. */
function npz(): Uint8Array {
  return makeZip(
    Array.from({ length: COUNT }, (_, i) => ({
      name: `${nameOf(i)}.npy`,
      data: writeNpy({ data: Int32Array.of(i, i * i, 100 - i) }),
      method: i % 2 * 8,
    })),
  );
}

function nameOf(i: number): string {
  return `a${String(i).padStart(2, "0")}`;
}

function numberOf({ path, content }: SampleValues): number {
  const { data, shape } = content as { data: Int32Array; shape: number[] };
  const [i, square, rest] = data;
  assert.deepEqual([path, shape], [`${nameOf(i!)}.npy`, [3]]);
  assert.deepEqual([square, rest], [i! * i!, 100 - i!]);
  return i!;
}

Deno.test("a loader returns the arrays of an npz once, over ranks and threads, from disks and servers, and continues where it stopped", () =>
  withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/www`);
    fs.writeFileSync(`${dir}/www/a.npz`, npz());
    await using server = await FileServer.start(`${dir}/www`);
    const remote = { cache: { directory: `${dir}/cache` } };
    for (const location of [`${dir}/www/a.npz`, `${server.url}/a.npz`]) {
      using dataset = await openDataset(location, { remote });
      assert.equal(dataset.length, COUNT);
      const seen: number[] = [];
      // Threads start slowly.
      const few = location.startsWith("http") ? [0, 1, 0] : [0, 0, 2];
      for (const [rank, numWorkers] of (FULL ? [0, 1, 2] : few).entries()) {
        const options = {
          batchSize: 3,
          shuffle: true,
          seed: 11,
          collate: false,
          rank,
          worldSize: 3,
          numWorkers,
        } as const;
        const loaderOf = () =>
          new DataLoader<SampleValues, SampleValues[]>(dataset, options);
        const numbersOf = (batch: readonly SampleValues[]) =>
          batch.map(numberOf);
        seen.push(...await resumedPass(loaderOf, numbersOf));
      }
      // All of them; some occur twice, because ranks get equally many.
      assert.deepEqual(
        [...new Set(seen)].sort((a, b) => a - b),
        Array.from({ length: COUNT }, (_, i) => i),
      );
    }
  }));

Deno.test("files are decoded by their extensions, and those without one are bytes", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.zip`;
    const members = {
      "d.txt/plain": "in a directory with a dot",
      "a.cls": "7\n",
      "b/c.json": `{"x": [1, null]}`,
      "t.txt": "text",
      "wrong.cls": "seven",
    };
    fs.writeFileSync(
      path,
      makeZip(
        Object.entries(members).map(([name, data]) => ({
          name,
          data,
          method: 8,
        })),
      ),
    );
    using dataset = await openDataset(path);
    const at = (name: string) => {
      const all = [...Array(dataset.length).keys()];
      return dataset.get([
        all.findIndex((i) => dataset.fileOf(i) === `${path}/${name}`),
      ]);
    };
    assert.deepEqual(await at("a.cls"), [{ path: "a.cls", content: 7 }]);
    assert.deepEqual((await at("b/c.json"))[0]?.content, { x: [1, null] });
    assert.deepEqual((await at("t.txt"))[0]?.content, "text");
    assert.deepEqual(
      (await at("d.txt/plain"))[0]?.content,
      new TextEncoder().encode("in a directory with a dot"),
    );
    await assert.rejects(at("wrong.cls"), {
      code: "bad-value",
      path,
      message: /wrong\.cls.*not a whole number/,
    });
    await assert.rejects(
      openDataset(path, { files: "*.txt", paths: ["a.cls"] }),
      TypeError,
    );
  });
});

Deno.test("an npz that NumPy wrote has its arrays", async () => {
  const path =
    `${REPOSITORY}test/recipes/just_a_folder/just_another_folder/npzfile.npz`;
  using dataset = await openDataset(path);
  const values = await dataset.get([...Array(dataset.length).keys()]);
  // The values that make_fixture.py passed to NumPy.
  assert.deepEqual(
    Object.fromEntries(values.map(({ path, content }) => {
      const { shape, data } = content as {
        shape: number[];
        data: Iterable<unknown>;
      };
      return [path, [shape, [...data].map(String)]];
    })),
    {
      "mask.npy": [[3], ["1", "0", "1"]],
      "names.npy": [[2], ["cat", "dog"]],
      "arr_0.npy": [[2, 2], ["1", "2", "3", String(2n ** 60n)]],
    },
  );
});
