import { crc32c } from "@node-rs/crc32";
import assert from "node:assert/strict";
import { MDSWriter } from "../../../src/formats/mds/mod.ts";
import { writeBag } from "../../support/bags/make_bag.ts";
import { fileOf } from "../../support/tfrecord/make_tfrecord.ts";
import { type GoldenCase, goldenCase } from "../../support/golden.ts";
import { tarCase } from "../../support/tar/tar_golden.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { assertFailed, CLI, recordfs, runBash, succeed } from "../run_cli.ts";

/** Returns the expected records, from the original library's own tables. */
function expectedRecords({ content }: GoldenCase): Record<string, unknown>[] {
  const several = content.files.length > 1;
  let first = 0;
  return content.files.flatMap(({ name, n, checksums, offsets }) => {
    const start = first;
    first += n;
    return checksums.map((crc32, i) => ({
      index: start + i,
      ...several ? { file: name } : {},
      offset: offsets[i],
      size: content.samples[start + i]!.size,
      crc32,
    }));
  });
}

function jsonLines(stdout: string): Record<string, unknown>[] {
  assert.match(stdout, /^(\{.*\}\n)*$/);
  return stdout.split("\n").slice(0, -1).map((line) => JSON.parse(line));
}

for (
  const name of [
    "plain_sizes",
    "plain_zero",
    "gap_before_samples",
    "parts_dump",
    "parts_name_order",
  ]
) {
  Deno.test(`records lists the tables of ${name}`, async () => {
    const golden = goldenCase(`ffrecord/${name}`);
    const expected = expectedRecords(golden);
    const json = await succeed(["records", "--json", golden.path]);
    assert.deepEqual(jsonLines(json.stdout), expected);
    const { stdout } = await succeed(["records", golden.path]);
    const [title, ...lines] = stdout.split("\n").slice(0, -1);
    const several = golden.content.files.length > 1;
    assert.deepEqual(title!.trim().split(/ +/), [
      ...["INDEX", "OFFSET", "SIZE", "CRC-32"],
      ...several ? ["FILE"] : [],
    ]);
    const rows = lines.map((line) => {
      const [, index, offset, size, crc, file] = line.match(
        /^ *(\d+) +(\d+) +(\d+) {2}([0-9a-f]{8})(?: {2}(.+))?$/,
      )!;
      return {
        index: Number(index),
        ...file === undefined ? {} : { file },
        offset: Number(offset),
        size: Number(size),
        crc32: parseInt(crc!, 16),
      };
    });
    assert.deepEqual(rows, expected);
  });
}

Deno.test("the columns of records are aligned", async () => {
  const { path } = goldenCase("ffrecord/plain_many");
  const { stdout } = await succeed(["records", path]);
  const [title, ...lines] = stdout.split("\n").slice(0, -1);
  const crcStarts = lines.map((line) => line.lastIndexOf(" ") + 1);
  assert.deepEqual([...new Set(crcStarts)], [title!.indexOf("CRC-32")]);
});

Deno.test("samples of a directory with one file name the file, too", async () => {
  await withTempDir(async (dir) => {
    const bytes = ffrBytes([new Uint8Array([1, 2, 3])]);
    await Deno.writeFile(`${dir}/a.ffr`, bytes);
    const { stdout } = await succeed(["records", "--json", dir]);
    assert.deepEqual(jsonLines(stdout), [
      { index: 0, file: "a.ffr", offset: 24, size: 3, crc32: 0x55bc801d },
    ]);
  });
});

for (
  const name of [
    "bad_offset_beyond_end",
    "bad_offset_huge",
    "bad_offset_negative",
    "bad_truncated_middle",
  ]
) {
  Deno.test(`records continues after the damage in ${name}`, async () => {
    const golden = goldenCase(`ffrecord/${name}`);
    const { content, path } = golden;
    const json = await recordfs(["records", "--json", path]);
    assert.equal(json.code, 1);
    const lines = jsonLines(json.stdout);
    assert.deepEqual(lines.map(({ index }) => index), [...lines.keys()]);
    const bad = content.samples.flatMap(({ index, error }) =>
      error ? [index] : []
    );
    const told = lines.filter(({ size }) => size === null);
    assert.deepEqual(told.map(({ index }) => index), bad);
    for (const { index, damage } of told) {
      assert.match(String(damage), new RegExp(`sample ${index}\\b`));
      assert.match(
        json.stderr,
        new RegExp(`^recordfs: .*sample ${index}\\b`, "m"),
      );
    }
    const text = await recordfs(["records", path]);
    assert.equal(text.code, 1);
    assert.equal(
      text.stdout.match(/ \? {2}[0-9a-f]{8}$/gm)!.length,
      bad.length,
    );
    assert.match(
      text.stderr,
      new RegExp(`: ${bad.length} of ${lines.length} samples cannot be read`),
    );
  });
}

Deno.test("records lists what a damaged header still contains", async () => {
  await withTempDir(async (dir) => {
    const bytes = ffrBytes([new Uint8Array(3), new Uint8Array(4)]);
    bytes[12]! ^= 1; // the checksum of the first sample
    await Deno.writeFile(`${dir}/a.ffr`, bytes);
    const ran = await recordfs(["records", "--json", `${dir}/a.ffr`]);
    assertFailed(ran, 1, /checksum mismatch in metadata/);
    assert.deepEqual(
      jsonLines(ran.stdout).map(({ size }) => size),
      [3, 4],
    );
  });
});

Deno.test("records names every damaged file of a directory", async () => {
  await withTempDir(async (dir) => {
    for (const name of ["a", "b", "c"]) {
      const bytes = ffrBytes([new Uint8Array(5)]);
      if (name !== "b") bytes[0]! ^= 1; // the metadata checksum
      await Deno.writeFile(`${dir}/${name}.ffr`, bytes);
    }
    const { code, stdout, stderr } = await recordfs(["records", dir]);
    assert.deepEqual([code, stdout.split("\n").length], [1, 5]);
    assert.deepEqual(
      stderr.match(/\w\.ffr: checksum mismatch in metadata/g)
        ?.map((text) => text[0]),
      ["a", "c"],
    );
  });
});

Deno.test("records reports why there is nothing to list", async () => {
  const cut = goldenCase("ffrecord/bad_truncated_tables");
  assertFailed(await recordfs(["records", cut.path]), 1, /truncated header/);
  assertFailed(await recordfs(["records", "/nowhere.ffr"]), 1, /no such file/);
  assertFailed(await recordfs(["records", ""]), 2, /is empty/);
  const tar = tarCase("python_gnu").path;
  const says =
    /python_gnu.*those of the format tar are not stored in one piece each/;
  assertFailed(await recordfs(["records", tar]), 1, says);
});

Deno.test({
  name: "records stops when its reader stops (needs bash)",
  ...needs("bash"),
  async fn() {
    await withTempDir(async (dir) => {
      const samples = Array<Uint8Array>(200_000).fill(new Uint8Array(0));
      await Deno.writeFile(`${dir}/a.ffr`, ffrBytes(samples));
      const script = `"$0" run -A "$1" records "$2" | head -n 2
        exit \${PIPESTATUS[0]}`;
      const ran = await runBash(
        script,
        [Deno.execPath(), CLI, `${dir}/a.ffr`],
      );
      assert.deepEqual([ran.code, ran.stderr], [141, ""]);
      assert.match(ran.stdout, /^ *INDEX.*\n *0 .*\n$/);
    });
  },
});

Deno.test("records lists TFRecord, single bags and MDS by the offsets of their samples", () =>
  withTempDir(async (dir) => {
    const texts = ["one", "", "three"].map((text) =>
      new TextEncoder().encode(text)
    );
    await Deno.writeFile(`${dir}/a.tfrecord`, fileOf(texts));
    writeBag(`${dir}/a.bag`, texts, 3);
    await using writer = await MDSWriter.open(`${dir}/mds`, {
      columns: { text: "bytes" },
    });
    for (const text of texts) await writer.write({ text });
    await writer.close();
    for (const name of ["a.tfrecord", "a.bag", "mds"]) {
      const { stdout } = await succeed(["records", "--json", `${dir}/${name}`]);
      const listed = jsonLines(stdout);
      const path = name === "mds" ? "mds/shard.00000.mds" : name;
      const file = await Deno.readFile(`${dir}/${path}`);
      const head = name === "mds" ? 4 : 0; // the size of the only value
      const found = listed.map(({ index, offset, size }) => {
        const start = Number(offset) + head;
        return [index, file.slice(start, Number(offset) + Number(size))];
      });
      assert.deepEqual(found, texts.map((text, i) => [i, text]), name);
      for (const [i, { crc32c: listedSum }] of listed.entries()) {
        const expected = name === "a.tfrecord" ? crc32c(texts[i]!) : undefined;
        assert.equal(listedSum, expected);
      }
      const table = await succeed(["records", `${dir}/${name}`]);
      assert.equal(table.stdout.split("\n").length, texts.length + 2);
    }
  }));
