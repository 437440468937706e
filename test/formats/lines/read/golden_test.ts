/** Files written by Python's json and csv modules: every value equals the one that they read. */
import assert from "node:assert/strict";
import { openSamples } from "../../../../mod.ts";
import { check, open } from "../../../../src/open/open.ts";
import {
  LINE_FORMATS,
  linesGoldens,
} from "../../../support/lines/lines_golden.ts";

const QUIET = { onWarning() {} };

for (const format of LINE_FORMATS) {
  for (const { name, path, content: { rows } } of linesGoldens(format).all()) {
    Deno.test(`${format}/${name}: every value equals Python's`, async () => {
      using samples = await openSamples(path, QUIET);
      assert.equal(samples.container?.info.format, format);
      assert.equal(samples.length, rows.length);
      for (const [i, row] of rows.entries()) {
        if (row === null) {
          await assert.rejects(samples.get(i), {
            code: "bad-value",
            sample: i,
          });
          continue;
        }
        const sample = await samples.get(i);
        assert.deepEqual(entriesOf(sample), entriesOf(row), `row ${i}`);
        if (samples.fields === undefined) continue;
        for (const { name, type } of samples.fields) {
          const isNumber = ["number", "bigint"].includes(typeof row[name]);
          assert.equal(type.kind === "number", isNumber, name);
        }
      }
      const damages: number[] = [];
      await check(path, {
        ...QUIET,
        onDamage: ({ sample }) => void damages.push(sample!),
      });
      assert.deepEqual(
        damages,
        rows.flatMap((row, i) => row === null ? [i] : []),
      );
    });

    Deno.test(`${format}/${name}: decoded, a row is a directory of its values`, async () => {
      using fs = await open(path, { ...QUIET, decoded: true });
      const names = await fs.list();
      const directories = names.every((name) => /^\d+$/.test(name))
        ? names
        : (await Promise.all(names.map(async (shard) =>
          (await fs.list(shard)).map((name) => `${shard}/${name}`)
        ))).flat();
      assert.equal(directories.length, rows.length);
      for (const [i, row] of rows.entries()) {
        const path = directories[i]!;
        if (row === null) {
          await assert.rejects(fs.list(path), { code: "bad-value" });
          continue;
        }
        assert.equal((await fs.list(path)).length, Object.keys(row).length);
        for (const [name, value] of Object.entries(row)) {
          if (typeof value === "string") {
            const text = await read(fs, `${path}/${name}.txt`);
            if (text !== undefined) assert.equal(text, value);
            else {assert.deepEqual(
                await json(fs, `${path}/${name}.json`),
                value,
              );}
          } else {assert.deepEqual(
              await json(fs, `${path}/${name}.json`),
              value,
            );}
        }
      }
    });
  }
}

/** Returns entries in a fixed order: JavaScript puts integer keys first. */
function entriesOf(values: object): [string, unknown][] {
  return Object.entries(values).sort(([a], [b]) => a < b ? -1 : 1);
}

type Files = Awaited<ReturnType<typeof open>>;

async function read(fs: Files, path: string): Promise<string | undefined> {
  return await fs.isFile(path)
    ? new TextDecoder().decode(await fs.read(path))
    : undefined;
}

async function json(fs: Files, path: string): Promise<unknown> {
  const text = (await read(fs, path))!;
  const isLong = /^-?\d{16,}\n$/.test(text);
  return isLong ? BigInt(text) : JSON.parse(text);
}
