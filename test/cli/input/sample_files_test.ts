import assert from "node:assert/strict";
import { SampleInputFiles } from "../../../src/cli/input/sample_input_files.ts";
import {
  FFRecordReader,
  FFRecordWriter,
} from "../../../src/formats/ffrecord/mod.ts";
import { withTempDir } from "../../support/paths.ts";

const { signal } = new AbortController();

for (
  const [what, change] of [
    ["grows", (path: string) => {
      Deno.writeTextFileSync(path, "more", { append: true });
    }],
    ["shrinks", (path: string) => Deno.truncateSync(path, 2 << 20)],
    ["is written to", (path: string) => {
      using file = Deno.openSync(path, { write: true });
      file.writeSync(new Uint8Array(1));
    }],
  ] as const
) {
  Deno.test(`a file that ${what} while it is read is rejected as a sample`, async () => {
    await withTempDir(async (dir) => {
      await Deno.writeTextFile(`${dir}/still`, "still");
      await Deno.writeFile(`${dir}/moving`, new Uint8Array(3_500_000));
      await Deno.utime(`${dir}/moving`, 1e9, 1e9);
      using files = new SampleInputFiles();
      await using writer = await FFRecordWriter.open(`${dir}/a.ffr`);
      await files.write(`${dir}/still`, writer, signal, () => {});
      let changed = false;
      const changeOnce = () => {
        if (!changed) change(`${dir}/moving`);
        changed = true;
      };
      await assert.rejects(
        files.write(`${dir}/moving`, writer, signal, changeOnce),
        /Cannot read .*moving: it changed meanwhile/,
      );
      await writer.close(); // with the earlier sample
      using reader = FFRecordReader.openSync(`${dir}/a.ffr`);
      const samples = reader.readSync([...Array(reader.length).keys()])
        .map((bytes) => new TextDecoder().decode(bytes));
      assert.deepEqual(samples, ["still"]);
    });
  });
}

Deno.test("files of several directories are read in the order given", async () => {
  await withTempDir(async (dir) => {
    const paths = ["a/1", "a/2", "b/1", "a/3"].map((path) => `${dir}/${path}`);
    await Deno.mkdir(`${dir}/a`);
    await Deno.mkdir(`${dir}/b`);
    for (const path of paths) await Deno.writeTextFile(path, path);
    using files = new SampleInputFiles();
    assert.deepEqual(paths.map((path) => files.sizeOf(path)), [
      ...paths.map((path) => path.length),
    ]);
    await using writer = await FFRecordWriter.open(`${dir}/a.ffr`);
    let bytes = 0;
    for (const path of paths) {
      await files.write(path, writer, signal, (more) => bytes += more);
    }
    await writer.close();
    assert.equal(bytes, paths.join("").length);
    using reader = FFRecordReader.openSync(`${dir}/a.ffr`);
    const samples = reader.readSync([0, 1, 2, 3])
      .map((bytes) => new TextDecoder().decode(bytes));
    assert.deepEqual(samples, paths);
  });
});
