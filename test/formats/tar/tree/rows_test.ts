/** WebDataset samples as rows for viewers. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type {
  EntryMessage,
  InfoMessage,
  RowsMessage,
} from "../../../../src/serve/api/messages.ts";
import { open } from "../../../../src/open/open.ts";
import { served } from "../../../support/serve/served_folder.ts";
import { tarBytes } from "../../../support/tar/make_tar.ts";
import { tarCase } from "../../../support/tar/tar_golden.ts";

Deno.test("a sample is a row of its files, which are shown by their extensions", async () => {
  const { path } = tarCase("webdataset");
  await using server = served(await open(path, { sampleView: true }));
  const get = async <T>(url: string): Promise<T> =>
    await (await server.get(url)).json();
  const info = await get<InfoMessage>("api/info");
  assert.deepEqual(info.samples, { unit: "samples", length: 12 });
  const { rows, total } = await get<RowsMessage>("api/row");
  assert.equal(total, 12);
  // Values set by the generator of the golden files.
  for (const [i, { cells, entry }] of rows.entries()) {
    assert.equal(entry.name, String(i).padStart(6, "0"));
    const key = `train/${String(i).padStart(3, "0")}`;
    const values = Object.fromEntries(
      cells.filter(({ key }) => key !== "bin").map((
        { key, value },
      ) => [key, value]),
    );
    assert.deepEqual(values, {
      __key__: { kind: "text", text: key, isCut: false },
      cls: { kind: "tree", value: i },
      txt: { kind: "text", text: `text of ${i}\n`, isCut: false },
      "meta.json": { kind: "tree", value: { i, half: i / 2 } },
      npy: {
        kind: "array",
        shape: [2],
        dtype: "float32",
        data: [i, i + 0.5],
      },
    });
  }
  const entry = await get<EntryMessage>("api/entry?path=000005/bin");
  assert.equal(entry.entry.size, 5);
  assert.deepEqual(
    await (await server.get("files/000005/bin")).bytes(),
    new Uint8Array(5).fill(5),
  );
});

Deno.test("names that are invalid as paths are shown; links and other files belong to no sample", async () => {
  const tar = tarBytes([
    { name: "README", data: "of no sample" },
    { name: "a...", data: "dots" },
    { name: "a.txt", data: "text" },
    { name: "b.txt", data: "of b" },
    { name: "b.lnk", type: "2", link: "a.txt" },
  ]);
  const warnings: string[] = [];
  using fs = await open(tar, {
    sampleView: true,
    onWarning: (text) => warnings.push(text),
  });
  assert.match(warnings.join(), /belong to no sample.*: 2$/);
  assert.deepEqual(await fs.list("000000"), ["__key__", "a...", "txt"]);
  const read = async (path: string) => String(Buffer.from(await fs.read(path)));
  assert.equal(await read("000000/a..."), "dots");
  assert.deepEqual(await fs.list("000001"), ["__key__", "txt"]);
  assert.equal(await read("000001/__key__"), "b");
  // Tars that are not WebDataset are shown as usual.
  using plain = await open(
    tarBytes([{ name: "x", data: "1" }, { name: "y", data: "2" }]),
    { sampleView: true },
  );
  assert.deepEqual(await plain.list(), ["x", "y"]);
});
