/** Parquet rows and cells, as pyarrow reads them. */
import assert from "node:assert/strict";
import type { Locator } from "playwright-core";
import { withTempDir } from "../../../support/paths.ts";
import {
  type ExpectedValue,
  type ParquetCase,
  parquetCase,
} from "../../../support/parquet/parquet_golden.ts";
import { pixelsOf, Shown, shownNames, textsOf } from "../support/browser.ts";
import { pageTest } from "../support/page_test_of.ts";
import {
  assertBytes,
  cellOf,
  columnsOf,
  fact,
  rowOf,
  rowTexts,
  shownKey,
} from "../support/values.ts";

const CODECS = ["none", "snappy", "gzip", "brotli", "zstd", "lz4"];

/** Returns the columns and values of a row. */
function rowIn({ content }: ParquetCase, row: number) {
  return content.columns.map(({ name, values }) =>
    [name, values[row]!] as const
  );
}

/** Returns a float as the page shows it: as NumPy, it shows the float32 `-0.10000000149011612` as `-0.1`. */
function shownFloat(value: number | string): number {
  return value === -0.10000000149011612 ? -0.1 : Number(value);
}

/** Returns the text that the page shows for a value that is neither a list nor a struct. */
function leafText(value: ExpectedValue): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if ("hex" in value) {
    return JSON.stringify(Uint8Array.fromHex(value.hex).toBase64());
  }
  if ("bigint" in value) return value.bigint;
  return String("float" in value ? value.float : value);
}

/** Returns the lines of a fully expanded tree. */
function leavesOf(value: ExpectedValue, key?: string): string[] {
  const head = key === undefined ? "" : `${key}: `;
  const isStruct = value !== null && typeof value === "object" &&
    "struct" in value;
  if (!isStruct && !Array.isArray(value)) return [head + leafText(value)];
  const parts = isStruct
    ? value.struct
    : value.map((part, i) => [String(i), part] as const);
  if (parts.length === 0) return [`${head}${isStruct ? "{}" : "[]"}`];
  return parts.flatMap(([name, part]) => leavesOf(part, name));
}

/** Expands all branches of a tree, one by one, and returns its lines. */
async function openedLeaves(shown: Locator): Promise<string[]> {
  await shown.locator(".tree").waitFor();
  const closed = shown.locator("details:not([open]) > summary");
  while (await closed.count() > 0) {
    await closed.first().click();
    // A branch is filled after the browser's toggle event.
    await shown.locator("details[open] > .branch:empty").first()
      .waitFor({ state: "detached" });
  }
  return await textsOf(shown.locator(".leaf"));
}

/** Compares a shown cell with the value that pyarrow reads. */
async function assertCell(
  shown: Locator,
  value: ExpectedValue,
  isText: boolean,
): Promise<void> {
  await shown.locator(".cell-content > *").first().waitFor();
  if (value === null) {
    const [leaf] = await textsOf(shown.locator(".tree .constant"));
    return assert.equal(leaf, "null");
  }
  const isBytes = typeof value === "object" && "hex" in value;
  if (isBytes) return await assertBytes(shown, value.hex);
  if (isText && !value) {
    await shown.getByText(/^(The text is empty|There are no bytes in it)\.$/)
      .waitFor();
  } else if (isText) {
    assert.equal(await shown.locator("pre").textContent(), value);
  } else if (typeof value === "object" && "float" in value) {
    const seen = await shown.locator(".tree .number").textContent();
    assert.equal(Number(seen), shownFloat(value.float));
  } else {
    assert.deepEqual(await openedLeaves(shown), leavesOf(value));
  }
}

async function assertRow(
  shown: Shown,
  row: readonly (readonly [string, ExpectedValue])[],
  texts: readonly string[],
): Promise<void> {
  for (const [name, value] of row) {
    const cell = cellOf(shown.page, shownKey(name));
    await assertCell(cell, value, texts.includes(name)).catch((error) => {
      throw new Error(`${name}: ${error.message}`, { cause: error });
    });
  }
}

pageTest("cells of all types show what pyarrow reads", async (browser) => {
  const texts = ["string", "large_string", "binary", "fixed", "dictionary"];
  for (const name of ["types", "types_v2"]) {
    const golden = parquetCase(name);
    await using shown = await Shown.open(browser, golden.path);
    assert.deepEqual(
      await columnsOf(shown.page),
      golden.content.columns.map(({ name }) => name),
    );
    for (let row = 0; row < golden.content.rows; row++) {
      await shown.go(`#/00000${row}`);
      await assertRow(shown, rowIn(golden, row), texts);
    }
  }
});

pageTest("rows show cells of all types in short", async (browser) => {
  const golden = parquetCase("types");
  await using shown = await Shown.open(browser, golden.path);
  for (let row = 0; row < golden.content.rows; row++) {
    const seen = await rowTexts(shown.page, `00000${row}`);
    for (const [name, value] of rowIn(golden, row)) {
      if (typeof value === "string") {
        assert.equal(seen[name], value === "" ? '""' : value, name);
      } else if (typeof value === "object" && value && "float" in value) {
        assert.equal(Number(seen[name]), shownFloat(value.float), name);
      } else if (typeof value !== "object" || value && "bigint" in value) {
        assert.equal(seen[name], leafText(value), name);
      }
    }
  }
});

pageTest(
  "numbers are complete in rows, whichever row they are in",
  async (browser) => {
    const golden = parquetCase("types");
    await using shown = await Shown.open(browser, golden.path);
    const { uint64 } = await rowTexts(shown.page, "000001");
    assert.equal(uint64, "18446744073709551615");
    const cut = await shown.page.locator(".canvas .number").evaluateAll(
      (numbers) =>
        numbers.filter((each) => each.scrollWidth > each.clientWidth).map((
          each,
        ) => each.textContent),
    );
    assert.deepEqual(cut, []);
  },
);

pageTest(
  "lists, structs and maps are trees, and written out in their rows",
  async (browser) => {
    for (const name of ["nested", "nested_v2"]) {
      const golden = parquetCase(name);
      await using shown = await Shown.open(browser, golden.path);
      const { page } = shown;
      const { list, struct, map, list_of_lists } = await rowTexts(
        page,
        "000000",
      );
      assert.deepEqual([list, struct, map, list_of_lists], [
        "[1, 2, null]",
        '{a: 1, b: "x"}',
        '[["k", 1], ["", null]]',
        '[["a"], [], null]',
      ]);
      for (let row = 0; row < golden.content.rows; row++) {
        await shown.go(`#/00000${row}`);
        await assertRow(shown, rowIn(golden, row), []);
      }
    }
    const golden = parquetCase("nested_names");
    await using shown = await Shown.open(browser, golden.path, "#/000000");
    const leaves = await openedLeaves(cellOf(shown.page, "s"));
    const [[, value]] = rowIn(golden, 0) as [[string, ExpectedValue]];
    assert.deepEqual(leaves.toSorted(), leavesOf(value).toSorted());
  },
);

pageTest(
  "pictures have the pixels that were written, and nulls are not damage",
  async (browser) => {
    const { path } = parquetCase("pictures");
    await using shown = await Shown.open(browser, path);
    const { page } = shown;
    const assertPixels = async (within: Locator, i: number) => {
      await within.locator("img").waitFor();
      const { width, height, data } = await pixelsOf(within, "img");
      assert.deepEqual([width, height], [8, 8]);
      for (let at = 0; at < 64; at++) {
        // As make_golden.py writes them.
        const grey = (i * 9 + at % 8 * 3 + Math.floor(at / 8)) % 256;
        assert.deepEqual([...data.subarray(4 * at, 4 * at + 4)], [
          ...[grey, grey, grey],
          255,
        ]);
      }
    };
    for (const i of [0, 4, 6]) {
      const { image, caption, label } = await rowOf(page, `00000${i}`);
      await assertPixels(image!, i);
      assert.equal(await caption!.textContent(), `Picture ${i}`);
      assert.equal(await label!.textContent(), String(i));
    }
    const { image } = await rowTexts(page, "000005");
    assert.equal(image, "null");
    await shown.go("#/000011");
    await assertPixels(cellOf(page, "image"), 11);
    await shown.go("#/000005");
    const none = cellOf(page, "image");
    await none.getByText("null", { exact: true }).waitFor();
    assert.equal(await page.getByRole("alert").count(), 0);
    await shown.go("#/000003/image.png");
    await assertPixels(page.locator("main"), 3);
  },
);

pageTest("rows of all codecs and pages are the same", async (browser) => {
  for (
    const name of CODECS.flatMap((codec) => [`${codec}_v1`, `${codec}_v2`])
  ) {
    const golden = parquetCase(name);
    await using shown = await Shown.open(browser, golden.path, "#/000217");
    await assertRow(shown, rowIn(golden, 217), ["word", "data"]);
    assert.equal(await fact(shown.page, "Row number"), "217");
  }
});

pageTest(
  "columns with odd or equal names, and none at all, are shown",
  async (browser) => {
    const golden = parquetCase("odd_names");
    await using shown = await Shown.open(browser, golden.path);
    const names = golden.content.columns.map(({ name }) => name);
    assert.deepEqual(await columnsOf(shown.page), names.map(shownKey));
    for (const row of [0, 1]) {
      const seen = await rowTexts(shown.page, `00000${row}`);
      for (const [name, value] of rowIn(golden, row)) {
        const expected = value === "" ? '""' : value ?? "null";
        assert.equal(seen[shownKey(name)], expected, name);
      }
    }
    await shown.go("#/000000");
    await assertRow(shown, rowIn(golden, 0), names);
    const twice = parquetCase("duplicates");
    await using both = await Shown.open(browser, twice.path);
    const second = both.page.getByRole("row", { name: /^000001/ });
    assert.deepEqual(
      await textsOf(second.getByRole("gridcell")),
      ["000001", ...rowIn(twice, 1).map(([, value]) => String(value))],
    );
    for (const name of ["no_rows", "no_columns"]) {
      const { path } = parquetCase(name);
      await using none = await Shown.open(browser, path);
      await none.page.getByText("The directory is empty.").waitFor();
      await none.page.getByPlaceholder("Go to index or path").waitFor();
    }
  },
);

pageTest(
  "rows of shards are counted over all of them, and found by number",
  async (browser) => {
    const golden = parquetCase("shards");
    await using shown = await Shown.open(browser, golden.path);
    const { page } = shown;
    const names = await shownNames(page);
    assert.deepEqual(names, [0, 1, 2].map((i) => `train-0000${i}-of-00003`));
    await page.getByRole("textbox", { name: /^Go to/ }).fill("44");
    await page.keyboard.press("Enter");
    await cellOf(page, "id").waitFor();
    await assertRow(shown, rowIn(golden, 44), ["word", "data"]);
    assert.equal(await fact(page, "Path"), `${names[2]}/000003`);
    await shown.go(`#/${names[1]}`);
    const { id, word } = await rowTexts(page, "000001");
    const expected = Object.fromEntries(rowIn(golden, 21));
    assert.equal(id, leafText(expected.id!));
    assert.equal(word, String(expected.word).trim());
  },
);

pageTest(
  "a damaged page is named in its cells, and others are shown",
  async (browser) => {
    await withTempDir(async (dir) => {
      const golden = parquetCase("none_v1");
      const bytes = await Deno.readFile(golden.path);
      // A text that occurs once, in the dictionary of a column.
      const text = new TextDecoder("latin1").decode(bytes);
      bytes[text.indexOf("word 5 ") + 2]! ^= 0x40;
      const path = `${dir}/damaged.parquet`;
      await Deno.writeFile(path, bytes);
      await using shown = await Shown.open(browser, path);
      const { page } = shown;
      const { word, id } = await rowTexts(page, "000005");
      assert.deepEqual([word, id], ["damaged", "5"]);
      await shown.go("#/000005");
      await cellOf(page, "word").getByRole("alert").getByText(
        /column 'word' .*CRC-32/,
      )
        .waitFor();
      const others = rowIn(golden, 5).filter(([name]) => name !== "word");
      await assertRow(shown, others, ["data"]);
    });
  },
);
