/** Rows in the page of `serve` and `view`: datapoints, whose cells are shown by kind. */
import assert from "node:assert/strict";
import type {
  EntryMessage,
  ListMessage,
} from "../../../../src/serve/api/messages.ts";
import { open } from "../../../../src/open/open.ts";
import { parquetCase } from "../../../support/parquet/parquet_golden.ts";
import { served } from "../../../support/serve/served_folder.ts";

Deno.test("rows are datapoints, cells are images, text and trees", async () => {
  await using page = served(await open(parquetCase("pictures").path));
  const ask = async <Message>(question: string): Promise<Message> => {
    const response = await page.get(`api/${question}`);
    assert.equal(response.status, 200, question);
    return await response.json();
  };
  const { entries } = await ask<ListMessage>("list?path=");
  assert.deepEqual(
    new Set(entries.map(({ kind }) => kind)),
    new Set([
      "datapoint",
    ]),
  );
  assert.equal(entries[2]!.thumbnailUrl, "000002/image.png");
  const { view, sample } = await ask<EntryMessage>("entry?path=000002");
  assert.equal(sample, 2);
  assert.ok(view?.kind === "datapoint");
  assert.deepEqual(
    view.cells.map(({ key, type, value }) => [key, type, value?.kind]),
    [
      ["image", "struct<bytes, path>", undefined],
      ["label", "int64", "tree"],
      ["caption", "text", "text"],
    ],
  );
  assert.deepEqual(await ask("value?path=000002/label.json"), {
    kind: "tree",
    type: "int64",
    value: 2,
    isCut: false,
  });
});
