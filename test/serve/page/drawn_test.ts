/// <reference lib="dom" />
/** Files that the page draws specially: SVG without scripts, TIFF by the server, text in other encodings. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import sharp from "sharp";
import {
  ffrBytes,
  type Folder,
  packedSamples,
} from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { pixelsOf, Shown } from "./support/browser.ts";
import { pageTest } from "./support/page_test_of.ts";

const utf8 = (of: string) => new TextEncoder().encode(of);

const SCRIPT =
  "globalThis.ran=1;top.ran=1;alert(1);fetch('https://example.org/')";

/** A green square of 20 pixels, with elements that would run scripts or load resources. */
const HOSTILE =
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="20" height="20" onload="${SCRIPT}">` +
  `<script>${SCRIPT}</script><style>@import "https://example.org/a.css";rect{fill:#080}</style>` +
  `<rect width="20" height="20"/><image href="https://example.org/x.png" width="9" height="9"/>` +
  `<use xlink:href="https://example.org/y.svg#a"/><a href="javascript:${SCRIPT}"><rect width="1" height="1"/></a>` +
  `<foreignObject width="9" height="9"><iframe xmlns="http://www.w3.org/1999/xhtml" src="https://example.org/"/></foreignObject></svg>`;

const svgOf = (inner: string) =>
  utf8(
    `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">${inner}</svg>`,
  );

/** Returns an SVG of nested references, ten each: 10⁹ squares. */
function bomb(wrap: (to: string, id: string) => string): Uint8Array {
  let parts = '<g id="a0"><rect width="1" height="1"/></g>';
  for (let i = 1; i <= 9; i++) parts += wrap(`a${i - 1}`, `a${i}`);
  return svgOf(parts);
}

async function withFolder(
  folder: Folder,
  body: (path: string) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.ffr`;
    await Deno.writeFile(path, ffrBytes(packedSamples(folder)));
    await body(path);
  });
}

pageTest(
  "SVG is drawn without its scripts and external content",
  async (browser) => {
    await withFolder({ "a.svg": utf8(HOSTILE) }, async (path) => {
      await using shown = await Shown.open(browser, path, "#/a.svg");
      const { page } = shown;
      await page.getByRole("img", { name: "a.svg" }).waitFor();
      await page.getByText("20 × 20 pixels").waitFor();
      // A canvas would be tainted by a foreign object, and could not be read.
      const seen = await page.locator("img.picture").screenshot();
      const { data } = await sharp(seen).removeAlpha().raw().toBuffer({
        resolveWithObject: true,
      });
      assert.deepEqual([...data.subarray(-3)], [0, 0x88, 0]);
      assert.equal(await page.evaluate(() => "ran" in globalThis), false);
      await page.getByRole("button", { name: "Text" }).click();
      const text = page.getByRole("region", { name: "Text" });
      assert.equal(await text.textContent(), HOSTILE);
    });
  },
);

pageTest(
  "SVG that would block the page is shown as text, with the reason",
  async (browser) => {
    const uses = (to: string) => `<use href="#${to}"/>`.repeat(10);
    const fills = (to: string) =>
      `<rect width="9" height="9" fill="url(#${to})"/>`.repeat(10);
    const folder = {
      "uses.svg": bomb((to, id) => `<g id="${id}">${uses(to)}</g>`),
      "patterns.svg": bomb((to, id) =>
        `<pattern id="${id}" width="9" height="9">${fills(to)}</pattern>`
      ),
      "many.svg": svgOf("<g/>".repeat(100_001)),
      "entities.svg": Buffer.concat([
        utf8('<!DOCTYPE svg [<!ENTITY a "b">]>'),
        svgOf("&a;"),
      ]),
      "sheet.svg": svgOf(
        '<style>rect{fill:url("#p")}</style><pattern id="p"/><rect/>',
      ),
      "encoding.svg": Buffer.concat([
        utf8('<?xml version="1.0" encoding="gb18030"?>'),
        svgOf(""),
      ]),
      "large.svg": svgOf(" ".repeat(4 << 20)),
      "deep.svg": svgOf("<g>".repeat(30_000) + "</g>".repeat(30_000)),
      "broken.svg": utf8("<svg><"),
    };
    const reasons = {
      "uses.svg": "more than 100000 elements",
      "patterns.svg": "more than 100000 elements",
      "many.svg": "more than 100000 elements",
      "entities.svg": "it declares entities",
      "sheet.svg": "style sheet refers to an element 'pattern'",
      "encoding.svg": "its encoding",
      "large.svg": "at most 4194304 are decoded",
      "deep.svg": "",
      "broken.svg": "it is not drawn",
    };
    await withFolder(folder, async (path) => {
      await using shown = await Shown.open(browser, path);
      const { page } = shown;
      for (const [name, reason] of Object.entries(reasons)) {
        await shown.go(`#/${name}`);
        await page.locator(".note", { hasText: reason }).waitFor();
        await page.getByRole("region", { name: "Text" }).waitFor();
        assert.equal(await page.locator("img").count(), 0, name);
      }
      // Lists do not draw them either.
      await shown.go("#/?view=grid");
      await page.getByRole("option", { name: /uses\.svg, SVG/ }).waitFor();
      assert.equal(await page.locator(".tile img:visible").count(), 0);
    });
  },
);

pageTest(
  "SVG that refers to its parts, even in circles, is drawn",
  async (browser) => {
    const square = '<rect width="20" height="20" fill="url(#g)"/>';
    const gradient =
      '<linearGradient id="g"><stop stop-color="#00f"/></linearGradient>';
    const folder = {
      "gradient.svg": svgOf(gradient + square),
      "circle.svg": svgOf(
        `${gradient}${square}<g id="a"><use href="#a"/><use href="#b"/></g>` +
          '<g id="b"><use href="#a"/></g>',
      ),
      "sheet.svg": svgOf(
        `<style>rect{fill:url(#g)}</style>${gradient}<rect width="20" height="20"/>`,
      ),
    };
    await withFolder(folder, async (path) => {
      await using shown = await Shown.open(browser, path);
      for (const name of Object.keys(folder)) {
        await shown.go(`#/${name}`);
        await shown.page.getByRole("img", { name }).waitFor();
        const { data } = await pixelsOf(shown.page, "img.picture");
        assert.deepEqual([...data.slice(-4)], [0, 0, 255, 255], name);
      }
    });
  },
);

pageTest(
  "TIFF is drawn by the server, also without its suffix",
  async (browser) => {
    const raw = { width: 40, height: 30, channels: 3 } as const;
    const tiff = await sharp({
      create: { ...raw, background: { r: 200, g: 30, b: 60 } },
    }).tiff({ compression: "lzw" }).toBuffer();
    const bytes = Uint8Array.from(tiff);
    const folder = { "a.tiff": bytes, "no name": bytes, "b.tif": utf8("II*") };
    await withFolder(folder, async (path) => {
      await using shown = await Shown.open(browser, path);
      const { page } = shown;
      for (const name of ["a.tiff", "no name"]) {
        await shown.go(`#/${encodeURIComponent(name)}`);
        await page.getByText("40 × 30 pixels, as the server has drawn it")
          .waitFor();
        const { width, height, data } = await pixelsOf(page, "img.picture");
        assert.deepEqual([width, height], [40, 30]);
        [200, 30, 60].forEach((level, i) =>
          assert.ok(Math.abs(data[i]! - level) < 8, `${name}: ${data[i]}`)
        );
      }
      await shown.go("#/b.tif");
      await page.getByText("It can't be drawn").waitFor();
      await shown.go("#/?view=grid");
      await page.locator(".tile", { hasText: "a.tiff" }).locator("img")
        .waitFor();
    });
  },
);

pageTest(
  "the encoding of a text is named if it is not UTF-8",
  async (browser) => {
    const wide = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");
    const folder = {
      "latin.txt": Buffer.from("caf\u00e9 au lait", "latin1"),
      "wide.csv": wide("name,score\nRen\u00e9,1\n"),
      "wide.json": wide('{"a": "\u00e4"}'),
      "plain.txt": utf8("caf\u00e9"),
    };
    await withFolder(folder, async (path) => {
      await using shown = await Shown.open(browser, path);
      const { page } = shown;
      for (
        const [name, note, text] of [
          ["latin.txt", "Text in Windows-1252 (Latin-1)", "caf\u00e9 au lait"],
          ["wide.csv", "Text in UTF-16 (little-endian)", "Ren\u00e9"],
          ["wide.json", "Text in UTF-16 (little-endian)", '"\u00e4"'],
        ] as const
      ) {
        await shown.go(`#/${name}`);
        await page.getByText(note, { exact: true }).waitFor();
        await page.locator(".shown").getByText(text).first().waitFor();
      }
      await shown.go("#/plain.txt");
      await page.getByText("caf\u00e9", { exact: true }).waitFor();
      assert.equal(await page.getByText(/^Text in/).count(), 0);
    });
  },
);
