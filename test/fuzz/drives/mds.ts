/** The reader of MDS: one by one, in batches, without waiting, decoded, in another thread; all must agree. */
import { MDSReader } from "../../../src/formats/mds/mod.ts";
import { digestOf } from "../digest.ts";
import type { Scene } from "../scene.ts";
import type { Drive } from "./drive.ts";

const MOST = 24;

export const mdsDrive: Drive = {
  name: "mds",
  every: 1,
  fits: ({ format }) => format === "mds",
  memory: 768,
  run,
};

async function run(scene: Scene): Promise<void> {
  const { path, dice } = scene;
  const [opened, now] = await scene.both(
    "MDSReader.open",
    () => MDSReader.open(path),
    () => MDSReader.openSync(path),
    ({ length, paths }) => [length, paths],
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
    const samples = await scene.attempt(
      "samples",
      () => reader.samples(indices),
    );
    const shared = await scene.attempt("samples in another thread", () => {
      const again = MDSReader.openShared(structuredClone(reader.share()));
      return again.samples(indices).finally(() => again.close());
    });
    if (samples.ok && shared.ok) {
      scene.expect(digestOf(samples.value), shared.value, "shared shards");
    }
  }
  for (const outcome of [opened, now]) if (outcome.ok) outcome.value.close();
}
