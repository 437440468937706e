// deno-lint-ignore-file no-console -- a program for the terminal
/**
 * Demonstrates recordfs with a small sample of every format, made in a temporary directory: packs and writes it, opens
 * it, lists it, mounts it, reads it by ordinary programs through the mount, compares, and unmounts.
 */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { FFRecordWriter, PackedFolder } from "../src/formats/ffrecord/mod.ts";
import { GulpDirectory } from "../src/formats/gulp/mod.ts";
import { imageCodec } from "../src/codecs/image/mod.ts";
import { open } from "../mod.ts";
import { packFolder } from "../src/formats/ffrecord/pack/pack_folder.ts";
import { serve } from "../src/serve/mod.ts";
import { PYTHON, succeeds } from "./support/programs/programs.ts";
import {
  ShardedDatasetReader,
  ShardedDatasetWriter,
} from "../src/formats/bags/mod.ts";
import { DataLoader, PackedFolderDataset } from "../src/open/data/mod.ts";
import { makeImages, PHOTOS, writeFolder } from "./support/demo_data.ts";
import { REPOSITORY } from "./support/paths.ts";
import { FileServer } from "./support/remote/file_server.ts";

const text = (value: string) => new TextEncoder().encode(value);

/** Whether the demo was interrupted: it then ends before its next step, and cleans up. */
let isStopped = false;
const stop = () => isStopped = true;
const SIGNALS = ["SIGINT", "SIGTERM"] as const;
for (const signal of SIGNALS) Deno.addSignalListener(signal, stop);

const dir = fs.mkdtempSync(`${tmpdir()}/recordfs-demo-`);
try {
  await demo();
} catch (error) {
  if (!isStopped) throw error;
  console.log("\nStopped: nothing is mounted, and no file is left.");
  Deno.exitCode = 130;
} finally {
  fs.rmSync(dir, { recursive: true });
  for (const signal of SIGNALS) Deno.removeSignalListener(signal, stop);
}

async function demo(): Promise<void> {
  await imageCodec(); // now, since Deno announces a package on its first import
  console.log(`recordfs demo, in ${dir}`);
  fs.mkdirSync(`${dir}/mnt`);
  writeFolder(`${dir}/photos`, PHOTOS);

  say(
    "A directory, packed into one file (packFolder), and samples written one by one (FFRecordWriter):",
  );
  const packed = await packFolder(`${dir}/photos`, `${dir}/photos.ffr`);
  console.log(
    `  photos.ffr: ${packed.files} files, ${packed.directories} directories, ${packed.bytes} bytes`,
  );
  await using writer = await FFRecordWriter.open(`${dir}/samples.ffr`);
  for (let i = 0; i < 5; i++) await writer.write(text(`sample ${i}\n`));
  await writer.close();
  console.log(`  samples.ffr: ${writer.length} samples`);

  say("The packed directory, opened by its own API (PackedFolder):");
  using folder = await PackedFolder.open(`${dir}/photos.ffr`);
  console.log(
    `  ${folder.numFiles} files; list() -> ${folder.list().join(", ")}`,
  );
  const [first] = await folder.read(["cats/cat_000.jpg"]);
  assert.deepEqual(first, original("cats/cat_000.jpg"));

  say("The same from the command line:");
  await recordfs("pack", "photos", "parts", "--parts", "3");
  await recordfs("tree", "photos.ffr");
  await recordfs("records", "samples.ffr");
  await recordfs("ls", "-l", "samples.ffr");
  await recordfs("cat", "photos.ffr", "dogs/dog.json");
  await recordfs("check", "photos.ffr");

  await served();

  say("Mounted, so that every program can read it:");
  const problem = await tryToMount();
  if (problem !== undefined) return console.log(`\n${problem}`);
  await untilUnmounted(async () => {
    await sh("ls -l mnt");
    await sh("find mnt -type f | wc -l");
    await sh("cat mnt/README.txt");
    await sh(
      "cp -r mnt copy && diff -r photos copy && diff -r photos mnt && echo 'copied and compared: equal'",
    );
  });
  await mounted(["--ext", "txt", "samples.ffr"], () => sh("head mnt/*"));
  await fromServer();
  await gulpedVideos();
  await shardedDataset();
  await training();
  assert.deepEqual(fs.readdirSync(`${dir}/mnt`), []);
  say(
    "Done: a directory was packed, samples and a dataset were written, videos were gulped, batches loaded;",
  );
  console.log(
    "all were listed, mounted, read by ordinary programs, compared, and unmounted.",
  );
}

/** Serves a container over HTTP, and fetches a file as a program on another machine would. */
async function served(): Promise<void> {
  say("Served over HTTP, for browsers and machines that can't mount (serve):");
  using container = await open(`${dir}/photos.ffr`);
  await using server = serve(container);
  const url = `${server.url}files/dogs/dog.json`;
  fs.writeFileSync(`${dir}/token`, `Authorization: Bearer ${server.token}\n`);
  if (succeeds("curl", "--version")) {
    await sh(`curl -sS --fail -H @token ${url}`);
  }
  const headers = { authorization: `Bearer ${server.token}` };
  const [member, listing] = await Promise.all([
    fetch(url, { headers }),
    fetch(`${server.url}files/cats/?json`, { headers }),
  ]);
  assert.deepEqual(await member.bytes(), original("dogs/dog.json"));
  assert.equal((await listing.json()).length, 40);
  const refused = await fetch(url);
  assert.equal(refused.status, 401);
  await refused.body?.cancel();
  console.log("  equal, and given to nobody who has no token");
}

/** Mounts a container of a web server, and shows that the cache has what was read. */
async function fromServer(): Promise<void> {
  say("The packed directory on a web server, mounted from there:");
  await using server = await FileServer.start(dir);
  const cache = ["--cache-dir", "cache"];
  await mounted(
    [...cache, `${server.url}/photos.ffr`],
    () => sh("diff -r photos mnt && echo 'fetched and compared: equal'"),
  );
  await recordfs("cache", "ls", ...cache);
  await recordfs("cat", `${server.url}/photos.ffr`, "dogs/dog.json", ...cache);
  const last = server.asked.at(-1)!.headers;
  assert.ok("if-none-match" in last);
  console.log("  the server was asked once more, whether it is still the same");
}

/** Loads batches, resumes in a second loader, and shows the same order to other programs. */
async function training(): Promise<void> {
  say(
    "Batches for training (DataLoader), in the order of an epoch, by two threads:",
  );
  using dataset = await PackedFolderDataset.open(`${dir}/photos.ffr`, {
    files: "cats/*.jpg",
  });
  const options = { batchSize: 16, shuffle: true, seed: 1 };
  await using loader = new DataLoader(dataset, { ...options, numWorkers: 2 });
  const epoch: string[] = [];
  let checkpoint = "";
  for await (const { path } of loader) {
    console.log(`  ${path.length} files: ${path.slice(0, 3).join(", ")}, …`);
    epoch.push(...path);
    if (loader.step === 1) checkpoint = JSON.stringify(loader.save());
  }
  assert.equal(new Set(epoch).size, 40);
  await using other = new DataLoader(dataset, options);
  other.load(JSON.parse(checkpoint));
  const rest: string[] = [];
  for await (const { path } of other) rest.push(...path);
  assert.deepEqual(rest, epoch.slice(16));
  console.log("  another loader went on after the first batch: the same files");
  await mounted(["--shuffle", "1", "photos.ffr"], async () => {
    await sh("ls -l mnt/epoch-0000 | head -4");
    await sh("cat mnt/epoch-0000/* | wc -c");
  });
}

/** Gulps videos, or images if there is no ffmpeg, and shows them mounted. */
async function gulpedVideos(): Promise<void> {
  const hasFfmpeg = succeeds("ffmpeg", "-version");
  const [kind, folder] = hasFfmpeg
    ? ["video-folder", "videos"]
    : ["image-folder", "images"];
  say(
    hasFfmpeg
      ? "Videos gulped (GulpIO), and mounted as directories of frames:"
      : "Images gulped (GulpIO; videos need ffmpeg), and mounted:",
  );
  for (const label of ["bouncing", "turning"]) {
    fs.mkdirSync(`${dir}/${folder}/${label}`, { recursive: true });
    if (hasFfmpeg) await makeClip(`${dir}/videos/${label}/clip.mp4`, label);
    else await makeImages(`${dir}/images/${label}`);
  }
  await recordfs("gulp", kind, "--frame-size", "64", folder, "gulps");
  await recordfs("info", "gulps");
  await mounted(["gulps"], async () => {
    await sh("ls -l mnt");
    const video = fs.readdirSync(`${dir}/mnt`).find((name) =>
      name !== "label2idx.json"
    );
    await sh(`ls mnt/${video} && cat mnt/${video}/meta.json && echo`);
    if (hasFfmpeg) {
      await sh(
        `ffmpeg -v error -i mnt/${video}/frame_%04d.jpg -c:v copy again.avi`,
      );
      await sh(
        "ffprobe -v error -count_frames -of default=nw=1 " +
          "-show_entries stream=width,height,nb_read_frames again.avi",
      );
    }
  });
  using directory = await GulpDirectory.open(`${dir}/gulps`);
  for (const [id] of directory.mergedMetaDict) {
    const { frames, meta } = await directory.get(id);
    const { height, width } = frames[0]!;
    console.log(
      `  get("${id}") -> ${frames.length} frames of ${width} × ${height}, ` +
        `label ${meta.label}`,
    );
  }
}

/** Writes datapoints into shards, and shows them mounted, with readable views next to the values. */
async function shardedDataset(): Promise<void> {
  say("Datapoints of several kinds, in shards (Bags/Granular), and mounted:");
  const spec = { caption: "utf8", count: "int", pixels: "array", tags: "tree" };
  await using writer = await ShardedDatasetWriter.open(`${dir}/points`, spec, {
    shardLength: 4,
  });
  for (let i = 0; i < 10; i++) {
    await writer.write({
      caption: `datapoint ${i}\n`,
      count: i * 1000,
      pixels: {
        dtype: "<f4",
        shape: [2, 3],
        data: new Float32Array(6).fill(i),
      },
      tags: { even: i % 2 === 0, near: [i - 1, i + 1] },
    });
  }
  await writer.close();
  await recordfs("info", "points");
  await recordfs("check", "--values", "points");
  await mounted(["--decoded", "points"], async () => {
    await sh("ls mnt mnt/000002/000001");
    await sh("cat mnt/000002/000001/caption mnt/000002/000001/tags.json");
    if (succeeds(PYTHON, "-c", "import numpy")) {
      await sh(
        "python3 -c \"import numpy; print(numpy.load('mnt/000002/000001/pixels.npy').sum())\"",
      );
    }
  });
  using reader = await ShardedDatasetReader.open(`${dir}/points`);
  const { caption, count, tags } = await reader.get(9);
  assert.deepEqual(
    { caption, count, tags },
    {
      caption: "datapoint 9\n",
      count: 9000,
      tags: { even: false, near: [8, 10] },
    },
  );
  console.log(`  get(9).tags -> ${JSON.stringify(tags)}`);
}

async function makeClip(path: string, label: string): Promise<void> {
  const source = label === "turning" ? "mandelbrot" : "testsrc2";
  await run(
    ...["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi"] as const,
    ...["-i", `${source}=size=128x96:rate=25`, "-frames:v", "30"],
    ...["-pix_fmt", "yuv420p", "-c:v", "mpeg4", path],
  );
}

/** Runs `work` while a container is mounted. */
async function mounted(
  source: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  await untilUnmounted(async () => {
    await recordfs("mount", ...source, "mnt");
    await work();
  });
}

/** Runs `work`, and unmounts whether it succeeds or fails. */
async function untilUnmounted(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } finally {
    await unmount();
  }
}

async function unmount(): Promise<void> {
  while (isMounted()) {
    try {
      await start(...commandLine("unmount", "mnt"));
    } catch (error) {
      if (!isStopped) throw error; // Ctrl-C also interrupts the unmount command
    }
  }
}

function isMounted(): boolean {
  return fs.statSync(`${dir}/mnt`).dev !== fs.statSync(dir).dev;
}

/** Mounts the folder, or returns why this machine cannot. */
async function tryToMount(): Promise<string | undefined> {
  if (!fs.existsSync("/dev/fuse")) {
    return "Not shown: /dev/fuse is not here (in a container: --device /dev/fuse --cap-add SYS_ADMIN).";
  }
  try {
    await recordfs("mount", "photos.ffr", "mnt");
    return undefined;
  } catch (error) {
    if (Deno.uid() === 0) throw error;
    return "Not shown, for the reason above: as an ordinary user, install fuse3 (deno task setup).";
  }
}

function original(path: string): Uint8Array {
  return new Uint8Array(fs.readFileSync(`${dir}/photos/${path}`));
}

function say(what: string): void {
  console.log(`\n${what}`);
}

async function recordfs(...args: string[]): Promise<void> {
  await run(...commandLine(...args));
}

/** Prints a command line of recordfs, and returns how to run it here. */
function commandLine(...args: string[]): [string, ...string[]] {
  console.log(`  $ recordfs ${args.join(" ")}`);
  return [Deno.execPath(), "run", "-A", `${REPOSITORY}cli.ts`, ...args];
}

async function sh(command: string): Promise<void> {
  console.log(`  $ ${command}`);
  await run("sh", "-c", command);
}

/** Runs the next step, unless the demo was interrupted. */
async function run(program: string, ...args: string[]): Promise<void> {
  if (isStopped) throw new Error("stopped");
  await start(program, ...args);
}

async function start(program: string, ...args: string[]): Promise<void> {
  const command = new Deno.Command(program, {
    args,
    cwd: dir,
    // Although all packages are cached, Deno announces the first request for each.
    env: {
      DENO_LOG: "warn",
      PATH: `${dirname(PYTHON)}:${Deno.env.get("PATH")}`,
    },
    stderr: "inherit",
  });
  const { code, success, stdout } = await command.output();
  const lines = new TextDecoder().decode(stdout).trimEnd().split("\n");
  const shown = lines.length > 12
    ? [...lines.slice(0, 6), "…", ...lines.slice(-3)]
    : lines;
  for (const line of shown.filter(Boolean)) console.log(`    ${line}`);
  if (code === 130) stop(); // the program received Ctrl-C first
  if (!success) throw new Error(`${program} ${args.join(" ")} failed`);
}
