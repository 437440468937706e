/** The reader of TFRecord: one by one, in batches, without waiting, as examples, in another thread; all must agree. */
import { TFRecordReader } from "../../../src/formats/tfrecord/mod.ts";
import { loadCrc32c } from "../../../src/io/sums/crc32c.ts";
import { digestOf } from "../digest.ts";
import type { Scene } from "../scene.ts";
import type { Drive } from "./drive.ts";

const MOST = 24;

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
    const indices = Array.from(
      { length: MOST },
      () => dice.int(reader.length),
    );
    for (const index of indices.slice(0, 4)) {
      await scene.both(
        "read one",
        () => reader.read(index),
        () => now.value.readSync(index),
      );
    }
    const batch = await scene.attempt("read", () => reader.read(indices));
    const alone = scene.attemptSync(
      "readSync",
      () => now.value.readSync(indices),
    );
    scene.compare(batch, alone, "read", "readSync");
    const examples = await scene.attempt(
      "examples",
      () => reader.examples(indices),
    );
    const shared = await scene.attempt(
      "examples in another thread",
      async () => {
        using again = await TFRecordReader.openShared(
          structuredClone(reader.share()),
        );
        return await again.examples(indices);
      },
    );
    if (examples.ok && shared.ok) {
      scene.expect(digestOf(examples.value), shared.value, "shared tables");
    }
  }
  for (const outcome of [opened, now]) if (outcome.ok) outcome.value.close();
}
