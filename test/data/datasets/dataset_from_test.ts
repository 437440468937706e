import assert from "node:assert/strict";
import { DataError, datasetFrom } from "../../../src/open/data/datasets.ts";
import { goldenCase } from "../../support/golden.ts";
import { CustomDataset, type Numbered } from "../support/custom_dataset.ts";
import { assertPortable, inThread } from "../support/in_thread.ts";

const USER = new URL("../support/custom_dataset.ts", import.meta.url);
const { path } = goldenCase("ffrecord/plain_many");

Deno.test("a module's function makes the dataset, here and in another thread", async () => {
  using here = new CustomDataset(path);
  const expected = await here.get([7, 0]);
  using made = await datasetFrom<Numbered>(USER, { path });
  assert.ok(made instanceof CustomDataset);
  assert.deepEqual(await made.get([7, 0]), expected);
  await assertPortable(made, [7, 0]);
  using later = await datasetFrom<Numbered>(
    { module: USER.href, name: "makeLater" },
    path,
  );
  await assertPortable(later, [7, 0]);
});

Deno.test("options are those with which the dataset was created", async () => {
  const options = { path };
  using made = await datasetFrom<Numbered>(USER, options);
  options.path = "/nowhere";
  await assertPortable(made, [1]);
});

Deno.test("an error of another thread is reported", async () => {
  const copy = await Deno.makeTempFile({ suffix: ".ffr" });
  await Deno.copyFile(path, copy);
  using made = await datasetFrom<Numbered>(USER, { path: copy });
  await Deno.remove(copy);
  assert.deepEqual(await inThread(made, [0]), {
    code: "ENOENT",
    message: `Cannot open ${copy}: there is no such file or directory`,
  });
});

Deno.test("options that cannot be posted, and functions that return no dataset, are rejected", async () => {
  const isRefusal = (words: RegExp) => (error: unknown) =>
    error instanceof DataError && error.code === "not-portable" &&
    words.test(error.message);
  await assert.rejects(
    datasetFrom(USER, { path, transform: () => 1 }),
    isRefusal(/^Cannot send the options of datasetFrom to another thread/),
  );
  await assert.rejects(
    datasetFrom(USER, { path: new URL(`file://${path}`) }),
    isRefusal(/a URL in them would arrive as a plain object \(give its href\)/),
  );
  class Own {
    readonly paths = [path];
  }
  await assert.rejects(
    datasetFrom(USER, { path, more: [{ own: new Own() }] }),
    isRefusal(/a Own in them would arrive as a plain object/),
  );
  const rich = {
    path,
    date: new Date(),
    map: new Map([[1, 2]]),
    bytes: new Uint8Array(2),
  };
  using kept = await datasetFrom<Numbered>(USER, { ...rich, self: rich });
  assert.ok(kept.length > 0);
  await assert.rejects(
    datasetFrom({ module: USER, name: "nope" }),
    isRefusal(/has no export 'nope'/),
  );
  await assert.rejects(
    datasetFrom({ module: USER, name: "number" }),
    isRefusal(/must be a function/),
  );
  await assert.rejects(
    datasetFrom({ module: USER, name: "fail" }, { a: 1 }),
    /^Error: no dataset of \{"a":1\}$/,
  );
  await assert.rejects(datasetFrom({ module: USER, name: "makeNone" }), {
    name: "TypeError",
    message: /^The function 'makeNone' of .* must return a dataset/,
  });
});
