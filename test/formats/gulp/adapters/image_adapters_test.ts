import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { pathToFileURL } from "node:url";
import {
  Custom20BNCsvJpegAdapter,
  GulpDirectory,
  GulpIngestor,
  ImageFolderAdapter,
  ImageListAdapter,
} from "../../../../src/formats/gulp/mod.ts";
import { adapted, jpeg, put } from "../../../support/adapted.ts";
import { sha256 } from "../../../support/golden.ts";
import { gulpCases } from "../../../support/gulp/gulp_golden.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import { pythonLines } from "../../../support/programs/python.ts";

for (
  const golden of gulpCases().filter(({ name }) => name.endsWith("image_list"))
) {
  Deno.test(`ImageListAdapter writes the same bytes as the original (${golden.name})`, async () => {
    await withTempDir(async (dir) => {
      // The images no longer exist; their JPEGs are stored unchanged under their names.
      const lines: string[] = [];
      using original = await GulpDirectory.open(golden.path, { decode: false });
      for (const { id, meta } of golden.content.videos) {
        const { label } = meta as { label: string };
        const name = id.slice(label.length + 1);
        put(`${dir}/${name}`, (await original.get(id)).frames[0]!);
        lines.push(`${name},${label}`);
      }
      put(`${dir}/list.txt`, lines.join("\n"));
      const outputFolder = `${dir}/out`;
      const adapter = new ImageListAdapter({
        inputFile: `${dir}/list.txt`,
        rootFolder: dir,
        outputFolder,
      });
      const size = golden.content.chunks[0]!.ids.length;
      await new GulpIngestor(adapter, outputFolder, size, 1).run();
      const names = fs.readdirSync(golden.path).sort();
      assert.deepEqual(fs.readdirSync(outputFolder).sort(), names);
      for (const name of names) {
        const [a, b] = [golden.path, outputFolder].map((folder) =>
          fs.readFileSync(`${folder}/${name}`)
        );
        assert.equal(Buffer.compare(a!, b!), 0, name);
      }
    });
  });
}

Deno.test({
  name: "a list of images is split like Python splits it, including blanks",
  ...needs("python3"),
  fn: () =>
    withTempDir(async (dir) => {
      const lines = [
        "a.jpg,cat",
        "b.jpg, cat",
        "c.jpg ,cat",
        " d.jpg , cat ",
        "\te.jpg\t,\tcat\t",
        "f.jpg,  ",
        "g.jpg,\u00a0cat\u00a0",
        "h.jpg,\ufeffcat\ufeff",
        "\x1ci.jpg,\x1fcat\x85",
        "j.jpg,cat\u2028x",
        "sub/k.jpg,a cat",
        "sub/l.jpg,a/b",
      ];
      for (const end of ["\n", "\r\n", "\r"]) {
        put(`${dir}/list.txt`, lines.join(end));
        const [expected] = await pythonLines(`
import json, os
items = [line.strip().split(',') for line in open(${
          JSON.stringify(`${dir}/list.txt`)
        }, encoding='utf-8')]
labels = sorted(set(label for _, label in items))
print(json.dumps([[os.path.basename(label + '-' + path), label, labels.index(label)] for path, label in items]))
`);
        const adapter = new ImageListAdapter({ inputFile: `${dir}/list.txt` });
        const found = (await adapted(adapter)).map(({ meta }) => {
          const { id, label, idx } = meta as Record<string, unknown>;
          return [id, label, idx];
        });
        assert.deepEqual(found, expected);
      }
    }),
});

Deno.test("a list of images may have commas in paths, and empty lines", async () => {
  await withTempDir(async (dir) => {
    put(`${dir}/in/a, b.jpg`, await jpeg(32, 24));
    put(`${dir}/in/sub/c.jpg`, await jpeg(24, 32));
    put(
      `${dir}/list.txt`,
      "\ufeffa, b.jpg,zebra\r\n\nsub/c.jpg,ape\nnowhere.jpg,ape\n",
    );
    const adapter = new ImageListAdapter({
      inputFile: pathToFileURL(`${dir}/list.txt`),
      rootFolder: `${dir}/in`,
      imgSize: 12,
    });
    assert.equal(adapter.length, 3);
    assert.deepEqual(await adapted(adapter), [
      {
        id: "zebra-a, b.jpg",
        meta: { id: "zebra-a, b.jpg", label: "zebra", idx: 1 },
        frames: ["16x12"],
      },
      // The id follows the last slash of `ape-sub/c.jpg`, as in the original.
      {
        id: "c.jpg",
        meta: { id: "c.jpg", label: "ape", idx: 0 },
        frames: ["12x16"],
      },
      {
        id: "ape-nowhere.jpg",
        meta: { id: "ape-nowhere.jpg", label: "ape", idx: 0 },
        frames: [`Cannot gulp ${dir}/in/nowhere.jpg: there is no such file`],
      },
    ]);
    assert.deepEqual(fs.readdirSync(dir).sort(), ["in", "list.txt"]);
    put(`${dir}/list.txt`, "a.jpg,ape\nb.jpg");
    assert.throws(
      () => new ImageListAdapter({ inputFile: `${dir}/list.txt` }),
      { code: "bad-input", message: /list\.txt: line 2 has no label/ },
    );
  });
});

Deno.test("a folder of images, with or without a slash, at any depth, with both suffixes", async () => {
  await withTempDir(async (dir) => {
    const big = await jpeg(32, 24);
    put(`${dir}/in/cat/b.jpg`, big);
    put(`${dir}/in/cat/a.jpg`, big);
    put(`${dir}/in/dogs/big/x.jpg`, big);
    put(`${dir}/in/top.jpg`, big);
    put(`${dir}/in/cat/.hidden.jpg`, big);
    put(`${dir}/in/.hidden/x.jpg`, big);
    put(`${dir}/in/cat/notes.txt`, "no image");
    put(`${dir}/in/cat/broken.png`, "no image");
    fs.symlinkSync("../dogs", `${dir}/in/cat/linked`);
    fs.symlinkSync("..", `${dir}/in/dogs/round`);
    for (const folder of [`${dir}/in`, `${dir}/in/`]) {
      const adapter = new ImageFolderAdapter({ folder });
      const found = await adapted(adapter);
      assert.deepEqual(
        found.map(({ id, meta }) => ({ id, ...meta as object })),
        [
          { id: "cat-a.jpg", label: "cat", path: `${dir}/in/cat`, idx: 1 },
          { id: "cat-b.jpg", label: "cat", path: `${dir}/in/cat`, idx: 1 },
          { id: "cat-broken.png", label: "cat", path: `${dir}/in/cat`, idx: 1 },
          {
            id: "big-x.jpg",
            label: "big",
            path: `${dir}/in/cat/linked/big`,
            idx: 0,
          },
          { id: "big-x.jpg", label: "big", path: `${dir}/in/dogs/big`, idx: 0 },
          { id: "in-top.jpg", label: "in", path: `${dir}/in`, idx: 2 },
        ],
      );
      assert.deepEqual(found[0]!.frames, ["32x24"]);
      assert.match(
        found[2]!.frames[0]!,
        /broken\.png: it is not a JPEG, PNG, WebP/,
      );
      const once = new ImageFolderAdapter({ folder, removeDuplicateIds: true });
      assert.equal(once.length, 5);
      const png = new ImageFolderAdapter({ folder, fileExtensions: [".png"] });
      assert.deepEqual([...png.ids()], ["cat-broken.png"]);
    }
    assert.throws(
      () => new ImageFolderAdapter({ folder: `${dir}/none` }),
      {
        code: "bad-input",
        message: /none: there is no such file or directory/,
      },
    );
  });
});

Deno.test("a broken link is an image that fails, not one that is missing", async () => {
  await withTempDir(async (dir) => {
    put(`${dir}/in/cat/a.jpg`, await jpeg(32, 24));
    fs.symlinkSync("moved.jpg", `${dir}/in/cat/b.jpg`);
    fs.symlinkSync("c.jpg", `${dir}/in/cat/c.jpg`); // a link to itself
    fs.symlinkSync("moved", `${dir}/in/cat/d`);
    const folder = `${dir}/in`;
    const found = await adapted(new ImageFolderAdapter({ folder }));
    assert.deepEqual(
      found.map(({ id }) => id),
      ["cat-a.jpg", "cat-b.jpg", "cat-c.jpg"],
    );
    assert.match(found[1]!.frames[0]!, /b\.jpg: there is no such file/);
    assert.match(found[2]!.frames[0]!, /c\.jpg/);
  });
});

Deno.test("a JPEG that need not be resized is stored unchanged by default", async () => {
  await withTempDir(async (dir) => {
    const bytes = await jpeg(32, 24);
    put(`${dir}/in/cat/a.jpg`, bytes);
    const hashes: Record<string, string> = {};
    for (
      const [name, options] of Object.entries({
        kept: {},
        same: { imgSize: 24 },
        anew: { reencode: true },
        small: { imgSize: 12 },
      })
    ) {
      const adapter = new ImageFolderAdapter({
        folder: `${dir}/in`,
        codec: "imagescript",
        ...options,
      });
      for await (const { frames } of adapter.iterData()) {
        for await (const frame of frames) {
          hashes[name] = sha256(frame as Uint8Array);
        }
      }
    }
    const own = sha256(bytes);
    assert.equal(hashes.kept, own);
    assert.equal(hashes.same, own);
    assert.notEqual(hashes.anew, own);
    assert.notEqual(hashes.small, own);
  });
});

Deno.test("frames of 20BN's CSV with JPEGs, in the order of their names", async () => {
  await withTempDir(async (dir) => {
    put(`${dir}/in/7/00001.jpg`, await jpeg(16, 8));
    put(`${dir}/in/7/00002.jpg`, await jpeg(20, 8));
    put(`${dir}/in/7/00010.jpg`, await jpeg(24, 8));
    put(`${dir}/in/7/ignored.png`, "no image");
    fs.mkdirSync(`${dir}/in/empty`);
    put(`${dir}/list.csv`, '7;"Swiping; left"\n\nempty;Stop\n9;Stop\n');
    const adapter = await Custom20BNCsvJpegAdapter.open({
      csvFile: `${dir}/list.csv`,
      folder: `${dir}/in/`,
    });
    assert.deepEqual(await adapted(adapter), [
      {
        id: "7",
        meta: { id: "7", label: "Swiping; left", idx: 1 },
        frames: ["16x8", "20x8", "24x8"],
      },
      { id: "empty", meta: { id: "empty", label: "Stop", idx: 0 }, frames: [] },
      {
        id: "9",
        meta: { id: "9", label: "Stop", idx: 0 },
        frames: [
          `Cannot gulp ${dir}/in/9: there is no such file or directory`,
        ],
      },
    ]);
    put(`${dir}/list.csv`, "7;Stop\n8\n");
    const options = { csvFile: `${dir}/list.csv`, folder: dir };
    await assert.rejects(Custom20BNCsvJpegAdapter.open(options), {
      code: "bad-input",
      message: /row 2 has no label/,
    });
    await assert.rejects(
      Custom20BNCsvJpegAdapter.open({ folder: dir } as typeof options),
      { name: "TypeError", message: /The option csvFile of \w+ is missing/ },
    );
  });
});

Deno.test("threads read CSV lists themselves", async () => {
  await withTempDir(async (dir) => {
    for (const id of ["a", "b", "c"]) {
      put(`${dir}/in/${id}/1.jpg`, await jpeg(16, 8));
    }
    put(`${dir}/list.csv`, "a;x\nb;y\nc;x\n");
    const outputFolder = `${dir}/out`;
    const adapter = await Custom20BNCsvJpegAdapter.open({
      csvFile: `${dir}/list.csv`,
      folder: `${dir}/in`,
      outputFolder,
    });
    const { videos } = await new GulpIngestor(adapter, outputFolder, 1, 2)
      .run();
    assert.equal(videos, 3);
  });
});
