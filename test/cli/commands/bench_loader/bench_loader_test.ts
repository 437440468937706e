import assert from "node:assert/strict";
import { goldenCase } from "../../../support/golden.ts";
import { gulpCase } from "../../../support/gulp/gulp_golden.ts";
import { range } from "../../../support/list_dataset.ts";
import { writeBag, writeDataset } from "../../../support/bags/make_bag.ts";
import { ffrBytes, packedSamples } from "../../../support/ffrecord/make_ffr.ts";
import { LONG } from "../../../support/long.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import {
  assertFailed,
  CLI,
  recordfs,
  run,
  succeed,
  succeedWithSlowCodec,
} from "../../run_cli.ts";

const { path: samples } = goldenCase("ffrecord/plain_many");

/** A run in the report of `--json`. */
interface Run {
  readonly workers: number;
  readonly batch: number;
  readonly batches: number;
  readonly samples: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly samplesPerSecond: number;
  readonly megabytesPerSecond: number;
  readonly firstBatchSeconds: number;
}

/** Returns the report of `--json`. */
async function bench(
  source: string,
  args: readonly string[],
): Promise<{ unit: string; length: number; runs: Run[] }> {
  const { stdout } = await succeed(["bench-loader", source, "--json", ...args]);
  return JSON.parse(stdout);
}

Deno.test("bench-loader prints a line for each number of workers and batch size", async () => {
  const { stdout } = await succeed(
    ["bench-loader", samples, "--workers", "0,2", "--batch", "16, 64"].concat(
      ["--batches", "5", "--shuffle", "--seed", "3"],
    ),
  );
  const [title, columns, ...rows] = stdout.trimEnd().split("\n");
  assert.equal(title, `${samples}: 1412 samples`);
  assert.match(columns!, /^WORKERS +BATCH +SAMPLES\/S +MB\/S +START$/);
  assert.deepEqual(
    rows.map((row) => row.trim().split(/ +/).slice(0, 2)),
    [["0", "16"], ["0", "64"], ["2", "16"], ["2", "64"]],
  );
  for (const row of rows) {
    assert.equal(row.length, columns!.length);
    assert.match(row, /^ +\d+ +\d+ +[\d.]+ +[\d.]+ +\d+\.\d\d s$/);
  }
});

Deno.test("bench-loader counts the batches after the first, epoch after epoch", async () => {
  await withTempDir(async (dir) => {
    // 10 samples of 1 to 10 bytes: batches of 4, 4 and 2 samples per epoch, with 10, 26 and 19 bytes.
    const file = `${dir}/ten.ffr`;
    const ten = range(1, 11).map((size) => new Uint8Array(size));
    await Deno.writeFile(file, ffrBytes(ten));
    for (const workers of ["0", "1"]) {
      const { unit, length, runs } = await bench(
        file,
        ["--workers", workers, "--batch", "4", "--batches", "7"],
      );
      assert.deepEqual([unit, length, runs.length], ["samples", 10, 1]);
      const [only] = runs;
      const { batches, samples, bytes } = only!;
      assert.deepEqual([only!.workers, only!.batch], [Number(workers), 4]);
      assert.deepEqual([batches, samples], [7, 6 + 10 + 8]);
      assert.equal(bytes, 26 + 19 + 55 + 36);
      assert.ok(only!.firstBatchSeconds > 0 && only!.seconds > 0);
      const { seconds, samplesPerSecond, megabytesPerSecond } = only!;
      assert.equal(samplesPerSecond, samples / seconds);
      assert.equal(megabytesPerSecond, bytes / 1e6 / seconds);
    }
  });
});

Deno.test("bench-loader opens every kind of container as its dataset", async () => {
  await withTempDir(async (dir) => {
    const bytes = (text: string) => new TextEncoder().encode(text);
    const packed = packedSamples({ a: bytes("xy"), b: { c: bytes("z") } });
    await Deno.writeFile(`${dir}/packed.ffr`, ffrBytes(packed));
    await Deno.mkdir(`${dir}/folders`);
    await Deno.copyFile(`${dir}/packed.ffr`, `${dir}/folders/a.ffr`);
    await Deno.copyFile(`${dir}/packed.ffr`, `${dir}/folders/b.ffr`);
    const points = range(0, 6).map(() => ({
      text: bytes("é"),
      raw: bytes("4"),
    }));
    const spec = { raw: "bytes", text: "utf8" };
    writeDataset(`${dir}/set`, spec, points, 3);
    writeDataset(`${dir}/shards/000000`, spec, points, 3);
    writeDataset(`${dir}/shards/000001`, spec, points, 3);
    writeBag(`${dir}/one.bag`, [bytes("abcd"), bytes("efgh")], 1);
    const images = gulpCase("v2_image_list").path;
    const videos = gulpCase("v2_chunks").path;
    const cases: [source: string, unit: string, size: number | undefined][] = [
      [`${dir}/packed.ffr`, "files", 1.5],
      [`${dir}/folders`, "files", 1.5],
      [`${dir}/set`, "datapoints", 3], // the text has two bytes
      [`${dir}/shards`, "datapoints", 3],
      [`${dir}/one.bag`, "samples", 4],
      [images, "videos", undefined],
      [videos, "videos", undefined],
      [`${videos}/data_0.gulp`, "videos", undefined],
    ];
    for (const [source, unit, size] of cases) {
      const workers = LONG ? "0,1" : "1"; // a worker opens the container again
      const args = ["--workers", workers, "--batch", "100", "--batches", "2"];
      const found = await bench(source, args);
      assert.equal(found.unit, unit, source);
      for (const { samples, bytes } of found.runs) {
        assert.equal(samples, 2 * found.length, source);
        if (size !== undefined) assert.equal(bytes, samples * size, source);
        else assert.ok(bytes > 100 * samples, source);
      }
    }
  });
});

Deno.test("bench-loader names the image codec, if there are images", async () => {
  const { path } = gulpCase("v2_image_list");
  const args = ["--batches", "1", "--workers", "0"];
  for (
    const [source, permissions, codec] of [
      [path, ["--allow-read", "--allow-env", "--allow-ffi"], "turbojpeg"],
      [path, ["--allow-read"], "imagescript"],
      [samples, ["--allow-read"], undefined],
    ] as const
  ) {
    const line = ["bench-loader", source, ...args];
    const options = { permissions: [...permissions] };
    const start = codec === "imagescript" ? succeedWithSlowCodec : succeed;
    const { stdout } = await start(line, options);
    const by = codec === undefined ? "" : `, images decoded by ${codec}`;
    assert.match(stdout, new RegExp(`: \\d+ \\w+${by}\\n`));
    if (!LONG && codec === "imagescript") continue; // the other two cases are enough
    const json = await start([...line, "--json"], options);
    assert.equal(JSON.parse(json.stdout).codec, codec);
  }
});

Deno.test("bench-loader --frames decodes that many frames of each video", async () => {
  const { path } = gulpCase("v2_chunks");
  const perVideo = async (frames: number) => {
    const { runs } = await bench(
      path,
      ["--workers", "0", "--batches", "1", "--frames", String(frames)],
    );
    return runs[0]!.bytes / runs[0]!.samples;
  };
  assert.equal(await perVideo(4), 4 * await perVideo(1));
});

Deno.test("bench-loader compares checksums by default", async () => {
  await withTempDir(async (dir) => {
    const bytes = ffrBytes(range(0, 8).map((i) => new Uint8Array(9).fill(i)));
    bytes[bytes.length - 1]! ^= 1;
    const file = `${dir}/damaged.ffr`;
    await Deno.writeFile(file, bytes);
    const args = ["bench-loader", file, "--batches", "1", "--batch", "8"];
    for (const workers of ["0", "1"]) {
      const these = [...args, "--workers", workers];
      const ran = await recordfs(these);
      assert.equal(ran.code, 1);
      assert.match(ran.stderr, /^recordfs: .*sample 7.*damaged\.ffr.*\n$/);
      await succeed([...these, "--no-verify"]);
    }
  });
});

Deno.test("bench-loader needs only --allow-read", async () => {
  const permissions = ["--allow-read"];
  const args = ["--batches", "1", "--workers", "0,1"];
  await succeed(["bench-loader", samples, ...args], { permissions });
  const { path } = gulpCase("v2_image_list");
  const images = ["bench-loader", path, ...args];
  await succeedWithSlowCodec(images, { permissions });
});

Deno.test("bench-loader reports errors", async () => {
  const empty = goldenCase("ffrecord/plain_zero").path;
  const cases: [args: string[], code: number, words: RegExp][] = [
    [
      [samples, "--workers", "0,x"],
      2,
      /list such as 0,1: whole numbers from 0/,
    ],
    [[samples, "--workers", ""], 2, /list such as 0,1/],
    [[samples, "--workers", "1.5"], 2, /list such as 0,1/],
    [[samples, "--workers", "0,1e1"], 2, /list such as 0,1/],
    [[samples, "--workers", "0,257"], 2, /from 0 to 256/],
    [[samples, "--batch", "0"], 2, /list such as 1,2: whole numbers from 1/],
    [[samples, "--seconds", "0"], 2, /whole number from 1 on/],
    [
      [samples, "--seconds", "1", "--batches", "1"],
      2,
      /--seconds and --batches exclude each other/,
    ],
    [[samples, "--seed", "1"], 2, /--seed needs --shuffle/],
    [[samples, "--frames", "2"], 2, /--frames is for gulp directories/],
    [[empty], 1, /Cannot load .*: it has no samples/],
    [["/nowhere.ffr"], 1, /nowhere\.ffr/],
    [["", "--batches", "1"], 2, /path of the container is empty/],
  ];
  for (const [args, code, words] of cases) {
    assertFailed(await recordfs(["bench-loader", ...args]), code, words);
  }
});

Deno.test("Ctrl-C ends bench-loader and its threads", async () => {
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", CLI, "bench-loader", samples].concat(
      ["--workers", "0,2", "--seconds", "1", "--batch", "4"],
    ),
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [first, rest] = process.stdout.tee();
  let text = "";
  for await (const part of first.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.split("\n").length > 3) break; // the title, the columns and the first row
  }
  process.kill("SIGINT");
  await rest.cancel();
  const { code } = await process.status;
  assert.equal(code, 130);
  assert.equal(await new Response(process.stderr).text(), "");
});

Deno.test({
  name: "bench-loader shows progress on a terminal (needs script)",
  ...needs("script"),
  async fn() {
    const command = `'${Deno.execPath()}' run -A '${CLI}' bench-loader ` +
      `'${samples}' --workers 0 --seconds 1`;
    const ran = await run(["script", "-qec", command, "/dev/null"]);
    assert.equal(ran.code, 0);
    assert.match(ran.stdout, /0 workers, batch 64 .*samples .*[kM]?B\/s/s);
  },
});
