/** Damage that a check finds: wrong checksums, undecodable pages, inconsistent counts. */
import { openRows } from "../../support/parquet/open_rows.ts";
import assert from "node:assert/strict";
import { checked } from "../../support/checked.ts";
import * as fs from "node:fs";
import type { FormatError } from "../../../src/base/errors.ts";
import { parquetCase } from "../../support/parquet/parquet_golden.ts";
import { parquetFile } from "../../support/parquet/make_parquet.ts";
import { withTempDir } from "../../support/paths.ts";

async function damagesOf(bytes: Uint8Array): Promise<FormatError[]> {
  return (await checked({ "t.parquet": bytes })).damages;
}

Deno.test("each changed byte of a page is found by its CRC-32", async () => {
  const { path } = parquetCase("none_v1");
  const whole = fs.readFileSync(path);
  const at = whole.indexOf("word 3 ");
  assert.ok(at > 0);
  whole[at]! ^= 1;
  const damages = await damagesOf(whole);
  assert.deepEqual(damages.map(({ code }) => code), ["sample-checksum"]);
  assert.match(
    damages[0]!.message,
    /column 'word' of row group 0 .*has a page with a checksum mismatch \(CRC-32\)/,
  );
  // A reader reports it as well, unless verification is disabled.
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/t.parquet`, whole);
    using reader = await openRows(`${dir}/t.parquet`);
    await assert.rejects(reader.read(Array(130).keys()), {
      code: "sample-checksum",
    });
    using unchecked = await openRows(`${dir}/t.parquet`, {
      checkData: false,
    });
    assert.equal((await unchecked.read(Array(130).keys())).length, 130);
  });
});

Deno.test("pages that cannot be decoded are reported, and the others checked", async () => {
  const whole = fs.readFileSync(parquetCase("plain_v1").path);
  assert.deepEqual(await damagesOf(whole), []);
  // The lengths of two values of 39 bytes, in different pages.
  for (const first of [39, 23]) {
    const value = Uint8Array.from({ length: 39 }, (_, i) => first + i);
    const at = whole.indexOf(value);
    assert.equal(whole.readUInt32LE(at - 4), 39);
    whole[at - 1] = 0x7f;
  }
  const damages = await damagesOf(whole);
  assert.equal(damages.length, 2);
  for (const { code, message } of damages) {
    assert.equal(code, "bad-structure");
    assert.match(
      message,
      /column 'data' of row group 0 \(rows \d+ to \d+\) of .*t\.parquet: /,
    );
  }
});

Deno.test("a file whose start is not PAR1, or whose footer is damaged, is reported", async () => {
  const bytes = parquetFile();
  bytes[0] = 0;
  const [start] = await damagesOf(bytes);
  assert.match(start!.message, /does not begin with PAR1/);
  const [footer] = await damagesOf(parquetFile({ group: { 3: { i64: 9 } } }));
  assert.match(footer!.message, /9 rows, and 3 values/);
});
