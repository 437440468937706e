/** JPEGs written by Pillow have Pillow's pixels, also when resized. */
import assert from "node:assert/strict";
import {
  type Image,
  imageCodec,
  ImageError,
} from "../../../src/codecs/image/mod.ts";
import { readNpy } from "../../../src/codecs/numpy/mod.ts";
import { compilePixels } from "../../support/compile_pixels.ts";
import { assertClose } from "../../support/images.ts";
import { REPOSITORY } from "../../support/paths.ts";

const read = (name: string) =>
  Deno.readFileSync(`${REPOSITORY}test/golden/pictures/${name}`) as Uint8Array<
    ArrayBuffer
  >;

/** JPEGs, and the short edge to which each was resized. */
const PICTURES: [name: string, shortEdge: number][] = [
  ["420", 40],
  ["422", 40],
  ["444_progressive", 200],
  ["gray", 40],
];

function assertPixels(image: Image, name: string, max: number): void {
  const { shape, data } = readNpy(read(name));
  const { height, width, channels } = image;
  assert.deepEqual([height, width], shape.slice(0, 2), name);
  assert.equal(channels, shape[2] ?? 1, name);
  assertClose(image.data, data as Uint8Array, { mean: max, max }, name);
}

for (const [name, shortEdge] of PICTURES) {
  Deno.test(`turbojpeg has Pillow's pixels of ${name}.jpg, decoded and resized`, async () => {
    const codec = await imageCodec("turbojpeg");
    const bytes = read(`${name}.jpg`);
    assertPixels(await codec.decode(bytes), `${name}.npy`, 0);
    const resized = await codec.decode(bytes, { shortEdge });
    assertPixels(resized, `${name}_${shortEdge}.npy`, 0);
  });
}

for (const name of ["turbojpeg", "sharp", "imagescript"] as const) {
  Deno.test(`${name}: a large image decoded at a fraction differs by 3 at most, and not at all on request`, async () => {
    const codec = await imageCodec(name);
    const options = { shortEdge: 40, path: "large.jpg" };
    const bytes = read("large.jpg");
    // imagescript rounds differently, and always decodes at full size.
    const fast = await codec.decode(bytes, options);
    assertPixels(fast, "large_40.npy", 3);
    const exact = await codec.decode(bytes, { ...options, exact: true });
    assertPixels(exact, "large_40.npy", name === "imagescript" ? 3 : 0);
    const isSame = exact.data.every((byte, i) => byte === fast.data[i]);
    assert.equal(isSame, name === "imagescript");
    await assert.rejects(
      codec.decode(bytes.subarray(0, -1000), options),
      ImageError,
    );
  });
}

Deno.test("the WebAssembly for pixels is compiled from its source", async () => {
  const path = `${REPOSITORY}src/codecs/image/pixels/pixels_wasm.ts`;
  assert.equal(await Deno.readTextFile(path), await compilePixels());
});
