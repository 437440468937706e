import * as fs from "node:fs";
import { progress, type Row } from "../support/report.ts";
import { run } from "../support/run.ts";
import type { FileSet } from "./copy.ts";
import { type Contender, type Place, RECORDFS } from "./place.ts";

/** Bytes of a large file generated at a time. */
const PIECE = 1 << 20;

/** Packs and extracts, compared with `tar c` and `tar x`. */
export async function packRows(place: Place, set: FileSet): Promise<Row[]> {
  const folder = place.file("in");
  progress(`copy: making ${set.name}`);
  makeFiles(folder, set);
  const [ffr, tar] = [place.file("a.ffr"), place.file("a.tar")];
  await run([...RECORDFS, "pack", folder, ffr]);
  await run(["tar", "cf", tar, "-C", folder, "."]);
  const bytes = set.count * set.bytes;
  const { targets } = set;
  const sides = (
    act: "pack" | "extract",
    sync: string,
    target: number,
  ): Contender[] => {
    const durably = ["--sync", sync];
    return act === "pack"
      ? [{
        name: "recordfs pack",
        command: (
          made,
        ) => [...RECORDFS, "pack", folder, `${made}.ffr`, ...durably],
      }, {
        name: "tar c",
        command: (made) => ["tar", "cf", `${made}.tar`, "-C", folder, "."],
        target,
      }]
      : [{
        name: "recordfs extract",
        command: (made) => [...RECORDFS, "extract", ffr, made, ...durably],
      }, {
        name: "tar x",
        command: (made) => ["tar", "xf", tar, `--one-top-level=${made}`],
        target,
      }];
  };
  const rows: Row[] = [];
  for (const act of ["pack", "extract"] as const) {
    for (const isCold of [false, true]) {
      const what = `${act} ${set.name}${isCold ? ", cold" : ""}`;
      const makesMany = act === "extract" && set.count > 1;
      const common = { bytes, isCold, makesMany };
      rows.push(
        ...await place.measure(
          { ...common, what: `${what}, waiting`, isWaiting: true },
          sides(act, "end", targets[act]),
        ),
        ...await place.measure(
          { ...common, what: `${what}, not waiting` },
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
      head.setFloat64(0, i * bytes + done); // makes each block unique
      fs.writeSync(fd, content, 0, Math.min(content.length, bytes - done));
    }
    fs.closeSync(fd);
  }
}
