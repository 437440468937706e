// deno-lint-ignore-file camelcase -- the keys of expect.json
/** Datapoints of datasets that the original packages wrote, shown as rows and one by one. */
import assert from "node:assert/strict";
import { goldenCase, sha256 } from "../../../support/golden.ts";
import { hexBytes, pixelsOf, Shown, textsOf } from "../support/browser.ts";
import { pageTest } from "../support/page_test_of.ts";
import { assertNumbers, cellOf, numbersIn } from "../support/values.ts";

/** A value in `expect.json`. */
type Expected = null | boolean | number | string | readonly Expected[] | {
  readonly [key: string]: Expected;
};

interface ExpectedArray {
  readonly shape: readonly number[];
  readonly values: readonly (number | boolean)[];
}

interface ExpectedImage {
  readonly shape: readonly number[];
  readonly pixels_sha256?: string;
}

interface Dataset {
  readonly path: string;
  readonly datapoints: readonly Readonly<Record<string, Expected>>[];
}

function dataset(name: string): Dataset {
  const { path, content } = goldenCase(name);
  const { datapoints } = content as unknown as Dataset;
  return { path, datapoints };
}

/** Returns the content of a marker of `expect.json`: `$image`, `$array`, `$int`, … */
function marked<T>(value: Expected | undefined, mark: string): T | undefined {
  return value !== null && typeof value === "object" && mark in value
    ? (value as Record<string, unknown>)[mark] as T
    : undefined;
}

pageTest(
  "a datapoint shows each key by its type, as Python wrote it",
  async (browser) => {
    const { path, datapoints } = dataset("bags/types");
    const index = 14;
    const expected = datapoints[index]!;
    await using shown = await Shown.open(browser, path, `#/0000${index}`);
    const { page } = shown;
    for (const key of ["b", "fixed", "small", "bigend", "b0"]) {
      const text = await cellOf(page, key).locator(".tree .number")
        .textContent();
      assert.equal(text, String(expected[key]), key);
    }
    const big = marked<string>(expected.number, "$int")!;
    assert.equal(big, "9007199254740993"); // not exact as a double
    assert.equal(
      await cellOf(page, "number").locator(".tree .number").textContent(),
      big,
    );
    for (const key of ["Upper", "text"]) {
      assert.equal(
        await cellOf(page, key).locator("pre").textContent(),
        expected[key],
        key,
      );
    }
    const vector = marked<ExpectedArray>(expected.vector, "$array")!;
    assertNumbers(await numbersIn(cellOf(page, "vector")), vector.values);
    const scalar = marked<ExpectedArray>(expected.scalar, "$array")!;
    const value = cellOf(page, "scalar").locator("div", { hasText: "Value" })
      .locator("dd").last();
    assertNumbers([Number(await value.textContent())], scalar.values);
    // Two planes of 2 × 2 elements.
    const { values } = marked<ExpectedArray>(expected.flags, "$array")!;
    const flags = cellOf(page, "flags");
    assertNumbers(await numbersIn(flags), values.slice(0, 4));
    await flags.getByRole("slider", { name: "Plane" }).fill("1");
    assertNumbers(await numbersIn(flags), values.slice(4));
    await cellOf(page, "zero").getByText("The array is empty.").waitFor();
  },
);

pageTest(
  "pictures of a datapoint have the pixels that Python wrote",
  async (browser) => {
    const { path, datapoints } = dataset("bags/types");
    await using shown = await Shown.open(browser, path);
    for (const index of [9, 14]) {
      await shown.go(`#/${String(index).padStart(6, "0")}`);
      const expected = datapoints[index]!;
      const drawing = marked<ExpectedImage>(expected.drawing, "$image")!;
      const [height, width, channels = 1] = drawing.shape;
      const pixels = await pixelsOf(shown.page, '[aria-label="drawing"] img');
      assert.deepEqual([pixels.height, pixels.width], [height, width]);
      const kept = pixels.data.filter((_, i) => i % 4 < channels);
      assert.equal(sha256(kept), drawing.pixels_sha256);
      const photo = marked<ExpectedImage>(expected.photo, "$image")!;
      const drawn = await pixelsOf(shown.page, '[aria-label="photo"] img');
      assert.deepEqual([drawn.height, drawn.width], photo.shape.slice(0, 2));
    }
  },
);

pageTest(
  "an array is drawn as a heat map: dark for its minimum, bright for its maximum",
  async (browser) => {
    const { path, datapoints } = dataset("bags/types");
    await using shown = await Shown.open(browser, path, "#/000009/grid");
    const { page } = shown;
    const { shape, values } = marked<ExpectedArray>(
      datapoints[9]!.grid,
      "$array",
    )!;
    const numbers = values.map(Number);
    await page.getByRole("img", { name: /^Heat map of 4 × 3 float32/ })
      .waitFor();
    const { width, height, data } = await pixelsOf(page, "canvas.pixels");
    assert.deepEqual([height, width], shape);
    const pixel = (
      index: number,
    ) => [...data.subarray(4 * index, 4 * index + 4)];
    // First and last colour of viridis.
    assert.deepEqual(pixel(numbers.indexOf(Math.min(...numbers))), [
      68,
      1,
      84,
      255,
    ]);
    assert.deepEqual(pixel(numbers.indexOf(Math.max(...numbers))), [
      253,
      231,
      37,
      255,
    ]);
    const fact = (name: string) =>
      page.locator(".facts-row div", { hasText: name }).locator("dd")
        .textContent();
    assertNumbers([
      Number(await fact("Min")),
      Number(await fact("Max")),
      Number(await fact("Mean")),
    ], [
      Math.min(...numbers),
      Math.max(...numbers),
      numbers.reduce((all, each) => all + each) / numbers.length,
    ]);
    assert.equal(await fact("Type"), "float32");
    // The histogram counts each number once.
    const bins = await textsOf(page.locator(".plot title"));
    const counts = bins.map((bin) => Number(/: (\d+) values?$/.exec(bin)![1]));
    assert.equal(counts.reduce((all, each) => all + each), numbers.length);
  },
);

pageTest(
  "MessagePack opens as a tree, with numbers beyond a double",
  async (browser) => {
    const { path, datapoints } = dataset("bags/types");
    await using shown = await Shown.open(browser, path, "#/000009/packed");
    const expected = datapoints[9]!.packed as Readonly<
      Record<string, Expected>
    >;
    const tree = shown.page.locator(".tree");
    await tree.waitFor();
    const leaves = await textsOf(tree.locator(".leaf"));
    assert.deepEqual(
      leaves,
      Object.entries(expected).map(([key, value]) =>
        `${key}: ${marked<string>(value, "$int") ?? value}`
      ),
    );
  },
);

pageTest("lists show each of their values", async (browser) => {
  const { path, datapoints } = dataset("bags/lists");
  await using shown = await Shown.open(browser, path, "#/000001");
  const { page } = shown;
  const expected = datapoints[1]!;
  await cellOf(page, "blobs").getByText("The list is empty.").waitFor();
  const arrays = expected.arrays as readonly Expected[];
  const sections = cellOf(page, "arrays").locator(".element");
  await sections.nth(arrays.length - 1).waitFor();
  for (const [i, array] of arrays.entries()) {
    const { values } = marked<ExpectedArray>(array, "$array")!;
    assertNumbers(await numbersIn(sections.nth(i)), values);
  }
  const frames = expected.frames as readonly Expected[];
  await cellOf(page, "frames").locator("img").nth(frames.length - 1).waitFor();
  const numbers = expected.numbers as readonly Expected[];
  await cellOf(page, "numbers").getByRole("button", { name: /Show more/ })
    .click();
  const shownNumbers = cellOf(page, "numbers").locator(".tree .number");
  await shownNumbers.nth(numbers.length - 1).waitFor();
  assert.deepEqual(
    await textsOf(shownNumbers),
    numbers.map((value) => marked<string>(value, "$int") ?? String(value)),
  );
});

pageTest(
  "bytes of each generation are as written",
  async (browser) => {
    for (
      const name of ["granular/types", "granular2/types", "granular3/types"]
    ) {
      const { path, content } = goldenCase(name);
      const { shards } = content as unknown as {
        readonly shards: readonly {
          readonly bags: Readonly<
            Record<
              string,
              { readonly records: readonly { readonly sha256: string }[] }
            >
          >;
        }[];
      };
      await using shown = await Shown.open(browser, path);
      const bag = shards[0]!.bags.raw ?? shards[0]!.bags.blob!;
      const key = shards[0]!.bags.raw === undefined ? "blob" : "raw";
      await shown.go(`#/000003/${key}?as=bytes`);
      assert.equal(
        sha256(await hexBytes(shown.page)),
        bag.records[3]!.sha256,
        name,
      );
    }
  },
);

pageTest("datapoints are rows, with a cell for each key", async (browser) => {
  const { path, datapoints } = dataset("bags/types");
  await using shown = await Shown.open(browser, path);
  const { page } = shown;
  const keys = Object.keys(datapoints[0]!);
  const head = page.getByRole("columnheader");
  assert.deepEqual(
    (await textsOf(head.locator("b"))).toSorted(),
    keys.toSorted(),
  );
  const row = (index: number) =>
    page.getByRole("row", {
      name: new RegExp(`^${String(index).padStart(6, "0")}`),
    });
  const column = async (key: string) =>
    (await textsOf(head)).findIndex((text) => text.startsWith(key));
  for (const index of [0, 2, 4]) {
    const cells = row(index).getByRole("gridcell");
    for (const key of ["small", "Upper"]) {
      assert.equal(
        await cells.nth(await column(key)).textContent(),
        String(datapoints[index]![key]),
      );
    }
    const { shape } = marked<ExpectedImage>(
      datapoints[index]!.drawing,
      "$image",
    )!;
    const picture = cells.nth(await column("drawing")).getByRole("img");
    assert.deepEqual(
      await picture.evaluate(async (image) => {
        await (image as HTMLImageElement).decode();
        return [
          (image as HTMLImageElement).naturalHeight,
          (image as HTMLImageElement).naturalWidth,
        ];
      }),
      shape.slice(0, 2),
    );
    await cells.nth(await column("grid")).getByRole("img", { name: /Heat map/ })
      .waitFor();
  }
  await page.getByText(`${datapoints.length} datapoints`).waitFor();
  await page.getByRole("grid").press("End");
  const last = row(datapoints.length - 1);
  await last.and(page.getByRole("row", { selected: true })).waitFor();
  assert.equal(
    await last.getAttribute("aria-rowindex"),
    String(datapoints.length + 1), // the first is the header
  );
});
