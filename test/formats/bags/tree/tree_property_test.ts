/** Random datasets of each generation, as trees. */
import assert from "node:assert/strict";
import { LONG } from "../../../support/long.ts";
import fc from "../../../support/random.ts";
import { byCodePoint } from "../../../../src/base/names.ts";
import { openSync } from "../../../../src/open/mod.ts";
import {
  assertConsistent,
  numberName,
} from "../../../support/bags/bag_trees.ts";
import { type Records, writeDataset } from "../../../support/bags/make_bag.ts";

/** Key names without integers, whose order objects do not preserve. */
const keyName = fc.string({ unit: "binary", minLength: 1, maxLength: 12 })
  .filter((key) =>
    key.isWellFormed() && !/[/\0]|^\d+$/.test(key) &&
    !["refs", ".", "..", "__proto__"].includes(key)
  );

const bytes = fc.uint8Array({ minLength: 1, maxLength: 30 });

/** Types of a spec, by key. */
const spec = (withLists: boolean) =>
  fc.dictionary(
    keyName,
    fc.constantFrom("bytes", "own(1,2)", ...withLists ? ["bytes[]"] : []),
    { minKeys: 1, maxKeys: 4, noNullPrototype: true },
  );

const dataset = fc.constantFrom(1 as const, 2 as const, 3 as const).chain((
  generation,
) =>
  spec(generation < 3).chain((types) => {
    const keys = Object.keys(types).sort(byCodePoint);
    const datapoint = fc.tuple(
      ...keys.map((key) =>
        types[key]!.endsWith("[]") ? fc.array(bytes, { maxLength: 3 }) : bytes
      ),
    ).map((values) =>
      Object.fromEntries(keys.map((key, k) => [key, values[k]])) as Records
    );
    const shard = fc.array(datapoint, { minLength: 1, maxLength: 6 });
    return fc.record({
      generation: fc.constant(generation),
      spec: fc.constant(
        Object.fromEntries(keys.map((key) => [key, types[key]!])),
      ),
      isSharded: fc.boolean(),
      shards: fc.array(shard, { minLength: 1, maxLength: 4 }),
    });
  })
);

/** Returns files and their bytes, as specified by the architecture. */
function expectedFiles(
  datapoints: readonly Records[],
  prefix: string,
): [string, Uint8Array][] {
  return datapoints.flatMap((datapoint, i) =>
    Object.entries(datapoint).flatMap(([key, value]) => {
      const path = `${prefix}${numberName(i)}/${key}`;
      return value instanceof Uint8Array
        ? [[path, value] as [string, Uint8Array]]
        : value.map((element, e) =>
          [`${path}/${numberName(e)}`, element] as [string, Uint8Array]
        );
    })
  );
}

Deno.test("a random dataset has the files that the architecture describes", async () => {
  await fc.assert(
    fc.asyncProperty(dataset, async (given) => {
      const { generation, spec, isSharded } = given;
      const shards = isSharded ? given.shards : given.shards.slice(0, 1);
      const dir = await Deno.makeTempDir();
      try {
        const expected = new Map<string, Uint8Array>();
        for (const [i, datapoints] of shards.entries()) {
          const prefix = isSharded ? `${numberName(i)}/` : "";
          writeDataset(
            `${dir}/data/${prefix}`,
            spec,
            datapoints,
            generation,
          );
          for (const file of expectedFiles(datapoints, prefix)) {
            expected.set(...file);
          }
        }
        using fs = openSync(`${dir}/data`);
        const specs = isSharded
          ? shards.map((_, i) => `${numberName(i)}/spec.json`)
          : ["spec.json"];
        const walked = [...fs.walkSync()].filter(({ isFile }) => isFile)
          .map(({ path }) => path).filter((path) => !specs.includes(path));
        assert.deepEqual(walked.toSorted(), [...expected.keys()].toSorted());
        for (const [path, bytes] of expected) {
          assert.deepEqual(Uint8Array.from(fs.readSync(path)), bytes);
        }
        assertConsistent(fs);
      } finally {
        await Deno.remove(dir, { recursive: true });
      }
    }),
    { numRuns: LONG ? 60 : 20 },
  );
});
