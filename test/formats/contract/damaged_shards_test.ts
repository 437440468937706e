/**
 * A damaged shard among several, in every format with shards: valid ones are opened, damaged ones reported, and
 * indices never refer to other samples than those of a loader's saved state.
 */
import assert from "node:assert/strict";
import { DataLoader } from "../../../src/open/data/mod.ts";
import { Dataset } from "../../../src/data/dataset.ts";
import { FormatError } from "../../../src/base/errors.ts";
import { check, open } from "../../../src/open/open.ts";
import { withTempDir } from "../../support/paths.ts";
import {
  damageShard,
  type FormatCase,
  type ShardCase,
  SHARDS,
  writeShards,
} from "./format_case.ts";
import { CASES } from "./formats.ts";

/** Format with samples in several shards. */
interface ShardedFormat extends FormatCase {
  readonly shards: ShardCase;
}

/** Dataset whose samples are one byte each. */
class Bytes extends Dataset<number> {
  readonly #samples: Dataset<unknown>;
  readonly #byteOf: ShardCase["byteOf"];

  constructor(samples: Dataset<unknown>, byteOf: ShardCase["byteOf"]) {
    super();
    this.#samples = samples;
    this.#byteOf = byteOf;
  }

  override get length(): number {
    return this.#samples.length;
  }

  override get shardLengths(): readonly number[] | undefined {
    return this.#samples.shardLengths;
  }

  override fileOf(index: number): string | undefined {
    return this.#samples.fileOf(index);
  }

  override async get(indices: readonly number[]): Promise<number[]> {
    return (await this.#samples.get(indices)).map(this.#byteOf);
  }

  override close(): void {
    this.#samples.close();
  }
}

/** Opens one shard or a directory of shards; samples are their bytes. */
async function openDataset(
  { openDataset, shards }: ShardedFormat,
  path: string,
  onWarning: (message: string) => void,
): Promise<Dataset<number>> {
  return new Bytes(await openDataset(path, { onWarning }), shards.byteOf);
}

async function samplesOf(
  dataset: Dataset<unknown>,
  indices: Iterable<number> = Array(dataset.length).keys(),
): Promise<readonly unknown[]> {
  return await dataset.get([...indices]);
}

/** Asserts that samples have their indices, except those of a damaged file, which are errors. */
async function assertNumbered(
  dataset: Dataset<unknown>,
  damaged: number,
  path: string,
): Promise<void> {
  const sound = SHARDS.filter((_, i) => i !== damaged).flat();
  assert.deepEqual(await samplesOf(dataset, sound), sound);
  for (const sample of SHARDS[damaged]!) {
    await assert.rejects(async () => await dataset.get([sample]), (error) => {
      assert.ok(error instanceof FormatError);
      assert.deepEqual([error.path, error.sample], [path, sample]);
      return true;
    });
  }
}

function isSharded(format: FormatCase): format is ShardedFormat {
  return format.shards !== undefined;
}

for (const [name, format] of CASES) {
  if (!isSharded(format)) continue;
  const { shards } = format;
  const { keepsNumbers = false } = shards;

  Deno.test(`${name}: a damaged shard of several is skipped and reported`, async () => {
    for (const damaged of [0, 1, 2]) {
      await withTempDir(async (dir) => {
        await writeShards(dir, shards, damaged);
        const bad = `${dir}/${shards.name(damaged)}`;
        const warnings: string[] = [];
        const onWarning = (message: string) => void warnings.push(message);
        using dataset = await openDataset(format, dir, onWarning);
        if (keepsNumbers) await assertNumbered(dataset, damaged, bad);
        else {
          const sound = SHARDS.filter((_, i) => i !== damaged).flat();
          assert.deepEqual(await samplesOf(dataset), sound);
        }
        assert.deepEqual(
          dataset.shardLengths,
          [0, 1, 2].map((i) => i === damaged && !keepsNumbers ? 0 : 3),
        );
        const places = SHARDS.flatMap((samples, i) =>
          i === damaged && !keepsNumbers
            ? []
            : samples.map(() => `${dir}/${(shards.data ?? shards.name)(i)}`)
        );
        for (const [i, place] of places.entries()) {
          assert.ok(dataset.fileOf(i)?.startsWith(place), `sample ${i}`);
        }
        assert.equal(warnings.length, 1);
        assert.ok(warnings[0]!.includes(bad), warnings[0]);
        assert.match(
          warnings[0]!,
          keepsNumbers
            ? /samples \d to \d cannot be read, and all others keep their numbers/
            : /skipped, and samples of later ones have other numbers/,
        );

        warnings.length = 0;
        using container = await open(dir, { onWarning });
        assert.equal(warnings.length, 1);
        assert.deepEqual(
          container.info.unreadable?.map(({ archive }) => archive),
          [bad],
        );
        assert.equal(container.info.parts.length, keepsNumbers ? 3 : 2);

        const damages: FormatError[] = [];
        const report = await check(dir, {
          onDamage: (error) => damages.push(error),
        });
        assert.equal(report.damaged, 1);
        assert.equal(damages[0]!.path, bad + (shards.file ?? ""));
      });
    }
  });

  Deno.test(`${name}: if the only shard is damaged, or all are, that is an error`, async () => {
    await withTempDir(async (dir) => {
      await writeShards(dir, shards);
      const paths = [0, 1, 2].map((i) => `${dir}/${shards.name(i)}`);
      for (const path of paths) damageShard(path, shards);
      const onWarning = assert.fail;
      for (const path of [dir, paths[1]!]) {
        if (path === dir || !shards.isDirectory) {
          await assert.rejects(
            openDataset(format, path, onWarning),
            FormatError,
          );
        }
        await assert.rejects(open(path, { onWarning }), FormatError);
      }
    });
  });

  const which = keepsNumbers ? "holds whatever" : "is refused where other";
  Deno.test(`${name}: a loader's state ${which} shards are skipped`, async () => {
    const states: string[] = [];
    const options = { batchSize: 2, shuffle: true };
    const each = async (damaged: number | undefined) => {
      await withTempDir(async (dir) => {
        await writeShards(dir, shards, damaged);
        using dataset = await openDataset(format, dir, () => {});
        await using loader = new DataLoader(dataset, options);
        loader.setStep(1);
        for (const [i, state] of states.entries()) {
          if (keepsNumbers) loader.load(JSON.parse(state));
          else {assert.throws(() => loader.load(JSON.parse(state)), {
              code: "bad-state",
            }, `${damaged}: ${i}`);}
        }
        const state = JSON.stringify(loader.save());
        loader.load(JSON.parse(state));
        states.push(state);
      });
    };
    for (const damaged of [undefined, 0, 1, 2]) await each(damaged);
  });
}
