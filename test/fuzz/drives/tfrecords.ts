/** The reader of TFRecord: one by one, in batches, without waiting, as examples, in another thread; all must agree. */
import { TFRecordReader } from "../../../src/formats/tfrecord/mod.ts";
import { loadCrc32c } from "../../../src/io/sums/crc32c.ts";
import type { Scene } from "../scene.ts";
import {
  closeAll,
  compareShared,
  readBoth,
  someIndices,
} from "./batch_readers.ts";
import type { Drive } from "./drive.ts";

export const tfrecordsDrive: Drive = {
  name: "tfrecords",
  every: 1,
  fits: ({ format }) => format === "tfrecord",
  memory: 512,
  run,
};

async function run(scene: Scene): Promise<void> {
  const { path, dice } = scene;
  await loadCrc32c(); // or nothing opens without waiting
  const options = { checkData: !dice.once(3) };
  const [opened, now] = await scene.both(
    "TFRecordReader.open",
    () => TFRecordReader.open(path, options),
    () => TFRecordReader.openSync(path, options),
    ({ length, hasExamples, paths }) => [length, hasExamples, paths],
  );
  if (opened.ok && now.ok && opened.value.length > 0) {
    const reader = opened.value;
    const indices = someIndices(scene, reader.length);
    await readBoth(scene, reader, now.value, indices);
    await compareShared(
      scene,
      await scene.attempt("examples", () => reader.examples(indices)),
      () => TFRecordReader.openShared(structuredClone(reader.share())),
      (again) => again.examples(indices),
    );
  }
  closeAll([opened, now]);
}
