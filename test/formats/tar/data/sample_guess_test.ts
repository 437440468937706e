/** Detection of WebDataset from all shards together, and grouping of samples on request, whatever is detected. */
import assert from "node:assert/strict";
import { openSamples } from "../../../../mod.ts";
import { countSamples } from "../../../../src/open/data/counted_samples.ts";
import { openDataset } from "../../../../src/open/data/open_dataset.ts";
import { MemoryStorage } from "../../../../src/io/storage/memory_storage.ts";
import { samplesOf } from "../../../../src/tree/samples_of.ts";
import { check, open } from "../../../../src/open/open.ts";
import { tarBytes } from "../../../support/tar/make_tar.ts";
import { openWebDataset } from "../../../support/tar/open_web.ts";

/** Returns tars by name; each member contains its own name. */
function tars(members: Readonly<Record<string, readonly string[]>>) {
  return Object.fromEntries(
    Object.entries(members).map(([name, files]) => [
      name,
      tarBytes(files.map((name) => ({ name, data: name }))),
    ]),
  );
}

const one = (...names: string[]) => ({ "t.tar": names });

/** Returns samples of two files each. */
function pairs(...keys: string[]): string[] {
  return keys.flatMap((key) => [`${key}.json`, `${key}.txt`]);
}

const GUESSES: readonly {
  readonly title: string;
  readonly members: Readonly<Record<string, readonly string[]>>;
  readonly unit: "samples" | "files";
  /** Count of `info`. */
  readonly guessed: number;
  /** Number of samples as WebDataset. */
  readonly grouped: number;
}[] = [
  {
    title: "an empty first shard is no evidence",
    members: {
      "s-0.tar": [],
      "s-1.tar": pairs("0", "1"),
      "s-2.tar": pairs("2", "3"),
    },
    unit: "samples",
    guessed: 4,
    grouped: 4,
  },
  {
    title: "a last shard of one file is no evidence",
    members: {
      "s-0.tar": pairs("0", "1"),
      "s-1.tar": pairs("2", "3"),
      "s-2.tar": ["4.txt"],
    },
    unit: "samples",
    guessed: 5,
    grouped: 5,
  },
  {
    title: "most files of all shards decide, not each shard",
    members: {
      "s-0.tar": pairs("0", "1"),
      "s-1.tar": ["2.txt", "3.txt", "4.txt"],
      "s-2.tar": pairs("5", "6"),
    },
    unit: "samples",
    guessed: 7,
    grouped: 7,
  },
  {
    title: "one key in two shards is two samples",
    members: { "s-0.tar": pairs("0"), "s-1.tar": pairs("0") },
    unit: "samples",
    guessed: 2,
    grouped: 2,
  },
  {
    title: "hidden and AppleDouble names do not count",
    members: one(
      ...[".DS_Store", "._0.json", "0.json", "._0.txt", "0.txt"],
      ...["._1.json", "1.json", "d/._1.txt", "._x", ".y"],
    ),
    unit: "samples",
    guessed: 2,
    grouped: 2,
  },
  {
    title: "files of one key that are not neighbours are one sample",
    members: one("0.a", "1.a", "0.b", "1.b"),
    unit: "samples",
    guessed: 2,
    grouped: 2,
  },
  {
    title: "a file of another kind for one of four samples",
    members: one("0.jpg", "0.txt", "1.jpg", "2.jpg", "3.jpg"),
    unit: "samples",
    guessed: 4,
    grouped: 4,
  },
  {
    title: "files that share no key are files",
    members: one("a.txt", "b.txt", "c.cls"),
    unit: "files",
    guessed: 3,
    grouped: 3,
  },
  {
    title: "a pair among many others is not enough",
    members: one("a.c", "a.h", "b", "c", "d.txt"),
    unit: "files",
    guessed: 5,
    grouped: 2,
  },
  {
    title: "a tar of one file",
    members: one("a.txt"),
    unit: "files",
    guessed: 1,
    grouped: 1,
  },
  {
    title: "tars of no file",
    members: { "s-0.tar": [], "s-1.tar": [] },
    unit: "files",
    guessed: 0,
    grouped: 0,
  },
];

for (const { title, members, unit, guessed, grouped } of GUESSES) {
  Deno.test(title, async () => {
    const files = tars(members);
    const storage = new MemoryStorage(files);
    const quiet = { storage, onWarning: () => {} };
    const path = Object.keys(files).length === 1 ? "t.tar" : "s-{0..9}.tar";
    const location = path.replace("9", `${Object.keys(files).length - 1}`);
    using fs = await open(location, quiet);
    const { info } = fs;
    assert.deepEqual(countSamples(info), { unit, length: guessed });
    assert.equal(
      info.parts.reduce((sum, { samples }) => sum + samples, 0),
      guessed,
    );
    const { length } = await samplesOf(fs.tree);
    assert.equal(length, guessed);
    using own = await openDataset(location, quiet);
    assert.equal(own.length, unit === "files" ? info.files : grouped);
    const report = await check(location, { ...quiet, onDamage: assert.fail });
    assert.equal(report.samples, guessed);

    // A caller that requests WebDataset gets samples.
    using dataset = await openWebDataset(location, quiet);
    assert.equal(dataset.length, grouped);
    using forced = await open(location, { ...quiet, format: "webdataset" });
    assert.deepEqual(countSamples(forced.info), {
      unit: "samples",
      length: grouped,
    });
    assert.equal((await samplesOf(forced.tree)).length, grouped);
  });
}

/** Returns the notes of `info`, and asserts that `check` reports the same. */
async function notesOf(...names: string[]): Promise<readonly string[]> {
  const files = tars(one(...names));
  const storage = new MemoryStorage(files);
  const warnings: string[] = [];
  const onWarning = (message: string) => warnings.push(message);
  using fs = await open("t.tar", { storage, onWarning: assert.fail });
  await check("t.tar", { storage, onWarning, onDamage: assert.fail });
  const notes = fs.info.notes ?? [];
  const lines = notes.map((note) => `t.tar: ${note}`);
  assert.deepEqual(warnings, lines);
  // Readers of samples receive the warnings too.
  warnings.length = 0;
  using samples = await openSamples("t.tar", { storage, onWarning });
  assert.deepEqual(warnings, samples.unit === "sample" ? lines : []);
  return notes;
}

Deno.test("names with dots in what looks like their keys are reported", async () => {
  for (
    const names of [
      ["0.5_a.jpg", "0.7_b.jpg"],
      ["0.5_a.jpg", "1.7_b.jpg", "2.1_c.jpg"],
      ["d/0.5_a.jpg", "d/0.5_a.txt", "d/0.7_b.jpg", "d/0.7_b.txt"],
      ["0.5_a", "0.7_b", "1.2_c", "1.4_d"],
    ]
  ) {
    const notes = await notesOf(...names);
    assert.equal(notes.length, 1);
    assert.match(notes[0]!, /keys end at the first dot/);
  }
  for (
    const names of [
      pairs("0"),
      pairs("0", "1"),
      ["0.jpg", "0.seg.png", "1.jpg", "1.seg.png", "1.txt"],
      ["0.5_a.jpg", "1.5_a.jpg", "2.5_a.jpg"],
      ["README.md", "a.c", "b.py", "jquery.min.js", "Makefile"],
    ]
  ) assert.deepEqual(await notesOf(...names), []);
});

Deno.test("samples with scattered files are reported", async () => {
  const notes = await notesOf("0.a", "1.a", "0.b", "1.b", "2.a", "2.b");
  assert.equal(notes.length, 1);
  assert.match(notes[0]!, /not neighbours in the tar: 2 \(such as '0'\)/);
});
