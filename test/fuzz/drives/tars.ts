/** The reader of tars: one by one, in batches, without waiting, by samples; all must agree. */
import { TarReader } from "../../../src/formats/tar/mod.ts";
import { digestOf } from "../digest.ts";
import type { Scene } from "../scene.ts";
import { type Drive, QUIET } from "./drive.ts";

const MOST = 24;

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
    ({ names, sampleCount }) => [names, sampleCount],
  );
  if (opened.ok && now.ok) {
    const reader = opened.value;
    const names = dice.some(reader.names, MOST);
    for (const name of names.slice(0, 4)) {
      await scene.both(
        "read one",
        () => reader.read(name),
        () => now.value.readSync(name),
      );
    }
    const batch = await scene.attempt("read", () => reader.read(names));
    const alone = scene.attemptSync(
      "readSync",
      () => now.value.readSync(names),
    );
    scene.compare(batch, alone, "read", "readSync");
    const indices = Array.from(
      { length: Math.min(MOST, reader.sampleCount) },
      () => dice.int(reader.sampleCount),
    );
    const samples = await scene.attempt(
      "readSamples",
      () => reader.readSamples(indices),
    );
    const shared = await scene.attempt(
      "readSamples in another thread",
      async () => {
        using again = await TarReader.openShared(
          structuredClone(reader.share()),
        );
        return await again.readSamples(indices);
      },
    );
    if (samples.ok && shared.ok) {
      scene.expect(digestOf(samples.value), shared.value, "shared tables");
    }
  }
  for (const outcome of [opened, now]) if (outcome.ok) outcome.value.close();
}
