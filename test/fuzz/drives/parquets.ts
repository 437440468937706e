/** The reader of Parquet: one by one, in batches, without waiting, in another thread; all must agree. */
import { ParquetReader } from "../../../src/formats/parquet/mod.ts";
import { digestOf } from "../digest.ts";
import type { Scene } from "../scene.ts";
import type { Drive } from "./drive.ts";

const MOST = 24;

export const parquetsDrive: Drive = {
  name: "parquets",
  every: 1,
  fits: ({ format }) => format === "parquet",
  memory: 1200,
  run,
};

async function run(scene: Scene): Promise<void> {
  const { path, dice } = scene;
  const options = {
    checkData: !dice.once(3),
    cacheSize: dice.pick([undefined, 0, 1000]),
  };
  // What decodes pages is loaded by that; or nothing opens without waiting.
  await scene.attempt("load", async () => {
    (await ParquetReader.open(path, options)).close();
  });
  const [opened, now] = await scene.both(
    "ParquetReader.open",
    () => ParquetReader.open(path, options),
    () => ParquetReader.openSync(path, options),
    ({ length, columns, paths }) => [length, columns, paths],
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
    const shared = await scene.attempt("read in another thread", async () => {
      using again = await ParquetReader.openShared(
        structuredClone(reader.share()),
      );
      return await again.read(indices);
    });
    if (batch.ok && shared.ok && options.checkData) {
      scene.expect(digestOf(batch.value), shared.value, "shared tables");
    }
  }
  for (const outcome of [opened, now]) if (outcome.ok) outcome.value.close();
}
