/** The reader of tars: one by one, in batches, without waiting, by samples, as a tree of samples; all must agree. */
import { TarReader } from "../../../src/formats/tar/mod.ts";
import { samplesOf } from "../../../src/tree/samples_of.ts";
import { open } from "../../../src/open/mod.ts";
import type { Scene } from "../scene.ts";
import { closeAll, compareShared, MOST, readBoth } from "./batch_readers.ts";
import { type Drive, QUIET } from "./drive.ts";

export const tarsDrive: Drive = {
  name: "tars",
  every: 1,
  fits: ({ format }) => format === "tar",
  memory: 512,
  run,
};

async function run(scene: Scene): Promise<void> {
  const { path, dice } = scene;
  const [opened, now] = await scene.both(
    "TarReader.open",
    () => TarReader.open(path, QUIET),
    () => TarReader.openSync(path, QUIET),
    ({ names, samples }) => [names, samples.length],
  );
  if (opened.ok && now.ok) {
    const reader = opened.value;
    const seen = await scene.attempt("samples of the tree", async () => {
      using samples = await open(path, { ...QUIET, format: "webdataset" });
      return (await samplesOf(samples.tree)).length;
    });
    const counted = { ok: true, value: reader.samples.length } as const;
    scene.compare(counted, seen, "the reader", "the tree");
    await readBoth(scene, reader, now.value, dice.some(reader.names, MOST));
    const indices = Array.from(
      { length: Math.min(MOST, reader.samples.length) },
      () => dice.int(reader.samples.length),
    );
    await compareShared(
      scene,
      await scene.attempt("samples.read", () => reader.samples.read(indices)),
      () => TarReader.openShared(structuredClone(reader.share())),
      (again) => again.samples.read(indices),
    );
  }
  closeAll([opened, now]);
}
