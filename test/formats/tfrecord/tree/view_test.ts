/** Examples as shown to viewers: rows of cells, like datapoints. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type {
  Cell,
  EntryMessage,
  InfoMessage,
  RowsMessage,
  Statistics,
} from "../../../../src/serve/api/messages.ts";
import type { ValueMessage } from "../../../../src/serve/api/value_messages.ts";
import { open } from "../../../../src/open/open.ts";
import { served } from "../../../support/serve/served_folder.ts";
import { exampleOf, fileOf } from "../../../support/tfrecord/make_tfrecord.ts";
import {
  type ExpectedFeature,
  tfrecordCase,
} from "../../../support/tfrecord/tfrecord_golden.ts";

async function json<T>(answer: Promise<Response>): Promise<T> {
  const response = await answer;
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text);
}

/** Asserts that a cell shows a feature. */
function assertShown(cell: Cell, { kind, values }: ExpectedFeature): void {
  const { value } = cell;
  if (kind !== "bytes") {
    assert.equal(cell.type, kind);
    if (value?.kind === "array") {
      assert.deepEqual(value.shape, [values.length]);
      assert.equal(value.data?.length, values.length);
    } else assert.deepEqual(value, { kind: "tree", value: Number(values[0]) });
  } else if (values.length !== 1) {
    assert.deepEqual(value, { kind: "list", length: values.length });
  } else if (value?.kind === "text") {
    const bytes = Buffer.from(String(values[0]), "hex");
    assert.deepEqual([value.text, value.isCut], [String(bytes), false]);
  } else assert.equal(cell.size, String(values[0]).length / 2);
}

Deno.test("examples are rows, with cells for their features by type", async () => {
  const { path, content } = tfrecordCase("examples");
  await using server = served(await open(path, { sampleView: true }));
  const info = await json<InfoMessage>(server.get("api/info"));
  assert.deepEqual(info.samples, {
    unit: "records",
    length: content.examples!.length,
  });
  const { rows } = await json<RowsMessage>(server.get("api/row?limit=500"));
  assert.equal(rows.length, content.examples!.length);
  for (const [i, { cells, damage, entry }] of rows.entries()) {
    assert.deepEqual([damage, entry.kind], [null, "datapoint"]);
    const { features } = content.examples![i]!;
    const byKey = new Map(cells.map((cell) => [cell.key, cell]));
    assert.equal(byKey.size, Object.keys(features).length);
    for (const [key, feature] of Object.entries(features)) {
      const cell = byKey.get(key);
      assert.ok(cell !== undefined, key);
      assertShown(cell, feature);
    }
  }
  const text = rows[0]!.cells.find(({ key }) => key === "image/class/text")!;
  assert.deepEqual([text.type, text.kind], ["bytes", "text"]);
});

Deno.test("a cell refers to its value, and a number is exact", async () => {
  const { path } = tfrecordCase("examples");
  await using server = served(await open(path, { sampleView: true }));
  const { view } = await json<EntryMessage>(
    server.get("api/entry?path=000003"),
  );
  assert.ok(view?.kind === "datapoint");
  for (const { key, url, isList } of view.cells) {
    if (isList) continue;
    const value = await json<ValueMessage>(server.get(`api/value?path=${url}`));
    if (key === "image/class/label") {
      assert.ok(value.kind === "tree");
      assert.equal(value.value, 3);
    } else if (key === "image/size") {
      assert.ok(value.kind === "array");
      assert.deepEqual(value.data.slice(0, 3), [
        480,
        -1,
        "9223372036854775807",
      ]);
    }
  }
});

Deno.test("steps of sequences are lists", async () => {
  const { path, content } = tfrecordCase("sequences");
  await using server = served(await open(path, { sampleView: true }));
  const { rows } = await json<RowsMessage>(server.get("api/row"));
  assert.equal(rows.length, content.examples!.length);
  for (const [i, { cells }] of rows.entries()) {
    const { features, lists } = content.examples![i]!;
    for (const [key, steps] of Object.entries(lists)) {
      const cell = cells.find((one) => one.key === `feature_lists/${key}`);
      assert.deepEqual([cell?.isList, cell?.value], [
        true,
        { kind: "list", length: steps.length },
      ]);
    }
    for (const [key, feature] of Object.entries(features)) {
      assertShown(cells.find((one) => one.key === `context/${key}`)!, feature);
    }
  }
});

Deno.test("images are thumbnails, labels are counted, and a damaged row is marked", async () => {
  const jpeg = await Deno.readFile("test/golden/pictures/420.jpg");
  const example = exampleOf({ "image/encoded": [jpeg], text: ["a cat"] });
  const bytes = fileOf([example, example, example]);
  bytes[bytes.length - 20]! ^= 1;
  await using server = served(
    await open(new Uint8Array(bytes), { sampleView: true }),
  );
  const { rows } = await json<RowsMessage>(server.get("api/row"));
  assert.deepEqual(
    rows.map(({ entry, damage }) => [entry.thumbnailUrl, damage === null]),
    [
      ["000000/image/encoded", true],
      ["000001/image/encoded", true],
      [null, false],
    ],
  );
  const picture = await server.get(`files/${rows[1]!.entry.thumbnailUrl}`);
  assert.deepEqual(await picture.bytes(), jpeg);

  const golden = served(
    await open(tfrecordCase("examples").path, { sampleView: true }),
  );
  await using _closed = golden;
  const lines = await (await golden.get("api/statistics")).text();
  const last: Statistics = JSON.parse(lines.trimEnd().split("\n").at(-1)!);
  const { examples } = tfrecordCase("examples").content;
  const label = "image/class/label";
  const counted = last.labels.find((one) => one.label === label);
  assert.equal(
    counted?.different,
    new Set(examples!.map(({ features }) => features[label]!.values[0])).size,
  );
  assert.ok(last.keys.some(({ key }) => key === label));
});
