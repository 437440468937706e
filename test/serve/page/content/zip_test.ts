/** Zips that other programs wrote, NumPy arrays in them, and contents of all compression methods. */
import assert from "node:assert/strict";
import { sha256 } from "../../../support/golden.ts";
import { REPOSITORY, withTempDir } from "../../../support/paths.ts";
import { makeZip } from "../../../support/zip/make_zip.ts";
import { zipCase } from "../../../support/zip/zip_golden.ts";
import { hexBytes, Shown, shownNames, textsOf } from "../support/browser.ts";
import { pageTest } from "../support/page_test_of.ts";
import {
  assertHeatMap,
  assertPicture,
  pictureFile,
} from "../support/values.ts";

const ZIPS = [
  ...["python", "python_pipe", "python_zip64", "python_sfx", "cp437"],
  ...["info_zip", "info_zip_pipe", "bsdtar", "seven_zip"],
];

/** A file of NumPy's `savez`, written by make_fixture.py. */
const NPZ = `${REPOSITORY}test/recipes/just_a_folder/just_another_folder/` +
  "npzfile.npz";
const NUMBERS = ["1", "2", "3", String(2n ** 60n)];

const bytes = (text: string) => new TextEncoder().encode(text);
const urlOf = (path: string) =>
  path.split("/").map(encodeURIComponent).join("/");

pageTest(
  "zips of other programs list their names, and show their texts and bytes",
  async (browser) => {
    for (const name of ZIPS) {
      const { path, content: { entries } } = zipCase(name);
      await using shown = await Shown.open(browser, path);
      const { page } = shown;
      const names = await shownNames(page);
      for (const { path: member } of entries) {
        assert.ok(names.includes(member.split("/")[0]!), member);
      }
      for (const { path: member, size, sha256: sum } of entries) {
        await shown.go(`#/${urlOf(member)}`);
        if (size === 0) {
          await page.getByText(/There are no bytes in it|The text is empty/)
            .waitFor();
          continue;
        }
        if (member.endsWith(".txt")) {
          const text = await page.locator("pre").textContent();
          assert.equal(sha256(bytes(text!)), sum, `${name} ${member}`);
        }
        await page.getByRole("button", { name: "Hex" }).click();
        assert.equal(sha256(await hexBytes(page)), sum, `${name} ${member}`);
      }
    }
  },
);

pageTest(
  "arrays that NumPy wrote to an npz are drawn, with all their digits",
  async (browser) => {
    await using shown = await Shown.open(browser, NPZ);
    const { page } = shown;
    assert.deepEqual(
      (await shownNames(page)).toSorted(),
      ["arr_0.npy", "mask.npy", "names.npy"],
    );
    const main = page.locator("main");
    const table = async () => {
      const numbers = page.getByRole("button", { name: "Numbers" });
      if (await numbers.count() > 0) await numbers.click();
      return await textsOf(page.locator(".numbers td"));
    };
    await shown.go("#/arr_0.npy");
    await assertHeatMap(main, [2, 2], NUMBERS.map(Number));
    assert.deepEqual(await table(), NUMBERS);
    await shown.go("#/mask.npy");
    await page.getByRole("img", { name: /^Curve of 3 bool/ }).waitFor();
    assert.deepEqual(await table(), ["true", "false", "true"]);
    await shown.go("#/names.npy");
    await page.locator(".array").waitFor();
    assert.deepEqual(await table(), ["cat", "dog"]);
  },
);

pageTest(
  "contents of all methods are drawn by kind, also an npz in a zip",
  async (browser) => {
    await withTempDir(async (dir) => {
      const npz = await Deno.readFile(NPZ);
      const members = [
        ["gray.jpg", pictureFile("gray")],
        ["422.jpg", pictureFile("422")],
        ["a.json", bytes('{"list": [1, 2.5, null], "big": 9007199254740993}')],
        ["a.csv", bytes('name,score\n"a, b",1\n')],
        ["all.npz", npz],
      ] as const;
      for (const method of [0, 8, 93]) {
        const path = `${dir}/${method}.zip`;
        const zip = makeZip(
          members.map(([name, data]) => ({ name, data, method })),
        );
        await Deno.writeFile(path, zip);
        await using shown = await Shown.open(browser, path);
        const { page } = shown;
        const main = page.locator("main");
        for (const name of ["gray", "422"]) {
          await shown.go(`#/${name}.jpg`);
          await assertPicture(main, name);
        }
        await shown.go("#/a.json");
        assert.deepEqual(await textsOf(page.locator(".tree .leaf")), [
          ...["0: 1", "1: 2.5", "2: null"],
          "big: 9007199254740993",
        ]);
        await shown.go("#/a.csv");
        assert.deepEqual(await textsOf(page.getByRole("cell")), ["a, b", "1"]);
        await shown.go("#/all.npz");
        const headings = page.getByRole("heading", { level: 3 });
        const names = await textsOf(headings.filter({ hasNotText: "values" }));
        assert.deepEqual(names.toSorted(), ["arr_0", "mask", "names"]);
        await assertHeatMap(
          page.locator(".arrays > section", { hasText: "arr_0" }),
          [2, 2],
          NUMBERS.map(Number),
        );
      }
    });
  },
);

pageTest(
  "a damaged content is named, and shown only as hex on request",
  async (browser) => {
    await withTempDir(async (dir) => {
      for (const method of [0, 8]) {
        const data = bytes("what was written, what was written");
        const zip = makeZip([
          { name: "good.txt", data, method },
          { name: "wrong.txt", data, method },
          { name: "wrong.jpg", data: pictureFile("gray"), method },
        ]);
        const text = new TextDecoder("latin1").decode(zip);
        zip[text.indexOf("wrong.txt") + 9 + 3]! ^= 2;
        zip[text.indexOf("wrong.jpg") + 9 + 4000]! ^= 2;
        const path = `${dir}/${method}.zip`;
        await Deno.writeFile(path, zip);
        await using shown = await Shown.open(browser, path, "#/wrong.txt");
        const { page } = shown;
        await page.getByRole("alert").getByText(
          new RegExp(`sample 1 of .*${method}\\.zip.*: checksum mismatch`),
        ).waitFor();
        assert.equal(await page.locator("pre").count(), 0);
        if (method === 0) {
          await page.getByRole("button", { name: "Hex" }).click();
          const seen = new TextDecoder().decode(await hexBytes(page));
          assert.equal(seen, "whav was written, what was written");
        }
        await shown.go("#/wrong.jpg");
        await page.getByText("It can't be drawn").waitFor();
        await shown.go("#/good.txt");
        assert.equal(
          await page.locator("pre").textContent(),
          "what was written, what was written",
        );
      }
    });
  },
);
