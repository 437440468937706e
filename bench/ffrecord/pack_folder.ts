/**
 * Packs a folder of small and one of larger files, compared with a bare loop that lists, reads, takes the CRC and
 * writes.
 *
 *   deno run -A bench/ffrecord/pack_folder.ts [--small N] [--large N] [--rounds N] [--dir FOLDER] [--json]
 *
 * @module
 */
import * as fs from "node:fs";
import { crc32 } from "node:zlib";
import { packFolder } from "../../src/formats/ffrecord/mod.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { alternate } from "../support/rounds.ts";
import { rowsBesideLast } from "./rows_beside.ts";
import { Workspace } from "../support/workspace.ts";

const FILES_A_DIRECTORY = 1000;
const PARTS = 4;

/** Packs `dir` into a file `out` and flushes it to disk. */
type Pack = (dir: string, out: string) => Promise<unknown>;

/** The last contender is the reference. */
const CONTENDERS: readonly { name: string; pack: Pack }[] = [
  {
    name: "packFolder",
    pack: (dir, out) => packFolder(dir, `${out}.ffr`),
  },
  {
    name: `packFolder, ${PARTS} parts`,
    pack: (dir, out) => packFolder(dir, out, { parts: PARTS }),
  },
  {
    name: "loop of readdirSync, readFileSync, crc32, writeSync",
    // deno-lint-ignore require-await -- the other contenders are asynchronous
    async pack(dir, out) {
      const fd = fs.openSync(out, "w");
      for (const sub of fs.readdirSync(dir).sort()) {
        for (const name of fs.readdirSync(`${dir}/${sub}`).sort()) {
          const bytes = fs.readFileSync(`${dir}/${sub}/${name}`);
          crc32(bytes);
          if (fs.writeSync(fd, bytes) !== bytes.length) {
            throw new Error("Short");
          }
        }
      }
      fs.fsyncSync(fd);
      fs.closeSync(fd);
    },
  },
];

/** `pack_folder`: files packed a second. */
export const packFolderBenchmark: Benchmark = {
  name: "pack_folder",
  run: measure,
};

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    small: 50_000,
    large: 5_000,
    rounds: 5,
  });
  const rows: Row[] = [];
  for (
    const { count, size } of [
      { count: numbers.small, size: 1000 },
      { count: numbers.large, size: 100_000 },
    ]
  ) {
    const onDisk = Math.max(size, 4096) * count;
    await using workspace = await Workspace.create(dir, 3 * onDisk);
    progress(`pack_folder: making ${count} files of ${size} bytes`);
    const folder = workspace.file("in");
    makeFolder(folder, count, size);
    const rates = await alternate(
      CONTENDERS,
      numbers.rounds,
      async ({ name, pack }) => {
        progress(`pack_folder: ${name}, ${size} bytes`);
        const out = workspace.file("out");
        const start = performance.now();
        await pack(folder, out);
        const seconds = (performance.now() - start) / 1000;
        for (const made of [out, `${out}.ffr`]) {
          fs.rmSync(made, { recursive: true, force: true });
        }
        return count / seconds;
      },
    );
    const title = `pack_folder, ${count} × ${size} bytes`;
    rows.push(...rowsBesideLast(title, "files/s", CONTENDERS, rates));
  }
  return rows;
}

function makeFolder(folder: string, count: number, size: number): void {
  const block = crypto.getRandomValues(new Uint8Array(4096));
  const content = new Uint8Array(size);
  for (let at = 0; at < size; at += block.length) {
    content.set(block.subarray(0, size - at), at);
  }
  for (let i = 0; i < count; i++) {
    const sub = `${folder}/${
      String(Math.floor(i / FILES_A_DIRECTORY)).padStart(5, "0")
    }`;
    if (i % FILES_A_DIRECTORY === 0) fs.mkdirSync(sub, { recursive: true });
    new DataView(content.buffer).setUint32(0, i); // makes each file unique
    fs.writeFileSync(`${sub}/${String(i).padStart(8, "0")}`, content);
  }
}

if (import.meta.main) await runAlone(packFolderBenchmark);
