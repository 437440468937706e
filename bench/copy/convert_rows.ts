import * as fs from "node:fs";
import { progress, type Row } from "../support/report.ts";
import { run } from "../support/run.ts";
import { type Place, RECORDFS } from "./place.ts";
import { randomBytes } from "../support/random_bytes.ts";

/** Bytes of a frame, typical of 341 × 256 pixels, and of a datapoint's larger value, typical of a 640 × 480 image. */
const FRAME = 25_000;
const IMAGE = 100_000;
/** Start of a JPEG up to the sizes in its frame header (ITU-T T.81, B.2.2): 240 rows of 320 pixels, grey. */
const JPEG_HEAD = [
  ...[0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 240, 1, 64, 1, 1, 0x11, 0],
  ...[0xff, 0xda],
];
/** Frames of a video. */
const FRAMES = 100;

/** Converts a gulp directory and a dataset of bags to and from files, compared with `cp -r` of these files. */
export async function convertRows(
  place: Place,
  megabytes: number,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const kind of ["gulp", "bags"] as const) {
    const [from, to] = [`convert ${kind} to files`, `convert files to ${kind}`];
    if (!place.wants(from, to)) continue;
    progress(`copy: making ${megabytes} MB of ${kind} as files`);
    const files = place.file(`${kind}-files`);
    const bytes = megabytes * 1e6;
    if (kind === "gulp") makeVideos(files, bytes / FRAME);
    else makeDatapoints(files, bytes / IMAGE);
    const packed = place.file(kind);
    const convert = [...RECORDFS, "convert"];
    const as = ["--to", kind];
    await run([...convert, files, packed, ...as]);
    const cp = {
      name: "cp -r",
      command: (made: string) => ["cp", "-r", files, made],
      target: 0.8,
    };
    rows.push(
      ...await place.measure({
        what: from,
        bytes,
        makesMany: true,
        isWaiting: true,
      }, [{
        name: `recordfs convert ${kind}/ files/`,
        command: (made) => [...convert, packed, `${made}/`],
      }, cp]),
      ...await place.measure({
        what: to,
        bytes,
        makesMany: true,
        isWaiting: true,
      }, [{
        name: `recordfs convert files/ ${kind}`,
        command: (made) => [...convert, files, made, ...as],
      }, cp]),
    );
  }
  return rows;
}

function makeVideos(folder: string, frames: number): void {
  const jpeg = randomBytes(FRAME)
    .map((byte) => Math.min(byte, 0xfe)); // avoids marker bytes
  jpeg.set(JPEG_HEAD);
  jpeg.set([0xff, 0xd9], FRAME - 2);
  for (let i = 0; i < frames; i++) {
    const video = `${folder}/${
      String(Math.floor(i / FRAMES)).padStart(5, "0")
    }`;
    if (i % FRAMES === 0) fs.mkdirSync(video, { recursive: true });
    const number = String(i % FRAMES + 1).padStart(4, "0");
    fs.writeFileSync(`${video}/frame_${number}.jpg`, jpeg);
  }
}

function makeDatapoints(folder: string, points: number): void {
  const image = randomBytes(IMAGE);
  for (let i = 0; i < points; i++) {
    const point = `${folder}/${String(i).padStart(6, "0")}`;
    fs.mkdirSync(point, { recursive: true });
    fs.writeFileSync(`${point}/image`, image);
    fs.writeFileSync(`${point}/label`, String(i));
  }
  const spec = { image: "bytes", label: "utf8" };
  fs.writeFileSync(`${folder}/spec.json`, JSON.stringify(spec));
}
