import assert from "node:assert/strict";
import sharp from "sharp";
import { open } from "../../../src/open/open.ts";
import { withExif } from "../../codecs/image/support/exif.ts";
import { withTempDir } from "../../support/paths.ts";
import {
  packed,
  served,
  serveFolder,
} from "../../support/serve/served_folder.ts";

/** Makes a photo of noise, which does not compress: 640 × 480 pixels take more than 60 KB. */
async function photo(width = 640, height = 480, seed = 1): Promise<Uint8Array> {
  const data = new Uint8Array(width * height * 3);
  let state = seed;
  for (let i = 0; i < data.length; i++) {
    state = Math.imul(state, 1103515245) + 12345 >>> 0;
    data[i] = (i / data.length * 128) + (state >>> 25);
  }
  const jpeg = await sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 90 }).toBuffer();
  return Uint8Array.from(jpeg);
}

async function sizeOf(response: Response): Promise<[number, number]> {
  const { width, height } = await sharp(await response.bytes()).metadata();
  return [width, height];
}

Deno.test("?thumbnail=EDGE returns a small picture, with an ETag of its own", async () => {
  await using folder = await serveFolder({ "a.jpg": await photo() });
  const response = await folder.get("files/a.jpg?thumbnail=256");
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "image/jpeg");
  assert.equal(response.headers.get("cache-control"), "private, no-cache");
  assert.equal(response.headers.get("x-content-type-options"), "nosniff");
  const etag = response.headers.get("etag")!;
  const length = Number(response.headers.get("content-length"));
  assert.ok(length > 0 && length < 30_000, `${length} bytes`);
  assert.deepEqual(await sizeOf(response), [256, 192]);

  const original = await folder.get("files/a.jpg");
  assert.notEqual(original.headers.get("etag"), etag);
  await original.bytes();
  const other = await folder.get("files/a.jpg?thumbnail=128");
  assert.notEqual(other.headers.get("etag"), etag);
  assert.deepEqual(await sizeOf(other), [128, 96]);

  const same = await folder.get("files/a.jpg?thumbnail=256", {
    headers: { "if-none-match": etag },
  });
  assert.equal(same.status, 304);
  const head = await folder.get("files/a.jpg?thumbnail=256", {
    method: "HEAD",
  });
  assert.equal(Number(head.headers.get("content-length")), length);
  assert.equal((await head.bytes()).length, 0);
});

Deno.test("small files, other files, and pictures that cannot be decoded here are sent unchanged", async () => {
  const small = await photo(100, 80);
  assert.ok(small.length < 60 << 10);
  const text = "no picture\n".repeat(10_000);
  await using folder = await serveFolder({
    "small.jpg": small,
    "text.jpg": text,
  });
  const response = await folder.get("files/small.jpg?thumbnail=32");
  assert.deepEqual(await response.bytes(), small);
  const other = await folder.get("files/text.jpg?thumbnail=32");
  assert.equal(await other.text(), text);
});

Deno.test("small files of many pixels are decoded here, and not in the browser", async () => {
  const wide = await sharp({
    create: { width: 4000, height: 3000, channels: 3, background: "#123" },
  }).png({ palette: true, colours: 2 }).toBuffer();
  assert.ok(wide.length < 60 << 10, `${wide.length} bytes`);
  const tiff = await sharp({
    create: { width: 100, height: 50, channels: 3, background: "#123" },
  }).tiff({ compression: "lzw" }).toBuffer();
  await using folder = await serveFolder({
    "wide.png": Uint8Array.from(wide),
    "a.tiff": Uint8Array.from(tiff),
  });
  const response = await folder.get("files/wide.png?thumbnail=256");
  assert.equal(response.headers.get("content-type"), "image/jpeg");
  assert.deepEqual(await sizeOf(response), [256, 192]);
  const drawn = await folder.get("files/a.tiff?thumbnail=256");
  assert.equal(drawn.headers.get("content-type"), "image/jpeg"); // browsers do not support TIFF
  assert.deepEqual(await sizeOf(drawn), [100, 50]);
});

Deno.test("wrong sizes, damaged pictures and bombs are rejected with the reason", async () => {
  const sound = await photo();
  const bomb = new Uint8Array(70_000);
  const png = await sharp({
    create: { width: 9, height: 9, channels: 3, background: "#123" },
  }).png().toBuffer();
  bomb.set(png);
  new DataView(bomb.buffer).setUint32(16, 60_000);
  new DataView(bomb.buffer).setUint32(20, 60_000);
  await using folder = await serveFolder({
    "a.jpg": sound,
    "cut.jpg": sound.subarray(0, sound.length - 10_000),
    "bomb.png": bomb,
    "short.jpg": (await photo(100, 80)).subarray(0, 2000),
  });
  for (const edge of ["", "0", "15", "2049", "1e2", "-64", "256&x=1"]) {
    const response = await folder.get(`files/a.jpg?thumbnail=${edge}`);
    assert.equal(response.status, 400, edge);
    assert.match(
      await response.text(),
      /^bad-request: Cannot make a thumbnail/,
    );
  }
  for (const name of ["cut.jpg", "short.jpg"]) {
    const cut = await folder.get(`files/${name}?thumbnail=256`);
    assert.equal(cut.status, 422, name);
    assert.match(await cut.text(), /^damaged: Cannot decode the picture/);
  }
  const huge = await folder.get("files/bomb.png?thumbnail=256");
  assert.ok([413, 422].includes(huge.status), `${huge.status}`);
  await huge.text();
  const none = await folder.get("files/none.jpg?thumbnail=256");
  assert.equal(none.status, 404);
  await none.text();
});

Deno.test("a truncated small file is rejected, in every format that is sent unchanged", async () => {
  const raw = { width: 60, height: 40, channels: 3 } as const;
  const noise = { type: "gaussian", mean: 120, sigma: 40 } as const;
  const made = sharp({ create: { ...raw, background: "#777", noise } });
  for (const format of ["jpeg", "png", "gif", "webp"] as const) {
    const bytes = Uint8Array.from(await made.clone()[format]().toBuffer());
    assert.ok(bytes.length < 60 << 10);
    await using folder = await serveFolder({
      whole: bytes,
      cut: bytes.subarray(0, bytes.length >> 1),
    });
    const whole = await folder.get("files/whole?thumbnail=32");
    assert.deepEqual(await whole.bytes(), bytes, format);
    const cut = await folder.get("files/cut?thumbnail=32");
    assert.equal(cut.status, 422, format);
    await cut.text();
  }
});

Deno.test("api/picture reports damage, even if the embedded picture is undamaged", async () => {
  const sound = withExif(await photo(), 1, await photo(320, 240, 2));
  await using folder = await serveFolder({
    "a.jpg": sound,
    "cut.jpg": sound.subarray(0, sound.length - 10_000),
    "text.jpg": "no picture",
    "empty.jpg": "",
    "dir": {},
  });
  const ask = async (path: string) => {
    const response = await folder.get(`api/picture?path=${path}`);
    return [response.status, await response.json()] as const;
  };
  for (const path of ["a.jpg", "text.jpg", "empty.jpg"]) {
    assert.deepEqual(await ask(path), [200, { damage: null }], path);
  }
  // The embedded thumbnail is used.
  const small = await folder.get("files/cut.jpg?thumbnail=256");
  assert.equal(small.status, 200);
  await small.bytes();
  const [status, { damage }] = await ask("cut.jpg");
  assert.equal(status, 200);
  assert.match(damage, /^sharp: /);
  assert.equal((await ask("none.jpg"))[0], 404);
  assert.equal((await ask("dir"))[1].error.code, "is-directory");
});

Deno.test("thumbnails are cached on disk for other servers, by the container's version", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/photos.ffr`;
    const cache = { directory: `${dir}/cache` };
    const askOnce = async () => {
      await using folder = served(await open(path), { cache });
      const response = await folder.get("files/a.jpg?thumbnail=64");
      assert.equal(response.status, 200);
      return await response.bytes();
    };
    await Deno.writeFile(path, packed({ "a.jpg": await photo() }));
    const first = await askOnce();
    const [file, ...more] = await cachedFiles(cache.directory);
    assert.deepEqual(more, []);
    // The response comes from the cached file, which is made again after it was damaged.
    const marked = await Deno.readFile(file!);
    assert.deepEqual(marked.subarray(24), first);
    marked[100]! ^= 1;
    await Deno.writeFile(file!, marked);
    assert.deepEqual(await askOnce(), first);
    assert.deepEqual((await Deno.readFile(file!)).subarray(24), first);
    // Replaces the picture by another one of the same size.
    await Deno.writeFile(path, packed({ "a.jpg": await photo(640, 480, 7) }));
    assert.notDeepEqual(await askOnce(), first);
  });
});

Deno.test("with cache: false nothing is written", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/photos.ffr`;
    await Deno.writeFile(path, packed({ "a.jpg": await photo() }));
    await using folder = served(await open(path), { cache: false });
    const response = await folder.get("files/a.jpg?thumbnail=64");
    assert.deepEqual(await sizeOf(response), [64, 48]);
    const names = (await Array.fromAsync(Deno.readDir(dir)))
      .map(({ name }) => name);
    assert.deepEqual(names, ["photos.ffr"]);
  });
});

Deno.test("thumbnails that no client waits for any more are not made", async () => {
  const pictures: Record<string, Uint8Array> = {};
  const large = await photo(3000, 2000);
  for (let i = 0; i < 60; i++) {
    const own = Uint8Array.from(large);
    own[20] = i; // a different density, so that each picture is cached by itself
    pictures[`${i}.jpg`] = own;
  }
  await using folder = await serveFolder(pictures);
  const leaving = new AbortController();
  const asked = Object.keys(pictures).slice(0, 59).map((name) =>
    folder.get(`files/${name}?thumbnail=256`, { signal: leaving.signal })
      .then((response) => response.bytes(), () => undefined)
  );
  const first = await Promise.race(asked);
  assert.ok(first !== undefined);
  const one = performance.now();
  leaving.abort();
  const response = await folder.get("files/59.jpg?thumbnail=256");
  assert.deepEqual(await sizeOf(response), [256, 171]);
  const waited = performance.now() - one;
  await Promise.all(asked);
  // Only thumbnails that were in progress were completed. Making half of the others takes this long:
  const all = performance.now();
  await Promise.all(
    Object.keys(pictures).slice(30, 59).map(async (name) =>
      await (await folder.get(`files/${name}?thumbnail=257`)).bytes()
    ),
  );
  const half = performance.now() - all;
  assert.ok(waited < half / 2, `${waited} of ${half} ms`);
});

/** Returns the paths of thumbnails in a cache. */
async function cachedFiles(cache: string): Promise<string[]> {
  const found: string[] = [];
  for await (const shard of Deno.readDir(`${cache}/thumbnails`)) {
    const directory = `${cache}/thumbnails/${shard.name}`;
    for await (const { name } of Deno.readDir(directory)) {
      found.push(`${directory}/${name}`);
    }
  }
  return found;
}
