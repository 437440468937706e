import * as fs from "node:fs";
import { progress, type Row } from "../support/report.ts";
import { run } from "../support/run.ts";
import { type Place, RECORDFS } from "./place.ts";

/** Bytes of a frame, and of a datapoint's larger value. */
const FRAME = 10_000;
/** Frames of a video. */
const FRAMES = 100;

/** A gulp directory and a dataset of bags to and from files, beside `cp -r` of these files. */
export async function convertRows(
  place: Place,
  points: number,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const kind of ["gulp", "bags"] as const) {
    const [from, to] = [`convert ${kind} to files`, `convert files to ${kind}`];
    if (!place.wants(from, to)) continue;
    progress(`copy: making ${points} frames or datapoints as files`);
    const files = place.file(`${kind}-files`);
    const bytes = kind === "gulp"
      ? makeVideos(files, points)
      : makeDatapoints(files, points);
    const packed = place.file(kind);
    const convert = [...RECORDFS, "convert"];
    const made = ["--to", kind];
    await run([...convert, files, packed, ...made]);
    const [ours, theirs] = [place.file("ours"), place.file("theirs")];
    const cp = {
      name: "cp -r",
      command: ["cp", "-r", files, theirs],
      makes: theirs,
      target: 0.8,
    };
    rows.push(
      ...await place.measure({ what: from, bytes, isWaiting: true }, [{
        name: `recordfs convert ${kind}/ files/`,
        command: [...convert, packed, `${ours}/`],
        makes: ours,
      }, cp]),
      ...await place.measure({ what: to, bytes, isWaiting: true }, [{
        name: `recordfs convert files/ ${kind}`,
        command: [...convert, files, ours, ...made],
        makes: ours,
      }, cp]),
    );
  }
  return rows;
}

function makeVideos(folder: string, frames: number): number {
  const jpeg = new Uint8Array(FRAME);
  crypto.getRandomValues(jpeg);
  jpeg.set([0xff, 0xd8, 0xff]);
  for (let i = 0; i < frames; i++) {
    const video = `${folder}/${
      String(Math.floor(i / FRAMES)).padStart(5, "0")
    }`;
    if (i % FRAMES === 0) fs.mkdirSync(video, { recursive: true });
    const number = String(i % FRAMES + 1).padStart(4, "0");
    fs.writeFileSync(`${video}/frame_${number}.jpg`, jpeg);
  }
  return frames * FRAME;
}

function makeDatapoints(folder: string, points: number): number {
  const image = crypto.getRandomValues(new Uint8Array(FRAME));
  for (let i = 0; i < points; i++) {
    const point = `${folder}/${String(i).padStart(6, "0")}`;
    fs.mkdirSync(point, { recursive: true });
    fs.writeFileSync(`${point}/image`, image);
    fs.writeFileSync(`${point}/label`, String(i));
  }
  const spec = { image: "bytes", label: "utf8" };
  fs.writeFileSync(`${folder}/spec.json`, JSON.stringify(spec));
  return points * FRAME;
}
