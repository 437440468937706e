/** The codecs on their own, with files of their kind. */
import * as fs from "node:fs";
import { imageCodec, readImageHeader } from "../../../src/codecs/image/mod.ts";
import { pictureSize } from "../../../src/codecs/image/picture_size.ts";
import { readMsgpack } from "../../../src/codecs/msgpack/mod.ts";
import { readNpy } from "../../../src/codecs/numpy/mod.ts";
import { readPickle } from "../../../src/codecs/pickle/read_pickle.ts";
import type { Scene } from "../scene.ts";
import type { Drive } from "./drive.ts";

export const codecsDrive: Drive = {
  name: "codecs",
  every: 1,
  fits: ({ format }) => format === "folder",
  memory: 1200,
  async run(scene) {
    const names = fs.readdirSync(scene.path);
    for (const name of names) {
      const path = `${scene.path}/${name}`;
      if (!fs.lstatSync(path).isFile()) continue;
      await decode(scene, name, new Uint8Array(fs.readFileSync(path)));
    }
  },
};

async function decode(
  scene: Scene,
  name: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<void> {
  switch (name.slice(name.lastIndexOf(".") + 1)) {
    case "npy":
      scene.attemptSync("readNpy", () => readNpy(bytes));
      return;
    case "msgpack":
      scene.attemptSync("readMsgpack", () => readMsgpack(bytes));
      return;
    case "pickle":
      scene.attemptSync("readPickle", () => readPickle(bytes));
      return;
    case "avif":
    case "gif":
    case "jpg":
    case "png":
    case "tif":
    case "webp": {
      scene.attemptSync("readImageHeader", () => readImageHeader(bytes));
      scene.attemptSync("pictureSize", () => pictureSize(bytes));
      for (const codec of ["turbojpeg", "sharp", "imagescript"] as const) {
        const made = await scene.attempt("imageCodec", () => imageCodec(codec));
        if (!made.ok) continue;
        await scene.attempt(
          `decode by ${codec}`,
          () => made.value.decode(bytes),
        );
        if (!scene.dice.once(4)) continue;
        await scene.attempt(
          `decode small by ${codec}`,
          () => made.value.decode(bytes, { shortEdge: 16 }),
        );
        await scene.attempt(
          `decodeWithAlpha by ${codec}`,
          () => made.value.decodeWithAlpha(bytes),
        );
        await scene.attempt(
          `jpegFromImageFile by ${codec}`,
          () => made.value.jpegFromImageFile(bytes),
        );
      }
    }
  }
}
