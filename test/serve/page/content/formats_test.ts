/** Formats that bring only samples, fields and names: rows are listed, and a row's fields shown, as their writers say. */
import assert from "node:assert/strict";
import { REPOSITORY } from "../../../support/paths.ts";
import { Shown, shownNames } from "../support/browser.ts";
import { pageTest } from "../support/page_test_of.ts";
import { assertBytes, cellOf, columnsOf, rowTexts } from "../support/values.ts";

const GOLDEN = `${REPOSITORY}test/golden/`;

/** A container, whose values are those of its `expect.json` and of the script that wrote it. */
interface Case {
  readonly path: string;
  /** The first names of its listing. */
  readonly names: readonly string[];
  /** Cells in the table of its rows: of a row, texts by the names of columns, which are all. */
  readonly row?: readonly [
    name: string,
    cells: Readonly<Record<string, string | undefined>>,
  ];
  /** Address of an entry. */
  readonly entry: string;
  /** Texts in parts of its page, by the names of fields. */
  readonly values?: Readonly<Record<string, RegExp>>;
  /** Bytes of an entry that is a file. */
  readonly hex?: string;
}

const TABLE: Omit<Case, "path"> = {
  names: ["000000", "000001", "000002", "000003"],
  row: ["000000", {
    ...{ id: "1", text: "plain", score: "0.5", zip: "01234" },
    ...{ wide: "9007199254740993", empty: '""' },
  }],
  entry: "#/000001",
  values: {
    ...{ text: /żółć, 日本語, 😀/, score: /-3/, zip: /99999/ },
    ...{ wide: / B1$/, empty: /The text is empty/ },
  },
};

const CASES: readonly Case[] = [
  {
    path: "recordio/images/train.rec",
    names: ["000010", "000011", "000012"], // by the keys of its index
    row: ["000011", { image: undefined, label: "-0.5", id: "11" }],
    entry: "#/000012",
    values: { image: /8 × 6 pixels/, label: / B0$/, id: / B12$/ },
  },
  {
    path: "bagz/compressed/data.bagz",
    names: ["000000", "000001", "000002"],
    entry: "#/000002",
    hex: "313233",
  },
  {
    path: "lmdb/named/data",
    names: ["version", "images", "la%2Fbels", "none"],
    entry: "#/version",
    hex: "32", // sha256 d4735e3a…
  },
  {
    path: "hdf5/rows/rows.h5",
    names: ["000000", "000001", "000002"],
    row: ["000001", {
      ...{ big: "9223372036854775809", bytes: undefined, fixed: "w1" },
      ...{ flag: "false", half: "0.25", images: "8 × 6 × 3 uint8" },
      ...{ labels: "3", pairs: "{a: 1, b: 0.5}", words: "wörd 1" },
    }],
    entry: "#/000001",
    values: { images: /Shape8 × 6 × 3/, words: /wörd 1/, half: /0\.25/ },
  },
  {
    path: "arrow/datasets_splits/data",
    names: ["train", "test"],
    entry: "#/train/data-00000-of-00002/000001",
    values: { text: /train 1/, label: / B1$/ },
  },
  {
    path: "safetensors/types/model.safetensors",
    names: ["000000", "000001"],
    row: ["000000", { name: "u8.weight", value: "2 × 3 uint64" }],
    entry: "#/000000",
    values: { name: /u8\.weight/, value: /Shape2 × 3/ },
  },
  {
    path: "litdata/every/data",
    names: ["000000", "000001", "000002"],
    entry: "#/000001",
    values: {
      ...{ text: /näme 1/, n: /4611686018427387904/, x: /NaN/ },
      ...{ "nested.array": /Shape2 × 2/, flag: /false/ },
    },
  },
  {
    path: "jsonl/objects/objects.jsonl",
    names: ["000000", "000001", "000002"],
    row: ["000001", {
      ...{ id: "1", text: "żółć, 日本語, 😀", score: "1", ok: "false" },
      ...{ tags: "[]", more: '{a: [1, null], b: "żółć, 日本語, 😀"}' },
    }],
    entry: "#/000001",
    values: { text: /żółć, 日本語, 😀/, tags: /\[\]/, ok: /false/ },
  },
  { path: "csv/table/table.csv", ...TABLE },
  { path: "tsv/table/table.tsv", ...TABLE },
];

for (const { path, names, row, entry, values = {}, hex } of CASES) {
  pageTest(
    `${path}: rows are listed, and the fields of one shown`,
    async (browser) => {
      const options = { sampleView: true };
      await using shown = await Shown.open(browser, GOLDEN + path, "", options);
      const { page } = shown;
      const listed = await shownNames(page);
      assert.deepEqual(listed.slice(0, names.length), names);
      if (row !== undefined) {
        const [name, cells] = row;
        assert.deepEqual(await columnsOf(page), Object.keys(cells));
        const texts = await rowTexts(page, name);
        for (const [key, text] of Object.entries(cells)) {
          if (text !== undefined) assert.equal(texts[key], text, key);
        }
      }
      await shown.go(entry);
      for (const [key, text] of Object.entries(values)) {
        await cellOf(page, key).filter({ hasText: text }).waitFor();
      }
      if (hex !== undefined) await assertBytes(page.locator("main"), hex);
    },
  );
}
