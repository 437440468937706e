/** Results of converting every kind of source to every kind of target. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { convert } from "../../src/open/convert/convert.ts";
import { type ConvertOptions } from "../../src/convert/conversion.ts";
import { dump } from "../../src/formats/ffrecord/mod.ts";
import { JPEGS } from "../support/gulp/gulp_content.ts";
import { namesIn } from "../support/converted.ts";
import { writeBag, writeDataset } from "../support/bags/make_bag.ts";
import { writeChunk } from "../support/gulp/make_gulp.ts";
import { filesBelow } from "../support/bags/naive_bags.ts";
import { withTempDir } from "../support/paths.ts";

const SAMPLES = JPEGS.slice(0, 5);
const [a, b, c] = SAMPLES as [Uint8Array, Uint8Array, Uint8Array];
const text = (value: string) => new TextEncoder().encode(value);

/** Sources, and the name of each source's format in the plan. */
const SOURCES: Record<
  string,
  [from: string, make: (at: string) => unknown]
> = {
  "one.ffr": ["FFRecord samples", (at) => dump(SAMPLES, at, 1)],
  "parts": ["FFRecord samples", (at) => dump(SAMPLES, at, 3)],
  "directory_of_one": ["FFRecord samples", (at) => {
    fs.mkdirSync(at);
    return dump(SAMPLES, `${at}/one.ffr`, 1);
  }],
  "records.bag": [
    "a bag of generation 2",
    (at) => writeBag(at, SAMPLES, 2),
  ],
  "one_key": [
    "Bags, generation 3",
    (at) => writeDataset(at, { x: "jpg" }, SAMPLES.map((x) => ({ x })), 3),
  ],
  "shards": ["Bags, generation 3", (at) => {
    writeDataset(`${at}/000000`, { x: "jpg" }, [{ x: a }, { x: b }], 3);
    writeDataset(`${at}/000001`, { x: "jpg" }, [{ x: c }], 3);
  }],
  "lists": [
    "Bags, generation 2",
    (at) =>
      writeDataset(at, { frames: "jpg[]", id: "utf8" }, [
        { frames: [a, b], id: text("v") },
        { frames: [c], id: text("w") },
      ], 2),
  ],
  "gulp": ["GulpIO", writeGulp],
  "gulp/data_0.gulp": ["a chunk of GulpIO", (at) => writeGulp(dirOf(at))],
  "gulp/meta_1.gmeta": ["a chunk of GulpIO", (at) => writeGulp(dirOf(at))],
  "videos": ["a folder", writeVideos],
  "datapoints": ["a folder", writeDatapoints],
  "videos.ffr": ["an FFRecord packed folder", async (at) => {
    writeVideos(`${at}.d`);
    await convert(`${at}.d`, at);
    fs.rmSync(`${at}.d`, { recursive: true });
  }],
  "packed_folders": [
    "a directory of FFRecord packed folders",
    async (at) => {
      writeDatapoints(`${at}.d`);
      fs.mkdirSync(at);
      for (const name of ["p.ffr", "q.ffr"]) {
        await convert(`${at}.d`, `${at}/${name}`);
      }
      fs.rmSync(`${at}.d`, { recursive: true });
    },
  ],
};

function dirOf(file: string): string {
  return file.slice(0, file.lastIndexOf("/"));
}

function writeGulp(at: string): void {
  writeChunk(at, 0, [{ id: "v", frames: [a, b] }, { id: "w", frames: [c] }]);
  writeChunk(at, 1, [{ id: "x/y", frames: [a], meta: { label: "z" } }]);
  fs.writeFileSync(`${at}/label2idx.json`, '{"z": 0}');
}

function writeVideos(at: string): void {
  for (const id of ["v", "w"]) {
    fs.mkdirSync(`${at}/${id}`, { recursive: true });
    fs.writeFileSync(`${at}/${id}/frame_0001.jpg`, a);
  }
}

function writeDatapoints(at: string): void {
  for (const [i, content] of [a, b].entries()) {
    fs.mkdirSync(`${at}/00000${i}`, { recursive: true });
    fs.writeFileSync(`${at}/00000${i}/x`, content);
  }
  fs.writeFileSync(`${at}/spec.json`, '{"x": "jpg"}');
}

const TARGETS: Record<string, [name: string, options: ConvertOptions]> = {
  packed: ["out.ffr", { to: "ffrecord" }],
  samples: ["out.ffr", { to: "ffrecord-samples" }],
  parts: ["out", { to: "ffrecord-samples", parts: 2 }],
  gulp: ["out", { to: "gulp" }],
  bags: ["out", { to: "bags" }],
  spec: ["out", { to: "bags", generation: 2, spec: { x: "jpg" } }],
  bag: ["out.bag", {}],
  folder: ["out/", {}],
};

const NO_VIDEOS = /samples do not say which video/;
const ONE_JPG = /one key of type jpg\[\]/;
const OWN = /has types of its own/;
const NO_SPEC = /it has no spec\.json/;
const ONE_KEY = /one key that is not a list/;
const IN_ORDER =
  /in parts: files that become samples are written to one file\. Remove/;
const NO_VIDEO = /a directory for each video/;
const NO_DATAPOINT = /no directories 000000/;

/** Number of converted items for each source and target, with `lossy`, or the reason of the rejection. */
const OUTCOMES: Record<string, Record<keyof typeof TARGETS, number | RegExp>> =
  {
    "one.ffr": samples(5),
    "parts": samples(5),
    "directory_of_one": samples(5),
    "records.bag": samples(5),
    "one_key": {
      ...samples(5),
      packed: 6,
      folder: 6,
      spec: OWN,
      gulp: ONE_JPG,
    },
    "shards": { ...samples(3), packed: 5, folder: 5, spec: OWN, gulp: ONE_JPG },
    "lists": {
      packed: 6,
      samples: ONE_KEY,
      parts: ONE_KEY,
      gulp: 2,
      bags: 2,
      spec: OWN,
      bag: ONE_KEY,
      folder: 6,
    },
    "gulp": { ...files(8), gulp: 3, bags: 4, spec: OWN },
    "gulp/data_0.gulp": { ...files(5), gulp: 2, bags: 3, spec: OWN },
    "gulp/meta_1.gmeta": { ...files(2), gulp: 1, bags: 1, spec: OWN },
    "videos": { ...files(2), gulp: 2, bags: NO_SPEC, spec: NO_DATAPOINT },
    "videos.ffr": { ...files(2), gulp: 2, bags: NO_SPEC, spec: NO_DATAPOINT },
    "datapoints": { ...files(3), gulp: 2, bags: 2, spec: 2 },
    "packed_folders": {
      ...files(6),
      gulp: 2,
      bags: NO_SPEC,
      spec: NO_DATAPOINT,
    },
  };

function samples(count: number) {
  return {
    packed: count,
    samples: count,
    parts: count,
    gulp: NO_VIDEOS,
    bags: count,
    spec: count,
    bag: count,
    folder: count,
  };
}

function files(count: number) {
  return {
    packed: count,
    samples: count,
    parts: IN_ORDER,
    gulp: NO_VIDEO,
    bags: NO_SPEC,
    spec: NO_DATAPOINT,
    bag: count,
    folder: count,
  };
}

for (const [name, [from, make]] of Object.entries(SOURCES)) {
  Deno.test(`${name} becomes every possible target, and is called ${from}`, async (t) => {
    await withTempDir(async (dir) => {
      fs.mkdirSync(`${dir}/to`);
      await make(`${dir}/${name}`);
      for (const [kind, [target, options]] of Object.entries(TARGETS)) {
        await t.step(kind, async () => {
          const expected = OUTCOMES[name]![kind]!;
          const converting = convert(
            `${dir}/${name}`,
            `${dir}/to/${target}`,
            { ...options, lossy: true, onWarning: () => {} },
          );
          if (expected instanceof RegExp) {
            await assert.rejects(converting, expected);
          } else {
            const { count, leftOut, plan } = await converting;
            assert.deepEqual([plan.from, count, leftOut], [from, expected, 0]);
            fs.rmSync(`${dir}/to/${target}`, { recursive: true });
            fs.rmSync(`${dir}/to/out.idx`, { force: true });
          }
          assert.deepEqual(namesIn(`${dir}/to`), []);
        });
      }
    });
  });
}

Deno.test("samples in several files are converted like those in one file, byte for byte", async (t) => {
  await withTempDir(async (dir) => {
    await dump(SAMPLES, `${dir}/one.ffr`, 1);
    await dump(SAMPLES, `${dir}/parts`, 3);
    for (const [kind, [target, options]] of Object.entries(TARGETS)) {
      if (kind === "gulp") continue; // samples can't be converted to it
      await t.step(kind, async () => {
        const made = [];
        for (const source of ["one.ffr", "parts"]) {
          const to = `${dir}/from-${source}`;
          fs.mkdirSync(to);
          const { plan } = await convert(
            `${dir}/${source}`,
            `${to}/${target}`,
            options,
          );
          made.push({ plan, files: filesBelow(to) });
          fs.rmSync(to, { recursive: true });
        }
        assert.deepEqual(made[1], made[0]);
        assert.deepEqual(made[0]!.plan.lost, []);
      });
    }
    // The target's name determines the format for both.
    const { plan } = await convert(`${dir}/parts`, `${dir}/again.ffr`);
    assert.equal(plan.to, "FFRecord samples");
    assert.deepEqual(
      fs.readFileSync(`${dir}/again.ffr`),
      fs.readFileSync(`${dir}/one.ffr`),
    );
  });
});
