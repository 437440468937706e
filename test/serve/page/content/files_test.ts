/** Files in containers that the original library wrote, and files of kinds that browsers or recordfs can show. */
import assert from "node:assert/strict";
import { imageCodec } from "../../../../src/codecs/image/mod.ts";
import { writeNpy } from "../../../../src/codecs/numpy/mod.ts";
import { ffrBytes, packedSamples } from "../../../support/ffrecord/make_ffr.ts";
import { goldenCase, sha256 } from "../../../support/golden.ts";
import { REPOSITORY, withTempDir } from "../../../support/paths.ts";
import { hexBytes, Shown, shownNames, textsOf } from "../support/browser.ts";
import { pageTest } from "../support/page_test_of.ts";

const text = (of: string) => new TextEncoder().encode(of);

/** Packs these files, and calls `body` with the path. */
async function withFolder(
  folder: Parameters<typeof packedSamples>[0],
  body: (path: string) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    const path = `${dir}/folder.ffr`;
    await Deno.writeFile(path, ffrBytes(packedSamples(folder)));
    await body(path);
  });
}

/** Returns a WAV file of one second of silence: 8,000 samples of one byte. */
function silence(): Uint8Array {
  const wav = new Uint8Array(44 + 8000).fill(128);
  const view = new DataView(wav.buffer);
  wav.set(text("RIFF"));
  view.setUint32(4, 36 + 8000, true);
  wav.set(text("WAVEfmt "), 8);
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, 8000, true);
  view.setUint32(28, 8000, true);
  view.setUint16(32, 1, true);
  view.setUint16(34, 8, true);
  wav.set(text("data"), 36);
  view.setUint32(40, 8000, true);
  return wav;
}

pageTest(
  "a packed folder lists the names that Python packed, and shows their bytes",
  async (browser) => {
    const { path, content } = goldenCase("ffrecord/packed_tree");
    await using shown = await Shown.open(browser, path, "", {
      viewport: { width: 1280, height: 1600 },
    });
    const top = content.entries.filter((entry) => !entry.path.includes("/"));
    const names = await shownNames(shown.page);
    assert.equal(names.length, top.length);
    for (
      const name of [
        "Upper",
        "50% off",
        "back\\slash",
        "big_53.bin",
        "coöp",
        "...",
      ]
    ) {
      assert.ok(names.includes(name), name);
    }
    // Invisible characters in names are escaped.
    assert.ok(names.includes("new\\nline") && names.includes("tab\\tname"));
    for (const name of ["big_53.bin", "50% off", "...", "cafe\u0301/nfd.txt"]) {
      const { sha256: expected } = content.entries.find((entry) =>
        entry.path === name
      )!;
      const url = name.split("/").map(encodeURIComponent).join("/");
      await shown.go(`#/${url}?as=bytes`);
      assert.equal(sha256(await hexBytes(shown.page)), expected, name);
    }
    await shown.go("#/%20leading%20space?as=bytes");
    await shown.page.getByText("There are no bytes in it.").waitFor();
  },
);

pageTest("names that are not UTF-8 lead to their files", async (browser) => {
  const { path, content } = goldenCase("ffrecord/packed_not_utf8_names");
  await using shown = await Shown.open(browser, path);
  const file = content.entries.find(({ path, path_bytes: bytes, type, size }) =>
    bytes !== undefined && type === "file" && !path.includes("/") && size > 0
  )!;
  const lone = /[\udc80-\udcff]/g;
  const name = file.path.replaceAll(
    lone,
    (found) => `\\x${(found.charCodeAt(0) - 0xdc00).toString(16)}`,
  );
  await shown.page.getByRole("link", { name, exact: true }).click();
  await shown.page.getByRole("button", { name: "Hex" }).click();
  assert.equal(sha256(await hexBytes(shown.page)), file.sha256);
});

pageTest(
  "samples, and records of bags, have the written bytes",
  async (browser) => {
    for (
      const [name, indices] of [
        ["ffrecord/plain_sizes", [1, 6, 13]],
        ["ffrecord/parts_dump", [0, 7, 22]],
      ] as const
    ) {
      const { path, content } = goldenCase(name);
      await using shown = await Shown.open(browser, path);
      for (const index of indices) {
        await shown.page.getByRole("textbox", { name: /^Go to/ }).fill(
          String(index),
        );
        await shown.page.keyboard.press("Enter");
        await shown.page.getByRole("button", { name: "Hex" }).click();
        await shown.page.locator("pre.hex").waitFor();
        if (content.samples[index]!.size > 70_000) continue;
        assert.equal(
          sha256(await hexBytes(shown.page)),
          content.samples[index]!.sha256,
          `${name} ${index}`,
        );
        await shown.go("#/");
      }
    }
    const { path, content } = goldenCase("bag/many");
    const { records } = content as unknown as {
      readonly records: readonly {
        readonly size: number;
        readonly sha256: string;
      }[];
    };
    await using shown = await Shown.open(browser, path);
    for (const index of [4, 100, records.length - 1]) {
      const names = shown.page.getByRole("textbox", { name: /^Go to/ });
      await names.fill(String(index));
      await names.press("Enter");
      await shown.page.getByRole("button", { name: "Hex" }).click();
      assert.equal(sha256(await hexBytes(shown.page)), records[index]!.sha256);
      await shown.go("#/");
    }
  },
);

pageTest("a pickled sample of Python is shown as data", async (browser) => {
  const path = `${REPOSITORY}test/recipes/pickled_by_python.ffr`;
  await using shown = await Shown.open(browser, path);
  const { page } = shown;
  await page.getByRole("textbox", { name: /^Go to/ }).fill("0");
  await page.keyboard.press("Enter");
  await page.locator(".tree .leaf").first().waitFor();
});

pageTest(
  "text, JSON, CSV, arrays, audio and bytes are shown by their kind",
  async (browser) => {
    const numbers = Float32Array.from(
      { length: 50 },
      (_, i) => Math.sin(i / 5),
    );
    await withFolder({
      "a.txt": text("first line\nsecond <b>line</b>\n"),
      "b.json": text(
        '{"name": "x", "list": [1, 2.5, null], "big": 9007199254740993}',
      ),
      "c.csv": text('name,score\n"a, b",1\nc,2\n'),
      "d.npy": writeNpy({ dtype: "<f4", shape: [50], data: numbers }),
      "e.wav": silence(),
      "f.bin": Uint8Array.from({ length: 300 }, (_, i) => i),
      "empty.txt": new Uint8Array(0),
    }, async (path) => {
      await using shown = await Shown.open(browser, path);
      const { page } = shown;
      await shown.go("#/a.txt");
      assert.equal(
        await page.locator("pre").textContent(),
        "first line\nsecond <b>line</b>\n",
      );
      await shown.go("#/empty.txt");
      await page.getByText("The text is empty.").waitFor();
      await shown.go("#/b.json");
      await page.locator(".tree .leaf").last().waitFor();
      assert.deepEqual(await textsOf(page.locator(".tree .leaf")), [
        'name: "x"',
        ...["0: 1", "1: 2.5", "2: null"],
        "big: 9007199254740993",
      ]);
      await page.locator("summary", { hasText: "list" }).click();
      await page.getByText("2.5").waitFor({ state: "hidden" });
      await page.getByRole("button", { name: "Text" }).click();
      await page.locator("pre", { hasText: '"list": [1, 2.5, null]' })
        .waitFor();
      assert.equal(await shown.hash(), "#/b.json?as=text");
      await shown.go("#/c.csv");
      assert.deepEqual(await textsOf(page.getByRole("columnheader")), [
        "",
        "name",
        "score",
      ]);
      assert.deepEqual(await textsOf(page.getByRole("cell")), [
        "a, b",
        "1",
        "c",
        "2",
      ]);
      await shown.go("#/d.npy");
      await page.getByRole("img", { name: /^Curve of 50 float32/ }).waitFor();
      await page.getByRole("button", { name: "Numbers" }).click();
      const cells = await textsOf(page.locator(".numbers td"));
      cells.forEach((cell, i) =>
        assert.ok(Math.abs(Number(cell) - numbers[i]!) < 1e-5, `${i}: ${cell}`)
      );
      await shown.go("#/e.wav");
      const audio = page.locator("audio");
      await audio.evaluate((audio: HTMLAudioElement) =>
        audio.readyState > 0 ||
        new Promise((resolve) =>
          audio.addEventListener("loadedmetadata", resolve)
        )
      );
      assert.equal(
        await audio.evaluate((audio: HTMLAudioElement) => audio.duration),
        1,
      );
      await shown.go("#/f.bin");
      assert.deepEqual(
        await hexBytes(page),
        Uint8Array.from({ length: 300 }, (_, i) => i),
      );
    });
  },
);

pageTest(
  "a number between values that are not numbers is visible in its curve",
  async (browser) => {
    const data = Float32Array.of(NaN, NaN, 1, NaN, NaN);
    const file = writeNpy({ dtype: "<f4", shape: [5], data });
    await withFolder({ "a.npy": file }, async (path) => {
      await using shown = await Shown.open(browser, path, "#/a.npy");
      const curve = shown.page.getByRole("img", {
        name: /^Curve of 5 float32/,
      });
      const codec = await imageCodec();
      const picture = await codec.decode(
        new Uint8Array(await curve.screenshot()),
      );
      const { width, height, channels, data: seen } = picture;
      const at = (x: number, y: number) => {
        const start = (Math.round(y) * width + Math.round(x)) * channels;
        return [...seen.subarray(start, start + 3)];
      };
      // Only the third of five elements, in the middle, is drawn.
      assert.deepEqual(
        at(width / 4, height / 2),
        at(width * 3 / 4, height / 2),
      );
      // It is drawn as a dot, which is wider than a line.
      for (const below of [-2, 0, 1]) {
        assert.notDeepEqual(
          at(width / 2, height / 2 + below),
          at(width / 4, height / 2),
        );
      }
    });
  },
);

pageTest(
  "an array of texts, or without finite numbers, is shown as text: there is nothing to draw",
  async (browser) => {
    const texts = writeNpy({ dtype: "<U2", shape: [2], data: ["a", "bc"] });
    const none = writeNpy({
      dtype: "<f4",
      shape: [2],
      data: Float32Array.of(NaN, Infinity),
    });
    await withFolder({ "a.npy": texts, "b.npy": none }, async (path) => {
      await using shown = await Shown.open(browser, path, "#/a.npy");
      const { page } = shown;
      const numbers = page.locator(".array table");
      assert.match((await numbers.textContent())!, /a.*bc/);
      assert.equal(
        await page.getByRole("button", { name: "Curve" }).count(),
        0,
      );
      await shown.go("#/b.npy");
      assert.match((await numbers.textContent())!, /NaN.*Infinity/i);
    });
  },
);

pageTest("a video plays", async (browser) => {
  await withTempDir(async (dir) => {
    const made = await new Deno.Command("ffmpeg", {
      args: [
        ...["-v", "error", "-f", "lavfi", "-i", "color=red:size=64x48:rate=10"],
        ...["-t", "1", "-c:v", "libvpx", `${dir}/red.webm`],
      ],
    }).output();
    assert.ok(made.success, new TextDecoder().decode(made.stderr));
    const video = await Deno.readFile(`${dir}/red.webm`);
    await withFolder({ "red.webm": video }, async (path) => {
      await using shown = await Shown.open(browser, path, "#/red.webm");
      const [size, pixel] = await shown.page.locator("video").evaluate(
        async (video: HTMLVideoElement) => {
          video.muted = true;
          const isDrawn = new Promise((resolve) =>
            video.requestVideoFrameCallback(resolve)
          );
          await video.play();
          await isDrawn;
          const canvas = document.createElement("canvas");
          const context = canvas.getContext("2d")!;
          context.drawImage(video, 0, 0);
          return [
            [video.videoWidth, video.videoHeight],
            [...context.getImageData(8, 8, 1, 1).data],
          ];
        },
      );
      assert.deepEqual(size, [64, 48]);
      const [red, green, blue] = pixel as [number, number, number];
      assert.ok(red > 230 && green < 25 && blue < 25, String(pixel));
    });
  });
}, "ffmpeg");
