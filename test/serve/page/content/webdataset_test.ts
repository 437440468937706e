/** Tars: WebDataset samples as rows, and the files of tars of other programs. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { sha256 } from "../../../support/golden.ts";
import { withTempDir } from "../../../support/paths.ts";
import { tarCase } from "../../../support/tar/tar_golden.ts";
import { hexBytes, Shown, shownNames, textsOf } from "../support/browser.ts";
import { pageTest } from "../support/page_test_of.ts";
import {
  assertPicture,
  cellOf,
  columnsOf,
  fact,
  numbersIn,
  pictureFile,
  rowTexts,
} from "../support/values.ts";

const AS_ROWS = { sampleView: true };
const bytes = (text: string) => new TextEncoder().encode(text);

/** Returns the SHA-256 of a member, by Python's tarfile. */
function sumOf(name: string, member: string): string {
  const { entries } = tarCase(name).content;
  return entries.find(({ path }) => path === member)!.sha256!;
}

/** Returns the shown text of a value as UTF-8. */
async function textIn(page: Page, key: string): Promise<Uint8Array> {
  const text = await cellOf(page, key).locator("pre").textContent();
  return bytes(text!);
}

pageTest(
  "samples of WebDataset are rows, with a column for each extension",
  async (browser) => {
    const { path, content } = tarCase("webdataset");
    await using shown = await Shown.open(browser, path, "", AS_ROWS);
    const { page } = shown;
    const extensions = content.entries
      .filter((entry) => entry.path.startsWith("train/000."))
      .map((entry) => entry.path.slice("train/000.".length));
    assert.deepEqual(await columnsOf(page), ["__key__", ...extensions]);
    await page.getByText("12 samples").waitFor();
    // As make_golden.py writes them.
    for (const i of [0, 1, 5]) {
      const { txt, npy, ...others } = await rowTexts(page, `00000${i}`);
      assert.deepEqual(others, {
        __key__: `train/00${i}`,
        cls: String(i),
        "meta.json": `{i: ${i}, half: ${i / 2}}`,
        bin: `${i} B`,
      });
      assert.equal(
        sha256(bytes(`${txt}\n`)),
        sumOf("webdataset", `train/00${i}.txt`),
      );
      assert.equal(npy, "2 float32");
    }
  },
);

pageTest(
  "the address of a sample of WebDataset leads to its values, drawn by extension",
  async (browser) => {
    const { path } = tarCase("webdataset");
    await using shown = await Shown.open(browser, path, "#/000003", AS_ROWS);
    const { page } = shown;
    assert.equal(
      await cellOf(page, "__key__").locator("pre").textContent(),
      "train/003",
    );
    assert.equal(
      await cellOf(page, "cls").locator(".tree .number").textContent(),
      "3",
    );
    const sum = (extension: string) =>
      sumOf("webdataset", `train/003.${extension}`);
    assert.equal(sha256(await textIn(page, "txt")), sum("txt"));
    assert.equal(sha256(await hexBytes(cellOf(page, "bin"))), sum("bin"));
    assert.deepEqual(
      await textsOf(cellOf(page, "meta.json").locator(".leaf")),
      ["i: 3", "half: 1.5"],
    );
    const npy = cellOf(page, "npy");
    await npy.getByRole("img", { name: /^Curve of 2 float32, from 3 to 3.5$/ })
      .waitFor();
    assert.deepEqual(await numbersIn(npy), [3, 3.5]);
    assert.equal(await fact(page, "Sample number"), "3");
    await shown.go("#/000003/meta.json");
    assert.equal(await fact(page, "Kind"), "JSON");
    await shown.go("#/000003");
    // Each value has an address.
    await cellOf(page, "txt").getByRole("link", { name: "txt", exact: true })
      .click();
    await page.getByRole("button", { name: "Hex" }).click();
    assert.equal(sha256(await hexBytes(page)), sum("txt"));
  },
);

pageTest(
  "samples in shards are counted over all of them, and found by number",
  async (browser) => {
    const { path } = tarCase("shards");
    await using shown = await Shown.open(browser, path, "", AS_ROWS);
    const { page } = shown;
    assert.deepEqual(await shownNames(page), [
      "train-000000",
      "train-000001",
      "train-000002",
    ]);
    await page.getByRole("textbox", { name: /^Go to/ }).fill("7");
    await page.keyboard.press("Enter");
    const text = cellOf(page, "txt").locator("pre");
    await text.waitFor();
    assert.equal(
      sha256(bytes((await text.textContent())!)),
      sumOf("shards", "train-000001/007.txt"),
    );
    assert.equal(await fact(page, "Path"), "train-000001/000002");
    assert.equal(await fact(page, "Sample number"), "7");
  },
);

pageTest(
  "a tar that is served without the sample view shows its own files",
  async (browser) => {
    const { path } = tarCase("webdataset");
    await using shown = await Shown.open(browser, path, "#/train");
    // Samples have several files each, so an index does not count files.
    const jump = shown.page.getByLabel("Go to index or path");
    assert.match(
      (await jump.getAttribute("placeholder"))!,
      /^Go to sample 0–\d+$/,
    );
    const names = await shownNames(shown.page);
    assert.deepEqual(names.slice(0, 2), ["000.cls", "000.txt"]);
    await shown.go("#/train/003.txt?as=bytes");
    assert.equal(
      sha256(await hexBytes(shown.page)),
      sumOf("webdataset", "train/003.txt"),
    );
  },
);

pageTest(
  "members of tars of GNU tar, bsdtar and Python have the written bytes",
  async (browser) => {
    for (const name of ["gnu_tar_pax", "bsdtar_pax", "python_gnu"]) {
      const { path, content } = tarCase(name);
      await using shown = await Shown.open(browser, path, "", AS_ROWS);
      const top = content.entries.map((entry) => entry.path.split("/")[0]!);
      assert.deepEqual(
        (await shownNames(shown.page)).toSorted(),
        [...new Set(top)].toSorted(),
        name,
      );
      for (const { path: member, size, sha256: sum } of content.entries) {
        if (size === undefined || size === 0) continue;
        const url = member.split("/").map(encodeURIComponent).join("/");
        await shown.go(`#/${url}?as=bytes`);
        assert.equal(sha256(await hexBytes(shown.page)), sum, member);
      }
    }
  },
);

pageTest(
  "pictures in samples have their pixels, and damaged values are marked",
  async (browser) => {
    await withTempDir(async (dir) => {
      const write = (name: string, data: Uint8Array) =>
        Deno.writeFileSync(`${dir}/${name}`, data);
      for (const [i, name] of ["gray", "420"].entries()) {
        write(`${i}.jpg`, pictureFile(name));
        write(`${i}.cls`, bytes(String(i + 5)));
      }
      write("0.json", bytes('{"big": 9007199254740993, "none": NaN}'));
      write("2.jpg", bytes("no picture at all"));
      write("2.cls", bytes("no number"));
      write("2.npy", bytes("\x93NUMPY and no array"));
      write("2.json", bytes('{"an end": '));
      const files = [0, 1, 2].flatMap((i) => [`${i}.jpg`, `${i}.cls`]);
      const { success } = await new Deno.Command("tar", {
        args: ["-cf", "t.tar", "0.json", ...files, "2.npy", "2.json"],
        cwd: dir,
      }).output();
      assert.ok(success);
      const path = `${dir}/t.tar`;
      await using shown = await Shown.open(browser, path, "", AS_ROWS);
      const { page } = shown;
      const damaged = page.getByRole("row", { name: /^000002/ });
      await damaged.getByText("not drawn").waitFor();
      for (const [i, name] of ["gray", "420"].entries()) {
        assert.equal((await rowTexts(page, `00000${i}`)).cls, String(i + 5));
        await shown.go(`#/00000${i}`);
        await assertPicture(cellOf(page, "jpg"), name);
        await shown.go("#/");
      }
      // As Python writes them. Doubles cannot represent them exactly.
      assert.equal(
        (await rowTexts(page, "000000")).json,
        "{big: 9007199254740993, none: NaN}",
      );
      await shown.go("#/000000");
      assert.deepEqual(
        await textsOf(cellOf(page, "json").locator(".leaf")),
        ["big: 9007199254740993", "none: NaN"],
      );
      await shown.go("#/000002");
      await cellOf(page, "jpg").getByText("It can't be drawn").waitFor();
      await cellOf(page, "cls").getByText("no number").first().waitFor();
      await cellOf(page, "npy").getByText(/NPY|npy/).first().waitFor();
      await cellOf(page, "json").locator("pre", { hasText: '{"an end": ' })
        .waitFor();
    });
  },
  "tar",
);
