/// <reference lib="dom" />
/** A malicious dataset: none of it runs or becomes markup, and the page keeps working. */
import assert from "node:assert/strict";
import { crc32, deflateSync } from "node:zlib";
import { Buffer } from "node:buffer";
import {
  ffrBytes,
  type Folder,
  packedSamples,
} from "../../support/ffrecord/make_ffr.ts";
import { writeChunk } from "../../support/gulp/make_gulp.ts";
import { entryOf, NAME, shardOf } from "../../support/mds/make_mds.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";
import { Shown } from "./support/browser.ts";
import { pageTest, wholeBrowserTest } from "./support/page_test_of.ts";

const text = (of: string) => new TextEncoder().encode(of);

/** Side effects that each script attempts. */
const SCRIPT =
  "globalThis.ran=1;top.ran=1;alert(1);fetch('https://example.org/')";

const HTML = `<!doctype html><script>${SCRIPT}</script>` +
  `<img src=x onerror="${SCRIPT}"><iframe src="javascript:${SCRIPT}"></iframe>` +
  `<meta http-equiv=refresh content="0;url=https://example.org/">`;

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload="${SCRIPT}">` +
  `<script>${SCRIPT}</script><image href="https://example.org/x.png"/>` +
  `<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="https://example.org/"/>` +
  `</foreignObject><rect width="9" height="9"/></svg>`;

/** Names that look like markup, addresses, queries or members of objects. */
const NAMES = [
  `<img src=x onerror=${"globalThis.ran=1"}>`,
  "<script>globalThis.ran=1<",
  '"><b onmouseover=alert(1)>',
  "' onclick='alert(1)",
  "javascript:globalThis.ran=1",
  "?path=x&limit=1#at",
  "%2e%2e%2fetc",
  "100% a+b",
  "__proto__",
  "constructor",
  "toString",
  "{{7*7}}${7*7}",
  "\u202egpj.exe",
  "a\nb\tc\u0000".replace("\u0000", ""),
  "x".repeat(255),
];

/** Returns a small PNG of 30,000 × 30,000 pixels, which takes 3.6 GB decoded. */
function pictureBomb(): Uint8Array {
  const side = 30_000;
  const chunk = (type: string, data: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header[8] = 1; // one bit per pixel, gray
  const rows = Buffer.alloc((side / 8 + 1) * side);
  return new Uint8Array(Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows, { level: 1 })),
    chunk("IEND", new Uint8Array(0)),
  ]));
}

async function writeFolder(path: string, folder: Folder): Promise<void> {
  await Deno.writeFile(path, ffrBytes(packedSamples(folder)));
}

/** Returns whether a script of the dataset ran, and how many elements it added. */
async function harmOf({ page }: Shown): Promise<unknown> {
  return await page.evaluate(() => ({
    ran: "ran" in globalThis,
    elements: document.querySelectorAll(
      "body script, iframe, object, embed, body img[src='x'], [onerror], [onmouseover], [onclick]",
    ).length,
    bold:
      [...document.querySelectorAll("b")].filter((b) => b.attributes.length > 0)
        .length,
  }));
}

const NO_HARM = { ran: false, elements: 0, bold: 0 };

wholeBrowserTest(
  "a page of another site that opens the page has no reference to its window",
  async (browser) => {
    await withTempDir(async (dir) => {
      const path = `${dir}/a.ffr`;
      await writeFolder(path, { a: text("a") });
      await using shown = await Shown.open(browser, path);
      await using other = Deno.serve(
        { port: 0, hostname: "127.0.0.1", onListen() {} },
        () =>
          new Response("<!doctype html>", {
            headers: { "content-type": "text/html" },
          }),
      );
      const context = shown.page.context();
      const page = await context.newPage();
      for (const host of ["localhost", "127.0.0.1"]) { // another site, and another port of the same site
        await page.goto(`http://${host}:${other.addr.port}/`);
        const opening = context.waitForEvent("page");
        await page.evaluate((url) => {
          Object.assign(globalThis, { held: globalThis.open(url) });
        }, shown.origin);
        const opened = await opening;
        await opened.locator(".canvas").waitFor();
        assert.equal(await opened.evaluate(() => globalThis.opener), null);
        await page.waitForFunction(() =>
          (globalThis as unknown as { held: Window }).held.closed // an inaccessible window counts as closed
        );
        await opened.close();
      }
      await page.close();
    });
  },
);

wholeBrowserTest(
  "names are shown as text, and lead to their files",
  async (browser) => {
    await withTempDir(async (dir) => {
      const path = `${dir}/names.ffr`;
      const folder = Object.fromEntries(
        NAMES.map((name, i) => [name, text(`content ${i}`)]),
      );
      await writeFolder(path, folder);
      await using shown = await Shown.open(browser, path, "#/?view=table");
      const { page } = shown;
      const links = page.locator(".canvas .line:visible .name a");
      assert.equal(await links.count(), NAMES.length);
      const sorted = NAMES.toSorted((a, b) =>
        Buffer.compare(Buffer.from(a), Buffer.from(b))
      );
      for (const [i, name] of sorted.entries()) {
        await links.nth(i).click();
        await page.getByRole("article").waitFor();
        await page.getByRole("button", { name: "Text" }).click();
        await page.locator("pre", { hasText: `content ${NAMES.indexOf(name)}` })
          .waitFor();
        const title = await page.getByRole("heading", { level: 2 })
          .textContent();
        const seen = name.replace("\n", "\\n").replace("\t", "\\t")
          .replace("\u202e", "\\u202e");
        assert.equal(title, seen);
        assert.deepEqual(await harmOf(shown), NO_HARM);
        await page.keyboard.press("Escape");
        await links.nth(sorted.length - 1).waitFor();
      }
    });
  },
);

pageTest(
  "long names and deep paths are shortened in the header, and the page is never wider than its window",
  async (browser) => {
    await withTempDir(async (dir) => {
      const path = `${dir}/long.ffr`;
      const names = ["0123456789abcdef".repeat(4) + ".txt", "x".repeat(245)];
      const folder = Object.fromEntries(names.map((name) => [name, text("")]));
      const parts = Array.from({ length: 60 }, (_, i) => `part ${i}`);
      const deep = parts.reduceRight<Folder>(
        (below, part) => ({ [part]: below }),
        { "a.txt": text("") },
      );
      await writeFolder(path, { train: folder, deep });
      await using shown = await Shown.open(browser, path);
      const { page } = shown;
      const deepest = ["deep", ...parts, "a.txt"].map(encodeURIComponent);
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 800 });
        for (const name of names) {
          await shown.go(`#/train/${name}`);
          const last = page.locator(".crumbs a[aria-current]");
          const [isCut, end, scrollWidth] = await last.evaluate((link) => [
            link.scrollWidth > link.clientWidth,
            link.getBoundingClientRect().right -
            link.closest("nav")!.getBoundingClientRect().right,
            document.documentElement.scrollWidth,
          ]);
          const where = `${name} at ${width}`;
          assert.deepEqual([isCut, scrollWidth], [true, width], where);
          assert.ok(Number(end) < 1, `${where}: ${end} pixels over`);
        }
        await shown.go(`#/${deepest.join("/")}`);
        const scrollWidth = await page.evaluate(() =>
          document.documentElement.scrollWidth
        );
        assert.equal(scrollWidth, width, "deep");
      }
    });
  },
);

wholeBrowserTest(
  "HTML, SVG and texts of a dataset do not run, in the page or alone",
  async (browser) => {
    await withTempDir(async (dir) => {
      const path = `${dir}/files.ffr`;
      const deep = "[".repeat(20_000) + "]".repeat(20_000);
      const members =
        '{"__proto__": {"ran": 1}, "constructor": "<script>ran=1</script>"}';
      await writeFolder(path, {
        "page.html": text(HTML),
        "page.xhtml": text(HTML),
        "drawing.svg": text(SVG),
        "text.txt": text(HTML),
        "deep.json": text(deep),
        "members.json": text(members),
        "broken.json": text('{"a": '),
        "table.csv": text(
          '<b>name</b>,"=cmd()"\n<script>ran=1</script>,<img src=x>\n',
        ),
        "not_a_picture.jpg": text(HTML),
        "not_a_video.mp4": text(HTML),
        "not_an_array.npy": text("\x93NUMPY"),
        "not_a_pickle.pkl": text("cos\nsystem\n(S'touch ran'\ntR."),
      });
      await using shown = await Shown.open(browser, path, "#/?view=grid");
      const { page } = shown;
      const tiles = page.getByRole("option");
      const count = await tiles.count();
      assert.equal(count, 12);
      for (let i = 0; i < count; i++) {
        await tiles.nth(i).click();
        await page.getByRole("article").waitFor();
        await page.locator(".shown:not([aria-busy])").waitFor();
        assert.deepEqual(await harmOf(shown), NO_HARM);
        await page.keyboard.press("Escape");
        await tiles.nth(count - 1).waitFor();
      }
      shown.assertSound();
      // The file opened directly, outside the page.
      for (
        const name of [
          "page.html",
          "page.xhtml",
          "drawing.svg",
          "not_a_picture.jpg",
        ]
      ) {
        const answer = await page.goto(`${shown.origin}files/${name}`).catch(
          () => null,
        );
        const ran = await page.evaluate(() => "ran" in globalThis);
        assert.equal(ran, false, name);
        if (answer !== null && !name.endsWith(".jpg")) {
          assert.match(
            answer.headers()["content-security-policy"] ?? "",
            /sandbox/,
          );
        }
      }
      // The browser reports each blocked script. There must be no other problem.
      const others = shown.problems.filter((problem) =>
        !/Blocked script execution|Content Security Policy|is sandboxed/i.test(
          problem,
        )
      );
      shown.problems.length = 0;
      assert.deepEqual(others, []);
    });
  },
);

wholeBrowserTest(
  "a picture bomb is not drawn, and its neighbours are",
  async (browser) => {
    await withTempDir(async (dir) => {
      const path = `${dir}/bomb.ffr`;
      const picture = await Deno.readFile(
        `${REPOSITORY}test/golden/pictures/420.jpg`,
      );
      await writeFolder(path, {
        "a.jpg": picture,
        "bomb.png": pictureBomb(),
        "c.jpg": picture,
      });
      await using shown = await Shown.open(browser, path, "#/?view=grid");
      const { page } = shown;
      const drawn = (name: string) =>
        page.locator(".tile", { hasText: name }).locator("img");
      await drawn("a.jpg").waitFor();
      await drawn("c.jpg").waitFor();
      assert.equal(await drawn("bomb.png").isVisible(), false);
      await page.locator(".tile", { hasText: "bomb.png" }).click();
      await page.getByText("It can't be drawn").waitFor();
      await page.keyboard.press("ArrowRight");
      await page.getByRole("img", { name: "c.jpg" }).waitFor();
    });
  },
);

wholeBrowserTest(
  "labels and ids of videos are text as well",
  async (browser) => {
    await withTempDir(async (dir) => {
      const frames = [
        await Deno.readFile(`${REPOSITORY}test/golden/pictures/gray.jpg`),
      ];
      const markup = "<img src=x onerror=globalThis.ran=1>";
      writeChunk(dir, 0, [{
        id: markup,
        frames,
        meta: { [markup]: markup, $: { $: "bytes" } },
      }]);
      await using shown = await Shown.open(browser, dir);
      const { page } = shown;
      await page.getByRole("option").click();
      const labels = page.getByRole("region", { name: "Labels" });
      await labels.getByText(`${markup}: ${JSON.stringify(markup)}`).waitFor();
      assert.deepEqual(await harmOf(shown), NO_HARM);
      await page.keyboard.press("s");
      await page.getByText("entries counted").waitFor();
      assert.deepEqual(await harmOf(shown), NO_HARM);
    });
  },
);

wholeBrowserTest(
  "keys of datapoints are names of columns, and their texts are text",
  async (browser) => {
    await withTempDir(async (dir) => {
      // Some names are shown escaped, and MDS does not support a column with the longest name.
      const keys = NAMES.filter((name) =>
        !/[\n\u202e]/.test(name) && name.length < 200
      );
      const columns = keys.map((key) => [key, "str", null] as const);
      const value = text(`${HTML}\n`.repeat(20));
      const sizes = Uint32Array.from(keys, () => value.length);
      const sample = Buffer.concat([
        new Uint8Array(sizes.buffer),
        ...keys.map(() => value),
      ]);
      const shard = shardOf([sample, sample], columns);
      const shards = [entryOf(NAME, shard.length, 2, columns)];
      await Deno.writeFile(`${dir}/${NAME}`, shard);
      await Deno.writeTextFile(
        `${dir}/index.json`,
        JSON.stringify({ shards, version: 2 }),
      );
      await using shown = await Shown.open(browser, dir, "#/?view=rows");
      const { page } = shown;
      await page.locator(".row .words").first().waitFor();
      const heads = page.getByRole("columnheader").locator("b");
      const seen = (await heads.allTextContents()).toSorted();
      assert.deepEqual(seen, keys.toSorted());
      assert.deepEqual(await harmOf(shown), NO_HARM);
      await page.getByRole("button", { name: "Columns" }).click();
      const menu = page.getByRole("group", { name: "Columns" });
      for (const key of keys) {
        await menu.getByRole("checkbox", { name: key, exact: true }).click();
      }
      assert.equal(await heads.count(), 0);
      const hash = await shown.hash();
      await page.reload();
      await shown.ready();
      assert.equal(await heads.count(), 0);
      assert.equal(await shown.hash(), hash);
      assert.deepEqual(await harmOf(shown), NO_HARM);
    });
  },
);
