/** Which samples statistics read in a large container. */
import assert from "node:assert/strict";
import type { Statistics } from "../../../src/serve/api/messages.ts";
import { open } from "../../../src/open/open.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { goldenCase } from "../../support/golden.ts";
import { gulpCase } from "../../support/gulp/gulp_golden.ts";
import { withTempDir } from "../../support/paths.ts";
import {
  linesOf,
  served,
  type ServedFolder,
} from "../../support/serve/served_folder.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";

/** More files than statistics read. */
const MANY = 120_000;
const CLASSES = 10;
const SAMPLES = 400;

async function statistics(
  folder: ServedFolder,
  path: string,
): Promise<Statistics> {
  const question = `statistics?path=${path}`;
  const last = (await linesOf<Statistics>(folder, question)).at(-1)!;
  assert.equal(last.isComplete, true);
  return last;
}

function countsOf(
  { labels }: Statistics,
  of: string,
): Map<string | null, number> {
  const { values } = labels.find(({ label }) => label === of)!;
  return new Map(values.map(({ value, count }) => [value, count]));
}

Deno.test("of few samples all labels are counted, whatever other files there are; of many a sample of them", () =>
  withTempDir(async (dir) => {
    const empty = Array.from({ length: MANY }, () => new Uint8Array());
    await Deno.writeFile(`${dir}/many.ffr`, Uint8Array.from(ffrBytes(empty)));
    const members = Array.from({ length: SAMPLES }, (_, i) => {
      const name = String(i).padStart(4, "0");
      return [
        { name: `${name}.cls`, data: String(i % CLASSES) },
        { name: `${name}.txt`, data: "x" },
      ];
    });
    await Deno.writeFile(`${dir}/web.tar`, tarBytes(members.flat()));
    const { path: gulp, content } = gulpCase("v2_gray_and_rgb");
    const all = [
      { location: `${dir}/many.ffr`, path: "many" },
      { location: `${dir}/web.tar`, path: "web" },
      { location: gulp, path: "clips" },
    ];
    await using folder = served(await open(all, { sampleView: true }));

    const clips = await statistics(folder, "clips");
    const videos = content.videos.length;
    assert.deepEqual(clips.samples, { looked: videos, total: videos });
    const labels = countsOf(clips, "label");
    assert.equal([...labels.values()].reduce((a, b) => a + b), videos);
    const web = await statistics(folder, "web");
    assert.deepEqual(web.samples, { looked: SAMPLES, total: SAMPLES });
    const classes = countsOf(web, "cls");
    assert.equal(classes.size, CLASSES);
    for (const count of classes.values()) {
      assert.equal(count, SAMPLES / CLASSES);
    }

    // Together, the samples exceed the limit: about a third of them is read, and of each class.
    const root = await statistics(folder, "");
    const { looked, total } = root.samples;
    assert.equal(total, SAMPLES + videos);
    assert.ok(
      looked > total / 4 && looked < total / 2,
      `${looked} of ${total}`,
    );
    const some = countsOf(root, "cls");
    assert.equal(some.size, CLASSES);
    for (const [name, count] of some) {
      assert.ok(count > 5 && count < 25, `${count} of class ${name}`);
    }
  }));

Deno.test("no more entries are counted than exist, even if a format counts too few", async () => {
  for (const name of ["lists", "lists_zstd", "plain"]) {
    const { path } = goldenCase(`mds/${name}`);
    await using folder = served(await open(path));
    const { done, total } = await statistics(folder, "");
    assert.ok(done > 0);
    assert.ok(total === null || done <= total, `${done} of ${total}`);
  }
});
