import assert from "node:assert/strict";
import * as fs from "node:fs";
import { gzipSync } from "node:zlib";
import {
  Custom20BNJsonVideoAdapter,
  GulpDirectory,
  GulpIngestor,
  ImageFolderAdapter,
  ImageListAdapter,
  LabelledAdapter,
} from "../../../../src/formats/gulp/mod.ts";
import { adapted, jpeg, put } from "../../../support/adapted.ts";
import { fakeJpeg, writeChunk } from "../../../support/gulp/make_gulp.ts";
import { withTempDir } from "../../../support/paths.ts";

/** Makes images 0.jpg … in directories named by label. */
async function makeImages(
  dir: string,
  labels: readonly string[],
  count: number,
) {
  const bytes = await jpeg(8, 8);
  for (const label of labels) {
    for (let i = 0; i < count; i++) put(`${dir}/${label}/${i}.jpg`, bytes);
  }
}

Deno.test("shuffling depends only on the seed", async () => {
  await withTempDir(async (dir) => {
    await makeImages(dir, ["a", "b"], 20);
    const ids = (options: object) => [
      ...new ImageFolderAdapter({ folder: dir, ...options }).ids(),
    ];
    const plain = ids({});
    const mixed = ids({ shuffle: true });
    assert.deepEqual(ids({ shuffle: true, seed: 0 }), mixed);
    assert.notDeepEqual(mixed, plain);
    assert.deepEqual([...mixed].sort(), [...plain].sort());
    assert.notDeepEqual(ids({ shuffle: true, seed: 1 }), mixed);
    const adapter = new ImageFolderAdapter({ folder: dir, shuffle: true });
    const all = await adapted(adapter);
    assert.deepEqual(
      await adapted(adapter, { start: 3, stop: 5 }),
      all.slice(3, 5),
    );
    assert.deepEqual(
      await adapted(adapter, { start: 39, stop: 50 }),
      all.slice(39),
    );
    assert.deepEqual(all.map(({ id }) => id), mixed);
  });
});

Deno.test("an ingest of skipped videos alone says so", async () => {
  await withTempDir(async (dir) => {
    await makeImages(`${dir}/in`, ["a"], 2);
    const folder = `${dir}/in/`;
    const adapter = new ImageFolderAdapter({
      folder,
      fileExtensions: [".jpg"],
      withoutIds: ["a-0.jpg", "a-1.jpg"],
    });
    await assert.rejects(new GulpIngestor(adapter, `${dir}/out`, 1, 1).run(), {
      code: "no-videos",
      message:
        `Cannot ingest: no new images found in ${dir}/in/LABEL/ (looked for .jpg): all 2 are skipped by their ids`,
    });
    assert.ok(!fs.existsSync(`${dir}/out`));
  });
});

Deno.test("labels in label2idx.json keep their class indices, and new ones follow", async () => {
  await withTempDir(async (dir) => {
    await makeImages(`${dir}/in`, ["ant", "cat", "Ähre", "Zoo"], 1);
    const outputFolder = `${dir}/out`;
    put(`${outputFolder}/label2idx.json`, '{"zebra": 0, "cat": 1}');
    const adapter = new ImageFolderAdapter({
      folder: `${dir}/in`,
      outputFolder,
    });
    const expected = { zebra: 0, cat: 1, Zoo: 2, ant: 3, "Ähre": 4 };
    assert.deepEqual(Object.fromEntries(adapter.label2idx!), expected);
    const numbers = (await adapted(adapter)).map(({ meta }) => {
      const { label, idx } = meta as { label: string; idx: number };
      return [label, idx];
    });
    assert.deepEqual(
      new Map(numbers as [string, number][]),
      new Map(
        Object.entries(expected).filter(([label]) => label !== "zebra"),
      ),
    );
    assert.equal(
      fs.readFileSync(`${outputFolder}/label2idx.json`, "utf8"),
      '{"zebra": 0, "cat": 1, "Zoo": 2, "ant": 3, "\\u00c4hre": 4}',
    );
    const again = new ImageFolderAdapter({ folder: `${dir}/in`, outputFolder });
    assert.deepEqual(again.label2idx, adapter.label2idx);
    put(`${outputFolder}/label2idx.json`, '{ "10":1,"2" : 0,"Zoo":3\n}\n');
    const more = new ImageFolderAdapter({ folder: `${dir}/in`, outputFolder });
    assert.deepEqual([...more.label2idx!.keys()].slice(0, 3), [
      "10",
      "2",
      "Zoo",
    ]);
    await adapted(more);
    assert.equal( // existing text remains byte for byte
      fs.readFileSync(`${outputFolder}/label2idx.json`, "utf8"),
      '{ "10":1,"2" : 0,"Zoo":3, "ant": 4, "cat": 5, "\\u00c4hre": 6\n}\n',
    );
    put(`${outputFolder}/label2idx.json`, '{"zebra": "no number"}');
    assert.throws(
      () => new ImageFolderAdapter({ folder: `${dir}/in`, outputFolder }),
      { code: "bad-meta", message: /label2idx\.json/ },
    );
    assert.throws(
      () =>
        new ImageFolderAdapter({
          folder: `${dir}/in`,
          outputFolder: `${outputFolder}/label2idx.json`, // a file
        }),
      { name: "WriteError", message: /part of the path is not a directory/ },
    );
  });
});

Deno.test("several threads leave one complete label2idx.json", async () => {
  await withTempDir(async (dir) => {
    await makeImages(`${dir}/in`, ["a", "b", "c"], 4);
    const outputFolder = `${dir}/out`;
    put(`${outputFolder}/label2idx.json`, '{"b": 0}');
    const adapter = new ImageFolderAdapter({
      folder: `${dir}/in`,
      outputFolder,
      codec: "imagescript",
    });
    await new GulpIngestor(adapter, outputFolder, 2, 3).run();
    assert.equal(
      fs.readFileSync(`${outputFolder}/label2idx.json`, "utf8"),
      '{"b": 0, "a": 1, "c": 2}',
    );
    using directory = await GulpDirectory.open(outputFolder, { decode: false });
    const labels = await directory.labels();
    for (const [_, { metaData }] of directory.mergedMetaDict) {
      const { label, idx } = metaData[0] as { label: string; idx: number };
      assert.equal(idx, labels?.get(label));
    }
    assert.deepEqual(
      fs.readdirSync(outputFolder).filter((name) => name.startsWith(".")),
      [],
    );
  });
});

Deno.test("duplicate ids, and those already in the directory, are skipped on request", async () => {
  await withTempDir((dir) => {
    const list = [
      { id: 5, template: "b" },
      { id: "six", template: "a" },
      { id: 5, template: "c" },
      { id: 2 ** 53 - 1, template: "a" },
      { id: "there", template: "d" },
    ];
    put(`${dir}/list.json`, JSON.stringify(list));
    writeChunk(`${dir}/out`, 3, [{ id: "there", frames: [fakeJpeg(8)] }]);
    const options = {
      jsonFile: `${dir}/list.json`,
      folder: dir,
      outputFolder: `${dir}/out`,
    };
    const all = new Custom20BNJsonVideoAdapter(options);
    assert.deepEqual([...all.ids()], [
      "5",
      "six",
      "5",
      "9007199254740991",
      "there",
    ]);
    const some = new Custom20BNJsonVideoAdapter({
      ...options,
      removeDuplicateIds: true,
    });
    assert.deepEqual([...some.ids()], ["5", "six", "9007199254740991"]);
    // As in the original, labels of skipped videos get class indices too.
    assert.deepEqual([...some.label2idx!.keys()], ["a", "b", "c", "d"]);
    // Another thread makes the same list of videos, even if the directory has changed since.
    const { name, options: sent } = some.recipe!;
    assert.equal(name, "Custom20BNJsonVideoAdapter");
    writeChunk(`${dir}/out`, 4, [{ id: "six", frames: [fakeJpeg(8)] }]);
    const made = new Custom20BNJsonVideoAdapter(
      sent as unknown as typeof options,
    );
    assert.deepEqual([...made.ids()], [...some.ids()]);
    fs.rmSync(`${dir}/out/meta_3.gmeta`);
    assert.throws(
      () =>
        new Custom20BNJsonVideoAdapter({
          ...options,
          removeDuplicateIds: true,
        }),
      { code: "missing-meta" },
    );
  });
});

Deno.test("lists of 20BN in JSON: packed or not, any key as the label, any label", async () => {
  await withTempDir((dir) => {
    const list = [
      { id: 1, template: "x", note: 10 },
      { id: "2", template: "y", note: 9 },
      { id: 3, template: "x", note: null },
    ];
    const text = JSON.stringify(list);
    put(`${dir}/list.json`, text);
    put(`${dir}/list.json.gz`, gzipSync(text));
    for (const name of ["list.json", "list.json.gz"]) {
      const jsonFile = `${dir}/${name}`;
      const byTemplate = new Custom20BNJsonVideoAdapter({
        jsonFile,
        folder: dir,
      });
      assert.deepEqual([...byTemplate.label2idx!], [["x", 0], ["y", 1]]);
      const byNote = new Custom20BNJsonVideoAdapter({
        jsonFile,
        folder: dir,
        labelName: "note",
      });
      assert.deepEqual([...byNote.label2idx!], [["9", 0], ["10", 1], [
        "null",
        2,
      ]]);
    }
    put(
      `${dir}/floats.json`,
      '[{"id": 1, "note": 2.0}, {"id": 2, "note": 1.5}]',
    );
    const byFloat = new Custom20BNJsonVideoAdapter({
      jsonFile: `${dir}/floats.json`,
      folder: dir,
      labelName: "note",
    });
    // As Python's json.dump writes the key 2.0.
    assert.deepEqual([...byFloat.label2idx!], [["1.5", 0], ["2.0", 1]]);
    const bad: [string, string, RegExp][] = [
      ["g.json", '[{"id": 1.0, "template": "x"}]', /no id that is a string/],
      ["list.txt", text, /must be a \.json/],
      ["a.json", text.slice(0, -1), /is not JSON: .*byte/],
      ["b.json", "{}", /not a list/],
      ["c.json", '[{"template": "x"}]', /entry 0 has no id/],
      [
        "d.json",
        '[{"id": 1, "label": "x"}]',
        /entry 0 has no label 'template'; it has id, label/,
      ],
      [
        "e.json",
        '[{"id": 1, "template": ["x"]}]',
        /labels are text or numbers/,
      ],
      ["f.json", "[1]", /entry 0 is not an object/],
      ["g.json.gz", text, /is not JSON: /],
    ];
    for (const [name, content, message] of bad) {
      put(`${dir}/${name}`, content);
      assert.throws(
        () =>
          new Custom20BNJsonVideoAdapter({
            jsonFile: `${dir}/${name}`,
            folder: dir,
          }),
        { code: "bad-input", message },
        name,
      );
    }
  });
});

Deno.test("options that are unknown, missing or of another type are rejected by name", () => {
  const make = (options: object) => () =>
    new ImageListAdapter(options as { inputFile: string });
  const bad: [object, RegExp][] = [
    [{}, /The option inputFile of ImageListAdapter is missing/],
    [
      { inputFile: "a", shmDirPath: "/dev/shm" },
      /no option shmDirPath: frames go through no temporary/,
    ],
    [
      { inputFile: "a", imageSize: 3 },
      /no option imageSize: it takes inputFile, rootFolder, imgSize/,
    ],
    [
      { inputFile: "a", imgSize: "3" },
      /imgSize of ImageListAdapter must be a whole number, not "3"/,
    ],
    [
      { inputFile: "a", imgSize: 1.5 },
      /imgSize of ImageListAdapter must be a whole number, not 1\.5/,
    ],
    [
      { inputFile: "a", shuffle: 1 },
      /shuffle of ImageListAdapter must be true or false, not 1/,
    ],
    [
      { inputFile: "a", codec: "opencv" },
      /codec of ImageListAdapter must be one of auto, turbojpeg, sharp, imagescript, not "opencv"/,
    ],
    [{ inputFile: 7 }, /inputFile of ImageListAdapter must be a string, not 7/],
  ];
  for (const [options, message] of bad) {
    assert.throws(make(options), { name: "TypeError", message });
  }
});

Deno.test("adapters can be subclassed: built-in ones, and custom lists", async () => {
  class Described extends ImageFolderAdapter {
    static override readonly module = import.meta.url;
    static override readonly options = []; // declares no options of its own
    protected override metaOf(
      video: Parameters<ImageFolderAdapter["metaOf"]>[0],
    ) {
      return { ...super.metaOf(video), described: true };
    }
  }
  class Letters extends LabelledAdapter<
    { readonly letters: string; readonly outputFolder?: string },
    { readonly id: string; readonly label: string }
  > {
    constructor(options: { letters: string; outputFolder?: string }) {
      super(options, {
        options: [],
        list: ({ letters }) =>
          [...letters].map((id) => ({ id, label: id.toUpperCase() })),
        frames: ({ id }) => [fakeJpeg(4 + id.charCodeAt(0) % 7)],
      });
    }
  }
  await withTempDir(async (dir) => {
    await makeImages(`${dir}/in`, ["cat"], 2);
    const described = new Described({ folder: `${dir}/in` });
    assert.equal(described.recipe!.name, "Described");
    const [first] = await adapted(described);
    assert.deepEqual(first!.meta, {
      id: "cat-0.jpg",
      label: "cat",
      path: `${dir}/in/cat`,
      idx: 0,
      described: true,
    });
    const outputFolder = `${dir}/out`;
    const letters = new Letters({ letters: "dab", outputFolder });
    await new GulpIngestor(letters, outputFolder, 2, 1).run();
    using directory = await GulpDirectory.open(outputFolder, { decode: false });
    assert.deepEqual(
      Object.fromEntries((await directory.labels())!),
      { A: 0, B: 1, D: 2 },
    );
    const { meta } = await directory.get("b");
    assert.deepEqual(meta, { id: "b", label: "B", idx: 1 });
  });
});
