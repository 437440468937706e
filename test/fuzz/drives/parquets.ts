/** The reader of Parquet: one by one, in batches, without waiting, in another thread; all must agree. */
import { ParquetReader } from "../../../src/formats/parquet/mod.ts";
import type { Scene } from "../scene.ts";
import {
  closeAll,
  compareShared,
  readBoth,
  someIndices,
} from "./batch_readers.ts";
import type { Drive } from "./drive.ts";

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
    const indices = someIndices(scene, reader.length);
    const batch = await readBoth(scene, reader, now.value, indices);
    await compareShared(
      scene,
      // What is damaged and not compared may be decoded to anything.
      options.checkData ? batch : { ok: false, error: undefined },
      () => ParquetReader.openShared(structuredClone(reader.share())),
      (again) => again.read(indices),
    );
  }
  closeAll([opened, now]);
}
