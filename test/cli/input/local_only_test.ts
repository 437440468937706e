/** Locations that are not the path of one container: URLs, and directories of two formats. */
import assert from "node:assert/strict";
import { open } from "../../../mod.ts";
import { DatasetReader } from "../../../src/formats/bags/mod.ts";
import {
  FFRecordReader,
  packFolder,
} from "../../../src/formats/ffrecord/mod.ts";
import { GulpDirectory } from "../../../src/formats/gulp/mod.ts";
import { convert } from "../../../src/open/convert/convert.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { fakeJpeg, writeChunk } from "../../support/gulp/make_gulp.ts";
import { withTempDir } from "../../support/paths.ts";
import { assertFailed, recordfs, succeed, withSession } from "../run_cli.ts";

Deno.test("unsupported schemes are rejected with a supported alternative", async () => {
  const schemes = {
    "gs://bucket/data": /`s3\.endpoint: "https:\/\/storage.googleapis.com/,
    "az://container/data": /https:\/\/ URL with its SAS token/,
    "hf://datasets/someone/data": /https:\/\/huggingface.co\/datasets\//,
    "file:///data.ffr": /its path, without file:\/\//,
    "nonsense://user:secret@x/y?secret": /Give http:\/\/, https:\/\/ or s3:/,
  };
  for (const [url, message] of Object.entries(schemes)) {
    const calls: (() => Promise<unknown>)[] = [
      () => open(url),
      () => FFRecordReader.open(url),
      () => FFRecordReader.open([url]),
      () => GulpDirectory.open(url),
      () => DatasetReader.open(url),
    ];
    for (const call of calls) {
      await assert.rejects(
        call,
        (error: Error & { code?: string }) =>
          error.code === "unknown-scheme" && message.test(error.message) &&
          !error.message.includes("secret"),
        url,
      );
    }
  }
  await assert.rejects(open("s3://"), { code: "bad-location" });
  await assert.rejects(open("https://"), { code: "bad-location" });
  // These are paths of missing files.
  for (
    const path of ["c:/x", "c://x", "a:b", "./http://x", "http:/x", "-://x"]
  ) {
    await assert.rejects(open(path), { code: "ENOENT" }, path);
  }
});

const URL_OF_FILE = "https://name:secret@example.org/data.ffr?secret";

Deno.test("outputs, and inputs of pack, must be local", async () => {
  const refused = {
    code: "not-local",
    message: "Cannot use https://example.org/data.ffr here: it must " +
      "be a local file or directory. Give a local path " +
      "(./https://example.org/data.ffr is one)",
  };
  const url = URL_OF_FILE;
  await assert.rejects(convert("x.ffr", url), refused);
  await assert.rejects(packFolder("x", url), refused);
  await assert.rejects(packFolder(new URL(url), "x.ffr"), refused);
});

Deno.test("commands that take paths reject URLs", async () => {
  const url = URL_OF_FILE;
  const spec = ["--spec", '{"a": "utf8"}'];
  const lines: string[][] = [
    ["mount", "x", url],
    ["extract", "x", url],
    ["pack", url, "x.ffr"],
    ["pack", ".", url],
    ["write", url, "a"],
    ["write", "x.ffr", url],
    ["write", "x.ffr", "--list", url],
    ["write", "x.ffr", "--jsonl", url],
    ["convert", "x", url],
    ["convert", url, url],
    ["convert", "x", "x", "--to", "bags", "--spec", url],
    ["bag", "create", url, "x", ...spec],
    ["bag", "create", "x", url, ...spec],
    ["gulp", "image-folder", url, "out"],
    ["gulp", "image-folder", "x", url],
    ["gulp", "repair", url, "out"],
  ];
  await withTempDir(async (dir) => {
    await withSession(async (recordfs) => {
      for (const args of lines) {
        const ran = await recordfs(args, dir);
        assertFailed(
          ran,
          1,
          /Cannot use https:\/\/example.org.* a local file or directory/,
        );
        assert.ok(!ran.stderr.includes("secret"), args.join(" "));
      }
    });
    assert.deepEqual(await Array.fromAsync(Deno.readDir(dir)), []);
  });
});

Deno.test("a directory whose name looks like a URL is reached by ./", async () => {
  await withTempDir(async (dir) => {
    await Deno.mkdir(`${dir}/http:/host`, { recursive: true });
    await Deno.writeFile(`${dir}/http:/host/x.ffr`, ffrBytes([]));
    await succeed(["ls", "./http://host/x.ffr"], { cwd: dir });
  });
});

Deno.test("a directory of two formats is reported as such, by all commands", async () => {
  await withTempDir(async (dir) => {
    writeChunk(dir, 0, [{ id: "video", frames: [fakeJpeg(8)] }]);
    await Deno.writeFile(`${dir}/a.ffr`, ffrBytes([Uint8Array.of(1)]));
    await Deno.writeTextFile(`${dir}/spec.json`, "{}"); // not a dataset yet
    await assert.rejects(open(dir), {
      code: "several-formats",
      message:
        `Cannot open ${dir}: it holds both .ffr files (a.ffr) and GulpIO chunks ` +
        "(data_0.gulp). Give one of these files, or choose with the option " +
        '`format: "ffrecord"` or the option `format: "gulp"`',
    });
    const words =
      /holds both \.ffr files.*choose with --format ffrecord or --format gulp$/m;
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
    assertFailed(
      converted,
      1,
      /choose with --format ffrecord or --format gulp$/m,
    );

    const as = async (...args: string[]) =>
      (await succeed(["ls", ...args])).stdout;
    assert.equal(await as("--format", "gulp", dir), "video\n");
    assert.equal(await as("--format", "ffrecord", dir), "000000\n");
    assert.equal(await as(`${dir}/data_0.gulp`), "video\n");
    assert.equal(await as(`${dir}/a.ffr`), "000000\n");

    await Deno.writeFile(`${dir}/text.bag`, new Uint8Array(8));
    await assert.rejects(open(dir), {
      message:
        /holds \.ffr files .* and GulpIO .* and bags \(text\.bag\)\. Give/,
    });
  });
});
