/** Reads datapoints from the page: rows of a table, and single values. */
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { readNpy } from "../../../../src/codecs/numpy/mod.ts";
import { assertClose } from "../../../support/images.ts";
import { fromFileUrl } from "../../../support/paths.ts";
import { hexBytes, pixelsOf, textsOf } from "./browser.ts";

/** Pictures with the pixels that Pillow decodes. */
const PICTURES = fromFileUrl(
  new URL("../../../golden/pictures/", import.meta.url),
);

/** Returns the element that shows the value of a key. */
export function cellOf(page: Page, key: string): Locator {
  return page.getByRole("region", { name: key, exact: true });
}

/** Returns the numbers in the table of an array. */
export async function numbersIn(cell: Locator): Promise<number[]> {
  const numbers = cell.getByRole("button", { name: "Numbers" });
  if (await numbers.count() > 0) await numbers.click();
  const texts = await textsOf(cell.locator(".numbers td"));
  return texts.map((text) =>
    text === "true"
      ? 1
      : text === "false"
      ? 0
      : Number(text.replaceAll(",", ""))
  );
}

export function assertNumbers(
  shown: readonly number[],
  expected: readonly (number | boolean)[],
): void {
  assert.equal(shown.length, expected.length);
  expected.forEach((value, i) => {
    const wanted = Number(value);
    // The page shows six digits.
    const most = Math.max(1e-12, Math.abs(wanted) * 1e-5);
    assert.ok(
      Math.abs(shown[i]! - wanted) <= most,
      `${shown[i]} for ${wanted}`,
    );
  });
}

/** Reads the file of a picture. */
export function pictureFile(name: string): Uint8Array<ArrayBuffer> {
  return Deno.readFileSync(`${PICTURES}${name}.jpg`);
}

/** Returns a key as the page shows it. An empty key is visible, too. */
export function shownKey(key: string): string {
  return key === "" ? '""' : key;
}

/** Returns the keys in the header of the table, in order. */
export async function columnsOf(page: Page): Promise<string[]> {
  return await textsOf(page.getByRole("columnheader").locator("b"));
}

/** Returns the cells of a datapoint in the table, by key. */
export async function rowOf(
  page: Page,
  name: string,
): Promise<Readonly<Record<string, Locator>>> {
  const keys = await columnsOf(page);
  const row = page.getByRole("row", { name: new RegExp(`^${name}`) });
  const cells = row.getByRole("gridcell");
  await cells.nth(keys.length).waitFor();
  // The first cell is the datapoint's name.
  return Object.fromEntries(keys.map((key, i) => [key, cells.nth(i + 1)]));
}

/** Returns the texts of a datapoint's cells in the table, by key. */
export async function rowTexts(
  page: Page,
  name: string,
): Promise<Record<string, string>> {
  const texts = Object.entries(await rowOf(page, name)).map(
    async ([key, cell]) => [key, (await cell.textContent())!.trim()] as const,
  );
  return Object.fromEntries(await Promise.all(texts));
}

/** Returns a fact about an entry: `Row number`, `Path`, … */
export async function fact(page: Page, name: string): Promise<string | null> {
  const facts = page.getByRole("complementary", { name: "Facts" });
  return await facts.locator("dt", { hasText: name }).locator("+ dd")
    .textContent();
}

/** Compares a shown picture with the pixels that Pillow decodes, within the tolerance of decoders. */
export async function assertPicture(
  within: Page | Locator,
  name: string,
): Promise<void> {
  const { shape, data } = readNpy(
    await Deno.readFile(`${PICTURES}${name}.npy`),
  );
  const drawn = await pixelsOf(within, "img");
  assert.deepEqual([drawn.height, drawn.width], shape.slice(0, 2), name);
  assertClose(
    drawn.data.filter((_, at) => at % 4 < (shape[2] ?? 1)),
    data as Uint8Array,
    { mean: 1, max: 40 },
    name,
  );
}

/** Compares bytes that are shown as text or in hex. */
export async function assertBytes(
  shown: Locator,
  hex: string | number,
): Promise<void> {
  const text = shown.locator("pre");
  if (hex === "") {
    await shown.getByText("There are no bytes in it.").waitFor();
    return;
  }
  await text.waitFor();
  const isHex = (await text.getAttribute("class"))!.includes("hex");
  const bytes = isHex
    ? (await hexBytes(shown)).toHex()
    : new TextEncoder().encode((await text.textContent())!).toHex();
  assert.equal(bytes, hex);
}

/** First and last colour of viridis. */
const LEAST = [68, 1, 84, 255];
const GREATEST = [253, 231, 37, 255];

/** Asserts that the heat map of an array is dark at its minimum and bright at its maximum. */
export async function assertHeatMap(
  within: Locator,
  shape: readonly [number, number],
  numbers: readonly number[],
): Promise<void> {
  await within.getByRole("img", { name: /^Heat map/ }).waitFor();
  const { width, height, data } = await pixelsOf(within, "canvas.pixels");
  assert.deepEqual([height, width], shape);
  const pixel = (at: number) => [...data.subarray(4 * at, 4 * at + 4)];
  assert.deepEqual(pixel(numbers.indexOf(Math.min(...numbers))), LEAST);
  assert.deepEqual(pixel(numbers.indexOf(Math.max(...numbers))), GREATEST);
}
