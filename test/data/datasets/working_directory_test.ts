/** Threads reopen datasets where they were opened, even if the working directory has changed since. */
import assert from "node:assert/strict";
import { relative } from "node:path";
import {
  BagDataset,
  DataLoader,
  type Dataset,
  FFRecordDataset,
  GulpVideoDataset,
  PackedFolderDataset,
} from "../../../src/open/data/mod.ts";
import { openDataset } from "../../../src/open/data/open_dataset.ts";

import { goldenCase } from "../../support/golden.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";

const samples = goldenCase("ffrecord/plain_one").path;
const packed = `${REPOSITORY}/test/recipes/packed.ffr`;
const gulp = `${REPOSITORY}/test/golden/gulp/v2_chunks/gulp`;
const bag = `${REPOSITORY}/test/golden/granular3/sharded/data`;
const label = null;

const OPENS: Readonly<Record<string, () => Promise<Dataset<unknown>>>> = {
  FFRecordDataset: () => FFRecordDataset.open([here(samples)]),
  PackedFolderDataset: () => PackedFolderDataset.open(here(packed)),
  openDataset: () => openDataset(here(gulp), { files: "*.json" }),
  GulpVideoDataset: () => GulpVideoDataset.open(here(gulp), { label }),
  BagDataset: () => BagDataset.open(here(bag)),
};

function here(path: string): string {
  return relative(Deno.cwd(), path);
}

for (const [name, open] of Object.entries(OPENS)) {
  Deno.test(`the working directory may change after opening: ${name}`, async () => {
    const before = Deno.cwd();
    using dataset = await open();
    await using loader = new DataLoader<unknown, unknown>(dataset, {
      numWorkers: 1,
      collate: false,
    });
    await withTempDir(async (dir) => {
      Deno.chdir(dir);
      try {
        const { value } = await loader[Symbol.asyncIterator]().next();
        assert.equal((value as unknown[]).length, 1);
      } finally {
        Deno.chdir(before);
      }
    });
  });
}
