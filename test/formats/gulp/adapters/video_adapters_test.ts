import assert from "node:assert/strict";
import * as fs from "node:fs";
import {
  ActivitynetAdapter,
  Custom20BNCsvWebmAdapter,
  Custom20BNJsonVideoAdapter,
  GulpDirectory,
  GulpIngestor,
  KineticsAdapter,
  VideoFolderAdapter,
} from "../../../../src/formats/gulp/mod.ts";
import { adapted, put } from "../../../support/adapted.ts";
import { burstCount, makeClip } from "../../../support/gulp/clips.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";

function testClips(name: string, body: (dir: string) => Promise<void>): void {
  Deno.test({ name, ...needs("ffmpeg"), fn: () => withTempDir(body) });
}

/** Makes a clip of 64×48 at 10 frames a second. */
async function clip(file: string, frames: number): Promise<void> {
  fs.mkdirSync(file.slice(0, file.lastIndexOf("/")), { recursive: true });
  await makeClip(`${file}.mkv`, { frames, rate: 10 });
  fs.renameSync(`${file}.mkv`, file); // ffmpeg detects the format by content
}

testClips("20BN's JSON: one .mp4 in the directory of each id", async (dir) => {
  await clip(`${dir}/in/1/any name.mp4`, 10);
  await clip(`${dir}/in/2/a.mp4`, 5);
  fs.copyFileSync(`${dir}/in/2/a.mp4`, `${dir}/in/2/b.mp4`);
  fs.mkdirSync(`${dir}/in/3`);
  put(`${dir}/in/5/x.mp4`, "no video");
  const list = [1, "2", 3, 4, 5].map((id) => ({ id, template: `t${id}` }));
  put(`${dir}/list.json`, JSON.stringify(list));
  const options = { jsonFile: `${dir}/list.json`, folder: `${dir}/in` };
  const found = await adapted(new Custom20BNJsonVideoAdapter(options));
  assert.deepEqual(found[0], {
    id: "1",
    meta: { id: 1, label: "t1", idx: 0 },
    frames: new Array(
      await burstCount(`${dir}/in/1/any name.mp4`, dir, 8),
    ).fill("64x48"),
  });
  assert.match(
    found[1]!.frames[0]!,
    /more than one \.mp4 file: .*a\.mp4 and .*b\.mp4/,
  );
  assert.match(found[2]!.frames[0]!, /holds no \.mp4 file/);
  assert.match(found[3]!.frames[0]!, /in\/4: there is no such file/);
  assert.match(
    found[4]!.frames[0]!,
    /Invalid data found when processing input/,
  );
  const all = new Custom20BNJsonVideoAdapter({
    ...options,
    frameRate: 0,
    frameSize: 24,
  });
  assert.deepEqual(
    (await adapted(all, { start: 0, stop: 1 }))[0]!.frames,
    new Array(10).fill("32x24"),
  );
});

testClips(
  "20BN's CSV: ID.webm, twelve frames a second, dummy labels",
  async (dir) => {
    await clip(`${dir}/in/[7] *.webm`, 10);
    put(`${dir}/list.csv`, "[7] *\nno;left\n");
    const adapter = await Custom20BNCsvWebmAdapter.open({
      csvFile: `${dir}/list.csv`,
      folder: `${dir}/in`,
    });
    const [first, second] = await adapted(adapter);
    const count = await burstCount(`${dir}/in/[7] *.webm`, dir, 12);
    assert.deepEqual(first, {
      id: "[7] *",
      meta: { id: "[7] *", label: "dummy", idx: 0 },
      frames: new Array(count).fill("64x48"),
    });
    assert.deepEqual(second!.meta, { id: "no", label: "left", idx: 1 });
    assert.match(second!.frames[0]!, /no\.webm: there is no such file/);
  },
);

testClips("folders of videos: every extension, all frames", async (dir) => {
  await clip(`${dir}/in/run/a.mp4`, 3);
  await clip(`${dir}/in/run/b.webm`, 4);
  await clip(`${dir}/in/sit/deep/c.mp4`, 5);
  const adapter = new VideoFolderAdapter({
    folder: `${dir}/in`,
    frameSize: 24,
  });
  assert.deepEqual(
    await adapted(adapter),
    [
      ["run-a.mp4", "run", `${dir}/in/run`, 1, 3],
      ["run-b.webm", "run", `${dir}/in/run`, 1, 4],
      ["deep-c.mp4", "deep", `${dir}/in/sit/deep`, 0, 5],
    ].map(([id, label, path, idx, frames]) => ({
      id,
      meta: { id, label, path, idx },
      frames: new Array(frames as number).fill("32x24"),
    })),
  );
  const slow = new VideoFolderAdapter({ folder: `${dir}/in`, frameRate: 5 });
  assert.equal(
    (await adapted(slow))[2]!.frames.length,
    await burstCount(`${dir}/in/sit/deep/c.mp4`, dir, 5),
  );
});

testClips(
  "ActivityNet: the existing videos of one phase",
  async (dir) => {
    const entry = (subset: string) => ({
      subset,
      duration: 3.5,
      annotations: [{ segment: [0, 1.25], label: "Run" }],
    });
    const database = {
      one: entry("training"),
      two: entry("validation"),
      absent: entry("training"),
      loading: entry("training"),
    };
    put(`${dir}/net.json`, JSON.stringify({ version: "1.3", database }));
    await clip(`${dir}/in/one.mp4`, 3);
    await clip(`${dir}/in/two.mkv`, 4);
    put(`${dir}/in/loading.mp4.part`, "");
    put(`${dir}/in/unknown.mp4`, "");
    fs.mkdirSync(`${dir}/in/absent`);
    const options = { jsonFile: `${dir}/net.json`, folder: `${dir}/in` };
    assert.deepEqual(await adapted(new ActivitynetAdapter(options)), [
      { id: "one", meta: database.one, frames: new Array(3).fill("64x48") },
    ]);
    assert.deepEqual(
      await adapted(
        new ActivitynetAdapter({ ...options, phase: "validation" }),
      ),
      [{ id: "two", meta: database.two, frames: new Array(4).fill("64x48") }],
    );
  },
);

testClips(
  "Kinetics: ids before the times, also with _00 in them",
  async (dir) => {
    const list = { "x_00y": { label: "b" }, "-_z": { label: "a", n: [1] } };
    put(`${dir}/kinetics.json`, JSON.stringify(list));
    await clip(`${dir}/in/b/x_00y_000010_000020.mp4`, 2);
    await clip(`${dir}/in/a/-_z_000000_000010.mp4`, 3);
    await clip(`${dir}/in/a/other_000000_000010.mp4`, 1);
    put(`${dir}/in/not in a label_000000_000010.mp4`, "");
    const adapter = new KineticsAdapter({
      jsonFile: `${dir}/kinetics.json`,
      folder: `${dir}/in`,
    });
    const [first, second, third, ...more] = await adapted(adapter);
    assert.deepEqual(more, []);
    assert.deepEqual(first, {
      id: "-_z",
      meta: list["-_z"],
      frames: new Array(3).fill("64x48"),
    });
    assert.match(second!.frames[0]!, /kinetics\.json has no entry other/);
    assert.deepEqual(third, {
      id: "x_00y",
      meta: list.x_00y,
      frames: new Array(2).fill("64x48"),
    });
  },
);

testClips(
  "values of JSON files reach the chunk unchanged: 1.0, the order of keys",
  async (dir) => {
    await clip(`${dir}/in/a/x_000000_000010.mp4`, 2);
    const meta =
      '{"subset":"training",  "duration": 1.0, "10": [1e0, 1], "2": {"3": -0.0}}';
    put(
      `${dir}/net.json`,
      `{"database": {"x": {}, "x_000000_000010": ${meta}}}`,
    );
    put(`${dir}/kinetics.json`, `{"10": {}, "x": ${meta}}`);
    put(`${dir}/list.json`, '[{"id": "a", "template": 1.0}]');
    const adapters = {
      net: new ActivitynetAdapter({
        jsonFile: `${dir}/net.json`,
        folder: `${dir}/in/a`,
      }),
      kinetics: new KineticsAdapter({
        jsonFile: `${dir}/kinetics.json`,
        folder: `${dir}/in`,
      }),
      list: new Custom20BNJsonVideoAdapter({
        jsonFile: `${dir}/list.json`,
        folder: `${dir}/in`,
      }),
    };
    for (const [name, adapter] of Object.entries(adapters)) {
      await new GulpIngestor(adapter, `${dir}/${name}`, 10, 1).run();
      const text = fs.readFileSync(`${dir}/${name}/meta_0.gmeta`, "utf8");
      const expected = name === "list"
        ? '{"id": "a", "label": 1.0, "idx": 0}'
        : meta;
      assert.ok(text.endsWith(`"meta_data": [${expected}]}}`), text);
    }
  },
);

testClips(
  "several threads gulp the same as one; failures have ffmpeg's message",
  async (dir) => {
    for (let i = 0; i < 7; i++) {
      await clip(`${dir}/in/${i % 2 ? "odd" : "even"}/${i}.mp4`, 3 + i);
    }
    put(`${dir}/in/odd/broken.mp4`, "no video");
    const reports = [];
    for (const workers of [1, 3]) {
      const outputFolder = `${dir}/out${workers}`;
      const adapter = new VideoFolderAdapter({
        folder: `${dir}/in`,
        outputFolder,
        frameSize: 24,
        shuffle: true,
        seed: 5,
      });
      const said: string[] = [];
      const ingestor = new GulpIngestor(adapter, outputFolder, 3, workers);
      const { paths, failed, ...report } = await ingestor.run({
        onFailure: ({ id }) => said.push(id),
      });
      assert.deepEqual(said, ["odd-broken.mp4"]);
      assert.equal(paths.length, 3);
      assert.equal(report.videos, 7);
      assert.equal(report.frames, 3 * 7 + 21);
      assert.deepEqual(failed.map(({ id }) => id), ["odd-broken.mp4"]);
      assert.match(failed[0]!.reason, /Invalid data found/);
      reports.push(report);
      using directory = await GulpDirectory.open(outputFolder);
      const { frames, meta } = await directory.get("even-4.mp4");
      assert.equal(frames.length, 7);
      assert.deepEqual([frames[0]!.width, frames[0]!.height], [32, 24]);
      assert.equal(meta.label, "even");
    }
    assert.deepEqual(reports[0], reports[1]);
    for (const name of fs.readdirSync(`${dir}/out1`)) {
      assert.ok(
        fs.readFileSync(`${dir}/out1/${name}`)
          .equals(fs.readFileSync(`${dir}/out3/${name}`)),
        name,
      );
    }
  },
);
