/** The reader of zips: one by one, in batches, without waiting, in another thread; all must agree. */
import { ZipReader } from "../../../src/formats/zip/mod.ts";
import type { Scene } from "../scene.ts";
import { closeAll, compareShared, MOST, readBoth } from "./batch_readers.ts";
import { type Drive, QUIET } from "./drive.ts";

export const zipsDrive: Drive = {
  name: "zips",
  every: 1,
  fits: ({ format }) => format === "zip",
  memory: 512,
  run,
};

async function run(scene: Scene): Promise<void> {
  const { path, dice } = scene;
  const [opened, now] = await scene.both(
    "ZipReader.open",
    () => ZipReader.open(path, QUIET),
    () => ZipReader.openSync(path, QUIET),
    ({ names }) => names,
  );
  if (opened.ok && now.ok) {
    const reader = opened.value;
    const names = dice.some(reader.names, MOST);
    await compareShared(
      scene,
      await readBoth(scene, reader, now.value, names),
      () => ZipReader.openShared(structuredClone(reader.share())),
      (again) => again.read(names),
    );
  }
  closeAll([opened, now]);
}
