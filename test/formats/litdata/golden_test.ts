/** Datasets written by LitData, compared with what it reads: values, files, checks, servers. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { zstdDecompressSync } from "node:zlib";
import { openSamples } from "../../../src/open/samples/open_samples.ts";
import { goldenSet } from "../../support/golden.ts";
import {
  compareFiles,
  compareValues,
  type LitDataCase,
} from "../../support/litdata/litdata_golden.ts";
import { serving } from "../../support/remote/serving.ts";

const { all: goldens, one: golden } = goldenSet<LitDataCase>("litdata");

for (const one of goldens()) {
  Deno.test(`${one.name}: values equal those that LitData reads`, () =>
    compareValues(one));
  Deno.test(`${one.name}: files contain the values`, () => compareFiles(one));
}

Deno.test("a decompressed chunk next to a compressed one is read instead", () =>
  serving(async ({ dir, server, remote }) => {
    fs.cpSync(golden("zstd").path, `${dir}/d`, { recursive: true });
    using before = await openSamples(`${server.url}/d/index.json`, { remote });
    const expected = await before.get([0, 1, 2]);
    assert.equal(before.container!.info.facts!["compressed"], 2);
    for (const chunk of ["chunk-0-0", "chunk-0-1"]) {
      const bytes = fs.readFileSync(`${dir}/d/${chunk}.zstd.bin`);
      fs.writeFileSync(`${dir}/d/${chunk}.bin`, zstdDecompressSync(bytes));
      fs.rmSync(`${dir}/d/${chunk}.zstd.bin`);
    }
    using after = await openSamples(`${dir}/d`);
    assert.equal(after.container!.info.facts!["compressed"], undefined);
    assert.deepEqual(await after.get([0, 1, 2]), expected);
  }));
