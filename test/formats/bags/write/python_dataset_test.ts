/** Output of the writer equals that of a short Python script that follows the format's description. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { LONG } from "../../../support/long.ts";
import fc from "../../../support/random.ts";
import { DatasetWriter } from "../../../../src/formats/bags/write/dataset_writer.ts";
import { filesBelow } from "../../../support/bags/naive_bags.ts";
import { fromFileUrl, withTempDir } from "../../../support/paths.ts";
import { needs, PYTHON } from "../../../support/programs/programs.ts";

const SCRIPT = fromFileUrl(
  new URL("../python/write_dataset.py", import.meta.url),
);

Deno.test({
  name: "random datasets equal Python's byte for byte",
  ...needs("python3"),
  async fn() {
    const hex = fc.uint8Array({ minLength: 1, maxLength: 30 }).map((bytes) =>
      bytes.toHex()
    );
    const key = fc.stringMatching(/^[a-z_][a-zA-Z0-9_.\- é\x7f😀]{0,6}$/u)
      .filter((key) => key !== "refs");
    const dataset = fc.uniqueArray(key, { minLength: 1, maxLength: 20 }).chain((
      keys,
    ) =>
      fc.record({
        lists: fc.tuple(...keys.map(() => fc.boolean())),
        // References of one, two, three and five bytes: rows are repeated to reach large offsets.
        times: fc.constantFrom(1, 1, 30, 3000),
        rows: fc.array(
          fc.tuple(
            ...keys.map(() => fc.array(hex, { minLength: 1, maxLength: 3 })),
          ),
          { maxLength: 8 },
        ),
      }).map((more) => ({ keys, ...more }))
    );
    await withTempDir(async (dir) => {
      await fc.assert(
        fc.asyncProperty(
          dataset,
          fc.constantFrom(1 as const, 2 as const, 3 as const),
          async ({ keys, lists, times, rows }, generation) => {
            const isList = (k: number) => generation < 3 && lists[k]!;
            const spec = Object.fromEntries(
              keys.map((key, k) => [key, isList(k) ? "own[]" : "own"]),
            );
            const some = rows.map((row, i) =>
              Object.fromEntries(
                keys.map((
                  key,
                  k,
                ) => [key, isList(k) ? row[k]!.slice(i % 3) : row[k]![0]!]),
              )
            );
            const datapoints = Array.from({ length: times }, () => some).flat();
            const encoders = { own: (hex: string) => Uint8Array.fromHex(hex) };
            const written = DatasetWriter.openSync(`${dir}/ours`, spec, {
              encoders,
              generation,
            });
            for (const datapoint of datapoints) written.writeSync(datapoint);
            written.closeSync();
            await python(
              `${generation}`,
              `${dir}/python`,
              JSON.stringify({ spec, datapoints }),
            );
            assert.deepEqual(
              filesBelow(`${dir}/ours`),
              filesBelow(`${dir}/python`),
            );
            fs.rmSync(`${dir}/ours`, { recursive: true });
            fs.rmSync(`${dir}/python`, { recursive: true });
          },
        ),
        { numRuns: LONG ? 20 : 6 },
      );
    });
  },
});

async function python(
  generation: string,
  directory: string,
  input: string,
): Promise<void> {
  const child = new Deno.Command(PYTHON, {
    args: [SCRIPT, generation, directory],
    stdin: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { success, stderr } = await child.output();
  assert.ok(success, new TextDecoder().decode(stderr));
}
