/** TFRecord: examples as rows, features by kind, and records of any bytes. */
import assert from "node:assert/strict";
import type { Browser, Locator, Page } from "playwright-core";
import { sha256 } from "../../../support/golden.ts";
import { withTempDir } from "../../../support/paths.ts";
import { exampleOf, fileOf } from "../../../support/tfrecord/make_tfrecord.ts";
import {
  type ExpectedFeature,
  tfrecordCase,
} from "../../../support/tfrecord/tfrecord_golden.ts";
import { hexBytes, Shown, shownNames, textsOf } from "../support/browser.ts";
import { pageTest } from "../support/page_test_of.ts";
import {
  assertBytes,
  assertNumbers,
  assertPicture,
  cellOf,
  columnsOf,
  fact,
  numbersIn,
  pictureFile,
  rowTexts,
  shownKey,
} from "../support/values.ts";

const openRows = (browser: Browser, path: string, hash = "") =>
  Shown.open(browser, path, hash, { sampleView: true });

const fromHex = (hex: string | number) =>
  new TextDecoder().decode(Uint8Array.fromHex(String(hex)));

/** Waits for a list of `count` elements. */
async function elementsOf(shown: Locator, count: number): Promise<Locator> {
  const elements = shown.locator(".element");
  await elements.nth(count - 1).waitFor();
  assert.equal(await elements.count(), count);
  return elements;
}

/** Compares a shown feature with the written one. */
async function assertFeature(
  shown: Locator,
  { kind, values }: ExpectedFeature,
): Promise<void> {
  if (values.length === 0) {
    await shown.getByText("The list is empty.").waitFor();
  } else if (kind === "bytes") {
    if (values.length === 1) return await assertBytes(shown, values[0]!);
    const elements = await elementsOf(shown, values.length);
    for (const [i, hex] of values.entries()) {
      await assertBytes(elements.nth(i), hex);
    }
  } else {
    await shown.locator(".tree .number, .array").first().waitFor();
    const tree = shown.locator(".tree .number");
    if (await tree.count() > 0) {
      assert.deepEqual(await textsOf(tree), values.map(String));
    } else if (kind === "float") {
      assertNumbers(await numbersIn(shown), values.map(Number));
    } else {
      await numbersIn(shown);
      const digits = await textsOf(shown.locator(".numbers td"));
      assert.deepEqual(digits, values);
    }
  }
}

async function assertSample(
  page: Page,
  features: readonly (readonly [string, ExpectedFeature])[],
): Promise<void> {
  for (const [key, feature] of features) {
    const shown = cellOf(page, shownKey(key));
    await shown.waitFor();
    await assertFeature(shown, feature).catch((error) => {
      throw new Error(`${key}: ${error.message}`, { cause: error });
    });
  }
}

pageTest(
  "examples are rows, with a column for each feature",
  async (browser) => {
    const { path, content } = tfrecordCase("examples");
    const examples = content.examples!;
    await using shown = await openRows(browser, path);
    const { page } = shown;
    const keys = new Set(
      examples.flatMap(({ features }) => Object.keys(features)),
    );
    assert.deepEqual(
      (await columnsOf(page)).toSorted(),
      [...keys].map(shownKey).toSorted(),
    );
    await page.getByText(`${examples.length} records`).waitFor();
    for (const i of [0, 3, 5]) {
      const texts = await rowTexts(page, `00000${i}`);
      const { features } = examples[i]!;
      for (
        const key of ["", "..", "a//b", "clash.json", "image/class/text"]
      ) {
        assert.equal(
          texts[shownKey(key)],
          fromHex(features[key]!.values[0]!),
          key,
        );
      }
      for (const key of ["image/class/label", "clash"]) {
        assert.equal(texts[key], features[key]!.values[0], key);
      }
      const encoded = String(features["image/encoded"]!.values[0]);
      assert.equal(texts["image/encoded"], `${encoded.length / 2} B`);
      const names = features["image/object/names"]!.values.length;
      assert.equal(texts["image/object/names"], `${names} values`);
      assert.equal(texts["image/size"], "5 int64");
      assert.equal(texts["image/object/bbox"], "4 float32");
      const { image } = features;
      assert.equal(
        texts.image,
        image === undefined ? "–" : fromHex(image.values[0]!),
      );
    }
  },
);

pageTest(
  "the address of an example leads to its features, drawn by kind",
  async (browser) => {
    const { path, content } = tfrecordCase("examples");
    await using shown = await openRows(browser, path);
    for (const i of [2, 5]) {
      await shown.go(`#/00000${i}`);
      const { features } = content.examples![i]!;
      await assertSample(shown.page, Object.entries(features));
      assert.equal(await fact(shown.page, "Record number"), String(i));
    }
    // A value in a directory that results from the slashes of its name.
    await shown.go("#/000002/image/object/bbox.npy");
    await shown.page.getByRole("img", { name: /^Curve of 4 float32/ })
      .waitFor();
  },
);

pageTest(
  "a sequence example shows its context, and its lists step by step",
  async (browser) => {
    const { path, content } = tfrecordCase("sequences");
    await using shown = await openRows(browser, path);
    const { page } = shown;
    assert.deepEqual((await columnsOf(page)).toSorted(), [
      "context/id",
      "context/length",
      "feature_lists/frames",
      "feature_lists/scores",
      "feature_lists/words",
    ]);
    assert.deepEqual(await rowTexts(page, "000003"), {
      "context/id": "v3",
      "context/length": "3",
      "feature_lists/frames": "3 values",
      "feature_lists/scores": "3 values",
      "feature_lists/words": "2 values",
    });
    await shown.go("#/000003");
    const { features, lists } = content.examples![3]!;
    await assertSample(
      page,
      Object.entries(features).map(([key, of]) => [`context/${key}`, of]),
    );
    for (const [key, steps] of Object.entries(lists)) {
      if (key === "words") continue; // steps that are lists have their own pages
      const list = cellOf(page, `feature_lists/${key}`);
      const elements = await elementsOf(list, steps.length);
      for (const [i, step] of steps.entries()) {
        await assertFeature(elements.nth(i), step);
      }
    }
    const words = cellOf(page, "feature_lists/words");
    const [texts, numbers] = lists.words!;
    await words.getByRole("img", { name: /^Curve of 3 int64/ }).waitFor();
    await assertFeature(words.locator(".element").nth(1), numbers!);
    await words.getByRole("link", { name: "000000", exact: true }).click();
    // The sample, which is shown until the list has loaded, also has a link of this name.
    await page.locator('a[href*="/words/000000/000001"]').click();
    await assertBytes(page.locator(".file"), texts!.values[1]!);
  },
);

pageTest(
  "records that are not examples have the written bytes, also in shards",
  async (browser) => {
    const { path, content } = tfrecordCase("records");
    await using shown = await openRows(browser, path);
    assert.equal((await shownNames(shown.page)).length, content.records.length);
    for (const [i, { size, sha256: sum }] of content.records.entries()) {
      if (size === 0) continue;
      await shown.go(`#/00000${i}?as=bytes`);
      assert.equal(sha256(await hexBytes(shown.page)), sum);
    }
    const shards = tfrecordCase("shards");
    await using sharded = await openRows(browser, shards.path);
    const { page } = sharded;
    const names = await shownNames(page);
    assert.deepEqual(
      names,
      [0, 1, 2].map((i) => `train-0000${i}-of-00003`),
    );
    await page.getByRole("textbox", { name: /^Go to/ }).fill("5");
    await page.keyboard.press("Enter");
    await assertSample(
      page,
      Object.entries(shards.content.examples![5]!.features),
    );
    assert.equal(await fact(page, "Path"), `${names[2]}/000002`);
    await sharded.go(`#/${names[1]}`);
    await page.getByText("The directory is empty.").waitFor();
  },
);

pageTest(
  "a file of examples that is served without the sample view shows its records",
  async (browser) => {
    const { path, content } = tfrecordCase("examples");
    await using shown = await Shown.open(browser, path, "#/000004?as=bytes");
    assert.equal(
      sha256(await hexBytes(shown.page)),
      content.records[4]!.sha256,
    );
  },
);

pageTest(
  "a damaged record is named in its row and on its page, and the others are shown",
  async (browser) => {
    await withTempDir(async (dir) => {
      const { path, content } = tfrecordCase("examples");
      const bytes = await Deno.readFile(path);
      bytes[content.records[2]!.offset + 30]! ^= 0x40;
      const damaged = `${dir}/damaged.tfrecord`;
      await Deno.writeFile(damaged, bytes);
      await using shown = await openRows(browser, damaged);
      const { page } = shown;
      const says = /record 2 of .*: checksum mismatch/;
      await page.getByRole("row", { name: /^000002/ }).getByText(says)
        .waitFor();
      const label = "image/class/label";
      assert.equal((await rowTexts(page, "000003"))[label], "3");
      await shown.go("#/000002");
      await page.getByRole("alert").getByText(says).waitFor();
      await shown.go("#/000003");
      await assertSample(page, [
        [label, content.examples![3]!.features[label]!],
      ]);
    });
  },
);

pageTest(
  "pictures in examples have the pixels that Pillow decodes",
  async (browser) => {
    await withTempDir(async (dir) => {
      const names = ["gray", "422", "444_progressive"];
      const path = `${dir}/pictures.tfrecord`;
      const examples = names.map((name) =>
        exampleOf({
          "image/encoded": [pictureFile(name)],
          "image/all": names.map((each) => pictureFile(each)),
        })
      );
      await Deno.writeFile(path, fileOf(examples));
      await using shown = await openRows(browser, path);
      const { page } = shown;
      await page.getByRole("row", { name: /^000002/ }).getByRole("img")
        .waitFor();
      for (const [i, name] of names.entries()) {
        await shown.go(`#/00000${i}`);
        await assertPicture(cellOf(page, "image/encoded"), name);
        const all = cellOf(page, "image/all").locator(".element");
        for (const [at, each] of names.entries()) {
          await assertPicture(all.nth(at), each);
        }
      }
    });
  },
);
