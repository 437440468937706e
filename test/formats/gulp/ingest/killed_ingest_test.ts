/** Ingests that are killed repeatedly, and resumed until they are done. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import {
  GulpDirectory,
  GulpIngestor,
  ImageFolderAdapter,
} from "../../../../src/formats/gulp/mod.ts";
import { jpeg, put } from "../../../support/adapted.ts";
import { FakeAdapter, filesOf } from "../../../support/gulp/ingest.ts";
import { LONG } from "../../../support/long.ts";
import { REPOSITORY, withTempDir } from "../../../support/paths.ts";

/** Number of videos: with many, processes that are killed early need many starts. */
const COUNT = LONG ? 60 : 24;

/** Resumes an ingest, and prints the result. */
const RESUMING = `
import { GulpIngestor, ImageFolderAdapter } from "${REPOSITORY}src/formats/gulp/mod.ts";
import { FakeAdapter } from "${REPOSITORY}test/support/gulp/ingest.ts";
const [kind, options, out, perChunk, workers] = Deno.args;
const Adapter = kind === "fake" ? FakeAdapter : ImageFolderAdapter;
const adapter = new Adapter(JSON.parse(options));
const ingestor = new GulpIngestor(adapter, out, Number(perChunk), Number(workers));
console.log("ready");
const { videos, failed } = await ingestor.run({ resume: true });
console.log(JSON.stringify({ videos, failed }));`;

interface Outcome {
  readonly kills: number;
  /** Report, unless the process was killed after it finished and before it printed the report. */
  readonly report?: { readonly videos: number; readonly failed: unknown[] };
}

function killIfAlive(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // already ended
  }
}

/**
 * Resumes an ingest in processes that are killed later and later, until one ends by itself.
 *
 * @param look Called after each kill; ends the loop if it returns `true`.
 */
async function resumeUntilDone(
  script: string,
  args: readonly string[],
  look: () => boolean,
): Promise<Outcome> {
  fs.writeFileSync(script, RESUMING);
  for (let kills = 0;; kills++) {
    assert.ok(kills < 100);
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", "--no-check", "--config", `${REPOSITORY}deno.json`],
        ...[script, ...args],
      ],
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const reader = child.stdout.pipeThrough(new TextDecoderStream())
      .getReader();
    let said = (await reader.read()).value ?? "";
    const timer = setTimeout(
      () => killIfAlive(child),
      kills === 0 ? 0 : Math.random() * 200 * (kills + 2), // the first one is always killed
    );
    for (
      let next = await reader.read();
      !next.done;
      next = await reader.read()
    ) said += next.value;
    const { success, signal } = await child.status;
    clearTimeout(timer);
    if (success) {
      return { kills, report: JSON.parse(said.split("\n")[1]!) };
    }
    assert.equal(signal, "SIGKILL");
    if (look()) return { kills };
  }
}

/** Asserts that each file with its final name has its final content; returns whether all exist. */
function assertPart(out: string, whole: Record<string, string>): boolean {
  if (!fs.existsSync(out)) return false;
  const files = filesOf(out);
  for (const [name, content] of Object.entries(files)) {
    if (name.startsWith(".")) continue;
    assert.ok(content === whole[name], `${name} is not what it will be`);
  }
  // All chunks may exist while the journal is not finished yet.
  return Object.keys(files).join() === Object.keys(whole).join() &&
    Object.entries(files).every(([name, content]) => content === whole[name]);
}

for (const workers of LONG ? [1, 3] : [3]) {
  Deno.test(`an ingest killed at any moment and resumed has the result of an uninterrupted one (${workers})`, async () => {
    await withTempDir(async (dir) => {
      const options = { count: COUNT, delay: 20 };
      const { failed } = await new GulpIngestor(
        new FakeAdapter(options),
        `${dir}/whole`,
        3,
        1,
      ).run();
      const whole = filesOf(`${dir}/whole`);
      const { kills, report } = await resumeUntilDone(
        `${dir}/resuming.ts`,
        ["fake", JSON.stringify(options), `${dir}/out`, "3", `${workers}`],
        () => assertPart(`${dir}/out`, whole),
      );
      assert.ok(kills > 0);
      if (report !== undefined) {
        assert.equal(report.videos, COUNT - failed.length);
        assert.equal(report.failed.length, failed.length);
      }
      assert.deepEqual(filesOf(`${dir}/out`), whole);
      using directory = await GulpDirectory.open(`${dir}/out`, {
        decode: false,
      });
      assert.equal(directory.length, COUNT - failed.length);
    });
  });
}

Deno.test("a killed ingest that added to a directory, skipping existing ids, is resumed", async () => {
  await withTempDir(async (dir) => {
    const bytes = await jpeg(64, 48);
    for (let i = 0; i < COUNT; i++) {
      put(`${dir}/in/${i % 2 ? "odd" : "even"}/${i}.jpg`, bytes);
    }
    for (const out of ["whole", "out"]) {
      put(`${dir}/first/even/0.jpg`, bytes);
      put(`${dir}/first/zero/9.jpg`, bytes);
      const folder = `${dir}/first`;
      const outputFolder = `${dir}/${out}`;
      const adapter = new ImageFolderAdapter({ folder, outputFolder });
      await new GulpIngestor(adapter, outputFolder, 1, 1).run();
    }
    const optionsFor = (outputFolder: string) => ({
      folder: `${dir}/in`,
      outputFolder,
      shuffle: true,
      imgSize: 24,
      removeDuplicateIds: true,
      codec: "imagescript" as const,
    });
    await new GulpIngestor(
      new ImageFolderAdapter(optionsFor(`${dir}/whole`)),
      `${dir}/whole`,
      4,
      1,
    ).run({ extend: true });
    const whole = filesOf(`${dir}/whole`);
    const out = `${dir}/out`;
    const abort = new AbortController();
    await assert.rejects(
      new GulpIngestor(new ImageFolderAdapter(optionsFor(out)), out, 4, 1).run({
        extend: true,
        signal: abort.signal,
        onProgress: ({ videos }) => videos > 5 && abort.abort(),
      }),
      { name: "AbortError" },
    );
    assertPart(out, whole);
    const { report } = await resumeUntilDone(
      `${dir}/resuming.ts`,
      ["images", JSON.stringify(optionsFor(out)), out, "4", "2"],
      () => assertPart(out, whole),
    );
    if (report !== undefined) assert.equal(report.videos, COUNT - 1);
    assert.deepEqual(filesOf(out), whole);
  });
});
