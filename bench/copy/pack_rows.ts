import * as fs from "node:fs";
import { progress, type Row } from "../support/report.ts";
import { run } from "../support/run.ts";
import type { FileSet } from "./copy.ts";
import { type Contender, type Place, RECORDFS } from "./place.ts";

/** Bytes of a large file that are made at a time. */
const PIECE = 1 << 20;

/** Packing and extracting, beside `tar c` and `tar x`. */
export async function packRows(place: Place, set: FileSet): Promise<Row[]> {
  const folder = place.file("in");
  progress(`copy: making ${set.name}`);
  makeFiles(folder, set);
  const [ffr, tar] = [place.file("a.ffr"), place.file("a.tar")];
  await run([...RECORDFS, "pack", folder, ffr]);
  await run(["tar", "cf", tar, "-C", folder, "."]);
  const bytes = set.count * set.bytes;
  const { targets } = set;
  const out = place.file("out");
  const [newFfr, newTar] = [`${out}.ffr`, `${out}.tar`];
  fs.mkdirSync(out);
  const sides = (
    act: "pack" | "extract",
    sync: string,
    target: number,
  ): Contender[] =>
    act === "pack"
      ? [{
        name: "recordfs pack",
        command: [...RECORDFS, "pack", folder, newFfr, "--sync", sync],
        makes: newFfr,
      }, {
        name: "tar c",
        command: ["tar", "cf", newTar, "-C", folder, "."],
        makes: newTar,
        target,
      }]
      : [{
        name: "recordfs extract",
        command: [...RECORDFS, "extract", ffr, `${out}/a`, "--sync", sync],
        makes: `${out}/a`,
      }, {
        name: "tar x",
        command: ["tar", "xf", tar, "-C", out, "--one-top-level=b"],
        makes: `${out}/b`,
        target,
      }];
  const rows: Row[] = [];
  for (const act of ["pack", "extract"] as const) {
    for (const isCold of [false, true]) {
      const what = `${act} ${set.name}${isCold ? ", cold" : ""}`;
      rows.push(
        ...await place.measure(
          { what: `${what}, waiting`, bytes, isWaiting: true, isCold },
          sides(act, "end", targets[act]),
        ),
        ...await place.measure(
          { what: `${what}, not waiting`, bytes, isCold },
          sides(act, "none", targets.notWaiting),
        ),
      );
    }
  }
  return rows;
}

function makeFiles(
  folder: string,
  { count, bytes, directories }: FileSet,
): void {
  const content = new Uint8Array(Math.min(bytes, PIECE));
  for (let at = 0; at < content.length; at += 1 << 16) {
    crypto.getRandomValues(content.subarray(at, at + (1 << 16)));
  }
  const head = new DataView(content.buffer);
  for (let i = 0; i < count; i++) {
    const sub = Math.floor(i * directories / count);
    const path = `${folder}/${String(sub).padStart(3, "0")}`;
    fs.mkdirSync(path, { recursive: true });
    const fd = fs.openSync(`${path}/${String(i).padStart(8, "0")}`, "w");
    for (let done = 0; done < bytes; done += content.length) {
      head.setFloat64(0, i * bytes + done); // no two are equal
      fs.writeSync(fd, content, 0, Math.min(content.length, bytes - done));
    }
    fs.closeSync(fd);
  }
}
