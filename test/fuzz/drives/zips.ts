/** The reader of zips: one by one, in batches, without waiting, in another thread; all must agree. */
import { ZipReader } from "../../../src/formats/zip/mod.ts";
import { digestOf } from "../digest.ts";
import type { Scene } from "../scene.ts";
import { type Drive, QUIET } from "./drive.ts";

const MOST = 24;

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
    const shared = await scene.attempt("read in another thread", async () => {
      using again = await ZipReader.openShared(
        structuredClone(reader.share()),
      );
      return await again.read(names);
    });
    if (batch.ok && shared.ok) {
      scene.expect(digestOf(batch.value), shared.value, "shared tables");
    }
  }
  for (const outcome of [opened, now]) if (outcome.ok) outcome.value.close();
}
