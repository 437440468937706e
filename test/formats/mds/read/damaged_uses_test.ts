/** Loaders, servers, mounts and conversions with damaged shards among several. */
import { openDataset } from "../../../../src/open/data/open_dataset.ts";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { convert } from "../../../../src/open/convert/convert.ts";
import { DataLoader } from "../../../../src/open/data/mod.ts";
import type { FieldValues } from "../../../../src/tree/field_shards/field_samples.ts";
import { open } from "../../../../src/open/open.ts";
import { writeDamaged } from "../../../support/mds/damaged_dataset.ts";
import {
  entryOf,
  type MadeColumn,
  shardOf,
} from "../../../support/mds/make_mds.ts";
import { withTempDir } from "../../../support/paths.ts";
import { served } from "../../../support/serve/served_folder.ts";

for (const numWorkers of [0, 2]) {
  Deno.test(`a loader skips only the samples of damaged shards: ${numWorkers} workers`, () =>
    withTempDir(async (dir) => {
      writeDamaged(dir);
      using dataset = await openDataset<FieldValues>(dir, { onWarning() {} });
      for (const shuffle of [false, true]) {
        const warnings: string[] = [];
        await using loader = new DataLoader<FieldValues, FieldValues[]>(
          dataset,
          {
            batchSize: 2,
            numWorkers,
            shuffle,
            collate: false,
            onDamage: "skip",
            onWarning: (message) => warnings.push(message),
          },
        );
        const seen: number[] = [];
        for await (const batch of loader) {
          seen.push(...batch.map(({ n }) => Number(n)));
        }
        assert.deepEqual(seen.sort(), [0, 1, 2, 6, 7]);
        assert.equal(loader.skipped, 4);
        assert.deepEqual(
          warnings.map((text) => /^Sample (\d)/.exec(text)?.[1]).sort(),
          ["3", "4", "5", "8"],
        );
      }
    }));
}

Deno.test("a server reports the damage of a shard, and serves the others", () =>
  withTempDir(async (dir) => {
    writeDamaged(dir);
    await using server = served(await open(dir, { onWarning() {} }));
    const statusOf = async (path: string) => {
      const answer = await server.get(`files/${path}`);
      return [answer.status, await answer.text()] as const;
    };
    assert.deepEqual(await statusOf("000006/t.txt"), [200, "text 6"]);
    const [status, text] = await statusOf("000004/t.txt");
    assert.equal(status, 500);
    assert.match(text, /Cannot read sample 4 \(number 1 of .*1\.mds\)/);
  }));

Deno.test("convert loses damaged samples only on request, including their lists", () =>
  withTempDir(async (dir) => {
    const columns: readonly MadeColumn[] = [
      ["images", "jpeg_array", null],
      ["t", "bytes", null],
    ];
    const list = Buffer.from([1, 0, 0, 0, 2, 0, 0, 0, 0xff, 0xd8]);
    const sample = Buffer.concat([
      Buffer.from([list.length, 0, 0, 0, 1, 0, 0, 0]),
      list,
      Buffer.from("t"),
    ]);
    const shard = shardOf([sample, sample], columns);
    fs.mkdirSync(`${dir}/d`);
    const names = ["0.mds", "1.mds", "2.mds"];
    const shards = names.map((name) => entryOf(name, shard.length, 2, columns));
    const index = JSON.stringify({ shards, version: 2 });
    fs.writeFileSync(`${dir}/d/index.json`, index);
    fs.writeFileSync(`${dir}/d/0.mds`, shard);
    fs.writeFileSync(`${dir}/d/2.mds`, shard.subarray(0, -1));
    const [source, target] = [`${dir}/d`, `${dir}/out`];
    const options = { to: "folder", onWarning() {} } as const;
    await assert.rejects(convert(source, target, options), {
      code: "would-lose",
      message: /1\.mds: it is missing.*2\.mds: truncated: it has/,
    });
    assert.equal(fs.existsSync(target), false);
    const warnings: string[] = [];
    const { leftOut } = await convert(source, target, {
      ...options,
      lossy: true,
      onWarning: (message) => warnings.push(message),
    });
    const left = warnings.filter((text) => text.startsWith("skipped: "));
    // For each of three samples, a file and a list.
    assert.deepEqual([leftOut, left.length], [6, 6]);
    const files = (fs.readdirSync(target, { recursive: true }) as string[])
      .filter((path) => fs.statSync(`${target}/${path}`).isFile()).sort();
    assert.deepEqual(
      files,
      ["000000", "000001", "000004"].flatMap((sample) => [
        `${sample}/images/000000.jpg`,
        `${sample}/t`,
      ]),
    );
  }));
