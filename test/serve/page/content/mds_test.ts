/** MDS samples as rows, and values of all encodings, as an independent writer wrote them. */
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { open } from "../../../../src/open/open.ts";
import { sha256 } from "../../../support/golden.ts";
import {
  datasetOf,
  entryOf,
  type MadeColumn,
  shardOf,
} from "../../../support/mds/make_mds.ts";
import {
  type ExpectedMdsValue,
  mdsCase,
} from "../../../support/mds/mds_golden.ts";
import { withTempDir } from "../../../support/paths.ts";
import { hexBytes, pixelsOf, Shown, textsOf } from "../support/browser.ts";
import { pageTest } from "../support/page_test_of.ts";
import {
  assertHeatMap,
  assertNumbers,
  assertPicture,
  cellOf,
  columnsOf,
  fact,
  numbersIn,
  rowOf,
  rowTexts,
  shownKey,
} from "../support/values.ts";

/** Parses a number that Python wrote. */
const numberOf = (text: string) => Number(text.replace("inf", "Infinity"));

/** Maximum number of rows in a table of numbers. */
const MOST_ROWS = 200;

/** Compares all planes of a shown array with its numbers. */
async function assertArray(
  shown: Locator,
  shape: readonly number[],
  numbers: readonly number[],
): Promise<void> {
  await shown.locator(".array").waitFor();
  const lengths = await shown.locator("dd").first().textContent();
  assert.equal(lengths, shape.join(" × "));
  const [columns = 1, rows = 1] = shape.toReversed();
  const size = rows * columns;
  for (let at = 0; at < numbers.length; at += size) {
    const slider = shown.getByRole("slider", { name: "Plane" });
    if (numbers.length > size) {
      await numbersIn(shown);
      await slider.fill(String(at / size));
    }
    const plane = numbers.slice(at, at + size);
    assertNumbers(await numbersIn(shown), plane.slice(0, MOST_ROWS * columns));
  }
}

/** Asserts that a picture has a single shade of grey. */
async function assertGrey(
  shown: Locator,
  [width, height]: readonly [number, number],
  grey: number,
): Promise<void> {
  await shown.locator("img").waitFor();
  const drawn = await pixelsOf(shown, "img");
  assert.deepEqual([drawn.width, drawn.height], [width, height]);
  assert.ok(
    drawn.data.every((byte, at) => byte === (at % 4 < 3 ? grey : 255)),
  );
}

/** Compares a shown value with `expect.json`. */
async function assertValue(
  shown: Locator,
  { encoding, value }: ExpectedMdsValue,
): Promise<void> {
  if (value === null) return;
  if (typeof value === "string") {
    if (encoding === "str" || encoding === "str_decimal") {
      assert.equal(await shown.locator("pre").textContent(), value);
      return;
    }
    const seen = await shown.locator(".tree .number").textContent();
    if (/^-?\d+$/.test(value)) assert.equal(seen, value); // every digit
    else assert.equal(Number(seen), numberOf(value));
    return;
  }
  if ("shape" in value) {
    await assertArray(shown, value.shape, value.values.map(numberOf));
  }
}

/** Returns the numbers of an array. */
function numbersOf({ value }: ExpectedMdsValue): number[] {
  assert.ok(value !== null && typeof value === "object" && "shape" in value);
  return value.values.map(numberOf);
}

const inRow = (page: Page, i: number) => rowTexts(page, `00000${i}`);

pageTest(
  "samples of MDS are rows, also those of compressed shards",
  async (browser) => {
    for (const name of ["plain", "zstd", "gz", "kept"]) {
      const { path, content: { samples } } = mdsCase(name);
      await using shown = await Shown.open(browser, path);
      const { page } = shown;
      assert.deepEqual(await columnsOf(page), Object.keys(samples[0]!));
      await page.getByText(`${samples.length} samples`).waitFor();
      const last = samples.length - 1;
      for (const i of [0, last]) {
        const { label, name: called, raw } = samples[i]!;
        assert.deepEqual(await inRow(page, i), {
          image: "",
          label: label!.value,
          name: called!.value,
          raw: `${raw!.size} B`,
        });
        await assertPicture((await rowOf(page, `00000${i}`)).image!, "gray");
      }
      await shown.go(`#/00000${last}`);
      await assertPicture(cellOf(page, "image"), "gray");
      await assertValue(cellOf(page, "name"), samples[last]!.name!);
      const raw = await hexBytes(cellOf(page, "raw"));
      assert.equal(sha256(raw), samples[last]!.raw!.sha256, name);
      assert.equal(await fact(page, "Sample number"), String(last));
    }
  },
);

pageTest(
  "values of all encodings are drawn by their kind",
  async (browser) => {
    const { path, content: { samples } } = mdsCase("every");
    await using shown = await Shown.open(browser, path);
    const { page } = shown;
    for (const [i, sample] of samples.entries()) {
      await shown.go(`#/00000${i}`);
      for (const [key, expected] of Object.entries(sample)) {
        const cell = cellOf(page, shownKey(key));
        await cell.locator(".cell-content > *").first().waitFor();
        await assertValue(cell, expected).catch((error) => {
          throw new Error(`${key} of ${i}: ${error.message}`, { cause: error });
        });
      }
      // Values that are not in `expect.json`, as make_golden.py writes them.
      const text = (key: string) => cellOf(page, key).locator("pre");
      assert.equal(await text("clash.txt").textContent(), "other");
      assert.equal(await text("..").textContent(), "up");
      const leaves = (key: string) =>
        textsOf(cellOf(page, key).locator(".leaf"));
      assert.deepEqual(
        await leaves("tree"),
        [["0: 1", "1: 2.5", "2: null"], ['"text"'], ["b: true"]][i],
      );
      assert.deepEqual(
        await leaves("plain"),
        [["0: 1", "1: 2"], ['0: "x"', "1: null"], ["7"]][i],
      );
      await assertGrey(cellOf(page, "picture"), [4, 3], 10 * i);
      await assertPicture(cellOf(page, "quality"), "gray");
      const depth = [1, 2, 300, 65535 - i];
      await assertHeatMap(cellOf(page, "depth"), [2, 2], depth);
      await assertArray(cellOf(page, "depth"), [2, 2], depth);
      const bare = Array.from({ length: 18 }, (_, k) => i + k);
      await assertArray(cellOf(page, "bare"), [2, 3, 3], bare);
      const rows = [0b10110000_01000000, (1 + i) << 8 | 0b10000000];
      const bits = rows.flatMap((row) =>
        Array.from({ length: 10 }, (_, k) => row >> 15 - k & 1)
      );
      await assertArray(cellOf(page, "bits"), [2, 10], bits);
    }
    for (
      const [name, kind] of [["tree.json", "JSON"], ["plain.pkl", "pickle"]]
    ) {
      await shown.go(`#/000000/${name}`);
      assert.equal(await fact(page, "Kind"), kind);
    }
    // An array on its own page has the view that suits it best.
    await shown.go("#/000002/fixed.npy");
    await assertHeatMap(
      page.locator("main"),
      [2, 3],
      numbersOf(samples[2]!.fixed!),
    );
    await shown.go("#/000001/any.npy");
    await page.getByRole("img", { name: /^Curve of 7 uint16, from 0 to 6/ })
      .waitFor();
  },
);

pageTest("rows show complete numbers, and small arrays", async (browser) => {
  const { path, content: { samples } } = mdsCase("every");
  await using shown = await Shown.open(browser, path);
  const { page } = shown;
  for (const [i, sample] of samples.entries()) {
    const cells = await rowOf(page, `00000${i}`);
    for (const [key, { value }] of Object.entries(sample)) {
      if (!/^a_u?int/.test(key)) continue;
      assert.equal(await cells[key]!.textContent(), value);
    }
    const number = cells.a_int!.locator(".number");
    assert.ok(
      await number.evaluate((of) => of.scrollWidth <= of.clientWidth),
      "no digit is cut off",
    );
    await assertHeatMap(cells.fixed!, [2, 3], numbersOf(sample.fixed!));
    assert.equal(await cells.bits!.textContent(), "2 × 10 bool");
    await assertGrey(cells.picture!, [4, 3], 10 * i);
  }
  // Non-finite numbers are aligned like numbers.
  const { a_float64: infinite } = await rowOf(page, "000002");
  assert.equal(await infinite!.locator(".number").textContent(), "Infinity");
});

pageTest("lists show each of their pictures", async (browser) => {
  for (const name of ["lists", "lists_zstd"]) {
    const { path, content: { samples } } = mdsCase(name);
    await using shown = await Shown.open(browser, path);
    const { page } = shown;
    const listOf = ({ value }: ExpectedMdsValue) =>
      (value as { list: readonly ExpectedMdsValue[] }).list;
    for (const i of [0, 2]) {
      const texts = await inRow(page, i);
      for (const key of ["array", "bare", "frames", "images", "maps"]) {
        const { length } = listOf(samples[i]![key]!);
        assert.equal(texts[key], `${length} value${length === 1 ? "" : "s"}`);
      }
    }
    await shown.go("#/000000");
    const elements = (key: string) => cellOf(page, key).locator(".element");
    await cellOf(page, "images").getByText("The list is empty.").waitFor();
    for (const k of [0, 1, 2]) {
      await assertGrey(elements("maps").nth(k), [2 + k, 3], 10 * k);
    }
    await shown.go("#/000002");
    await assertPicture(elements("frames").nth(0), "420");
    await assertPicture(elements("frames").nth(1), "gray");
    await assertPicture(elements("images").nth(1), "420");
    for (const [k, element] of listOf(samples[2]!.bare!).entries()) {
      await assertValue(elements("bare").nth(k), element);
    }
    // Each element of a list has an address.
    await shown.go("#/000002/images/000001.jpg");
    await assertPicture(page.locator("main"), "420");
  }
});

pageTest(
  "datasets with different columns in one index are in one table",
  async (browser) => {
    const { path, content: { samples } } = mdsCase("merged");
    await using shown = await Shown.open(browser, path);
    const { page } = shown;
    const keys = new Set(samples.flatMap((sample) => Object.keys(sample)));
    assert.deepEqual((await columnsOf(page)).toSorted(), [...keys].toSorted());
    const head = page.getByRole("columnheader", { name: /^label/ });
    const types = new Set(samples.map(({ label }) => label!.encoding));
    assert.equal(
      await head.locator("small").textContent(),
      [...types].join(", "),
    );
    for (const [i, { label, name, text }] of samples.entries()) {
      const texts = await inRow(page, i);
      assert.equal(texts.label, label!.value);
      for (
        const [shown, of] of [[texts.name, name], [texts.text, text]] as const
      ) {
        assert.equal(shown, of?.value === "" ? '""' : of?.value ?? "–");
      }
    }
    const empty = mdsCase("empty");
    await using none = await Shown.open(browser, empty.path);
    await none.page.getByText("The directory is empty.").waitFor();
    await none.page.getByPlaceholder("Go to index or path").waitFor();
  },
);

pageTest(
  "a damaged sample is marked in its row and its values, and the others are shown",
  async (browser) => {
    await withTempDir(async (dir) => {
      const { path } = mdsCase("plain");
      for (const file of ["index.json", "shard.00000.mds", "shard.00001.mds"]) {
        await Deno.copyFile(`${path}/${file}`, `${dir}/${file}`);
      }
      const shard = `${dir}/shard.00000.mds`;
      const bytes = await Deno.readFile(shard);
      const view = new DataView(bytes.buffer);
      // The sample starts with the size of its first value.
      view.setUint32(view.getUint32(4 + 4 * 2, true), 9_999_999, true);
      await Deno.writeFile(shard, bytes);
      await using shown = await Shown.open(browser, dir);
      const { page } = shown;
      const keys = ["image", "label", "name", "raw"];
      assert.deepEqual(
        await inRow(page, 2),
        Object.fromEntries(keys.map((key) => [key, "damaged"])),
      );
      assert.equal((await inRow(page, 3)).name, "näme 3");
      await shown.go("#/000002");
      for (const key of keys) {
        await cellOf(page, key).getByRole("alert").getByText(
          /sample 2 of .*shard\.00000\.mds: the sizes of its values /,
        ).waitFor();
      }
    });
  },
);

pageTest(
  "values that do not fit their encoding are shown as bytes, with the reason",
  async (browser) => {
    const columns: readonly MadeColumn[] = [
      ["digits", "str_int", null],
      ["tree", "json", null],
    ];
    const sample = (...values: string[]) =>
      Uint8Array.from([
        ...values.flatMap(({ length }) => [length, 0, 0, 0]),
        ...new TextEncoder().encode(values.join("")),
      ]);
    const shard = shardOf([
      sample("7", "[8]"),
      sample("seven", '{"an end": '),
      sample("9", "[10]"),
    ], columns);
    const entry = entryOf("a.mds", shard.length, 3, columns);
    const storage = datasetOf([entry], { "a.mds": shard });
    using container = await open("d", { storage });
    await using shown = await Shown.open(browser, container);
    const { page } = shown;
    assert.deepEqual(await inRow(page, 0), { digits: "7", tree: "[8]" });
    assert.deepEqual(await inRow(page, 1), { digits: "5 B", tree: "11 B" });
    assert.deepEqual(await inRow(page, 2), { digits: "9", tree: "[10]" });
    await shown.go("#/000001");
    const digits = cellOf(page, "digits");
    await digits.getByText("it is not a whole number").waitFor();
    const text = (column: string) =>
      cellOf(page, column).getByRole("region", { name: "Text" }).textContent();
    assert.equal(await text("digits"), "seven");
    assert.equal(await text("tree"), '{"an end": ');
    await shown.go("#/?show=statistics");
    await page.getByText("Label: digits").waitFor();
    await page.getByRole("row", { name: /^digits str_int 3/ }).waitFor();
  },
);
