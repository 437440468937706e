/** The reader of MDS: one by one, in batches, without waiting, decoded, in another thread; all must agree. */
import { MDSReader } from "../../../src/formats/mds/mod.ts";
import type { Scene } from "../scene.ts";
import {
  closeAll,
  compareShared,
  readBoth,
  someIndices,
} from "./batch_readers.ts";
import type { Drive } from "./drive.ts";

export const mdsDrive: Drive = {
  name: "mds",
  every: 1,
  fits: ({ format }) => format === "mds",
  memory: 768,
  run,
};

async function run(scene: Scene): Promise<void> {
  const { path } = scene;
  const [opened, now] = await scene.both(
    "MDSReader.open",
    () => MDSReader.open(path),
    () => MDSReader.openSync(path),
    ({ length, paths }) => [length, paths],
  );
  if (opened.ok && now.ok && opened.value.length > 0) {
    const reader = opened.value;
    const indices = someIndices(scene, reader.length);
    await readBoth(scene, reader, now.value, indices);
    await compareShared(
      scene,
      await scene.attempt("samples", () => reader.samples(indices)),
      () => MDSReader.openShared(structuredClone(reader.share())),
      (again) => again.samples(indices),
      "shared shards",
    );
  }
  closeAll([opened, now]);
}
