/** What is no path of one container: URLs, and directories that hold two. */
import assert from "node:assert/strict";
import { open } from "../../../mod.ts";
import { DatasetReader } from "../../../src/formats/bags/mod.ts";
import {
  FFRecordReader,
  packFolder,
} from "../../../src/formats/ffrecord/mod.ts";
import { GulpDirectory } from "../../../src/formats/gulp/mod.ts";
import { convert } from "../../../src/convert/mod.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { fakeJpeg, writeChunk } from "../../support/gulp/make_gulp.ts";
import { withTempDir } from "../../support/paths.ts";
import { assertFailed, recordfs, succeed, withSession } from "../run_cli.ts";

const URLS = [
  "https://example.org/data.ffr",
  "HTTP://example.org/data.ffr",
  "s3://bucket/data.ffr",
  "gs://bucket/data",
  "az://container/data",
  "hf://datasets/someone/data",
];

Deno.test("the API refuses URLs as not supported yet, and says what to do", async () => {
  const refused = {
    code: "not-local",
    message: /^Cannot use .*not supported yet.*Download it/,
  };
  for (const url of URLS) {
    const calls: (() => Promise<unknown>)[] = [
      () => open(url),
      () => FFRecordReader.open(url),
      () => FFRecordReader.open([url]),
      () => GulpDirectory.open(url),
      () => DatasetReader.open(url),
      () => convert(url, "x"),
      () => convert("x", url),
      () => packFolder("x", url),
    ];
    for (const call of calls) await assert.rejects(call, refused, url);
  }
  await assert.rejects(open("file:///data.ffr"), {
    code: "not-local",
    message: /Give its path, without file:\/\/$/,
  });
  await assert.rejects(open(new URL("https://example.org/")), refused);
  // These are paths, of what is not there.
  for (
    const path of ["c:/x", "c://x", "a:b", "./http://x", "http:/x", "-://x"]
  ) {
    await assert.rejects(open(path), { code: "ENOENT" }, path);
  }
});

Deno.test("commands refuse URLs where they take paths", async () => {
  const url = URLS[0]!;
  const spec = ["--spec", '{"a": "utf8"}'];
  const lines: string[][] = [
    ["ls", url],
    ["info", url],
    ["check", url],
    ["records", url],
    ["mount", url, "/mnt"],
    ["mount", "x", url],
    [url, "/mnt", "-o", "rw"],
    ["extract", url, "out"],
    ["extract", "x", url],
    ["pack", url, "x.ffr"],
    ["pack", ".", url],
    ["write", url, "a"],
    ["write", "x.ffr", url],
    ["write", "x.ffr", "--list", url],
    ["write", "x.ffr", "--jsonl", url],
    ["convert", url, "x/"],
    ["convert", "x", "x", "--to", "bags", "--spec", url],
    ["bag", "create", url, "x", ...spec],
    ["bag", "create", "x", url, ...spec],
    ["split", url, "--ratios", "1,1"],
    ["gulp", "image-folder", url, "out"],
    ["gulp", "image-folder", "x", url],
    ["gulp", "repair", url, "out"],
  ];
  await withTempDir(async (dir) => {
    await withSession(async (recordfs) => {
      for (const args of lines) {
        const ran = await recordfs(args, dir);
        assertFailed(ran, 1, /not supported yet.*Download it/);
      }
    });
    assert.deepEqual(await Array.fromAsync(Deno.readDir(dir)), []);
  });
});

Deno.test("a directory whose name looks like a URL is reached by ./", async () => {
  await withTempDir(async (dir) => {
    await Deno.mkdir(`${dir}/http:/host`, { recursive: true });
    await Deno.writeFile(`${dir}/http:/host/x.ffr`, ffrBytes([]));
    const named = ["ls", "http://host/x.ffr"];
    assertFailed(await recordfs(named, { cwd: dir }), 1, /\.\/http:/);
    await succeed(["ls", "./http://host/x.ffr"], { cwd: dir });
  });
});

Deno.test("a directory of two formats is called that, everywhere", async () => {
  await withTempDir(async (dir) => {
    writeChunk(dir, 0, [{ id: "video", frames: [fakeJpeg(8)] }]);
    await Deno.writeFile(`${dir}/a.ffr`, ffrBytes([Uint8Array.of(1)]));
    await Deno.writeTextFile(`${dir}/spec.json`, "{}"); // is not one yet
    await assert.rejects(open(dir), {
      code: "several-formats",
      message: `${dir} holds both .ffr files (a.ffr) and GulpIO chunks ` +
        "(data_0.gulp): name one of these files, or choose by the option " +
        '`format: "ffrecord"` or the option `format: "gulp"`',
    });
    const words =
      /holds both \.ffr files.*choose by --format ffrecord or --format gulp$/m;
    const commands = [
      ["ls", dir],
      ["tree", dir],
      ["cat", dir, "x"],
      ["stat", dir, "x"],
      ["info", dir],
      ["check", dir],
      ["extract", dir, `${dir}/out`],
      ["split", dir, "--ratios", "1,1"],
      ["bench-loader", dir],
    ];
    for (const args of commands) {
      assertFailed(await recordfs(args), 1, words);
    }
    const converted = await recordfs(["convert", dir, `${dir}-x/`]);
    assertFailed(converted, 1, /choose by --from ffrecord or --from gulp$/m);

    const as = async (...args: string[]) =>
      (await succeed(["ls", ...args])).stdout;
    assert.equal(await as("--format", "gulp", dir), "video\n");
    assert.equal(await as("--format", "ffrecord", dir), "000000\n");
    assert.equal(await as(`${dir}/data_0.gulp`), "video\n");
    assert.equal(await as(`${dir}/a.ffr`), "000000\n");

    await Deno.writeFile(`${dir}/text.bag`, new Uint8Array(8));
    await assert.rejects(open(dir), {
      message: /holds \.ffr files .* and GulpIO .* and bags \(text\.bag\): /,
    });
  });
});
