/** Index files of other states of a tar, and such as somebody hostile makes, with checksums that fit. */
import * as fs from "node:fs";
import { runAsync } from "../../../src/io/concurrency/steps.ts";
import {
  encodeIndexFile,
  readIndexFile,
  readSection,
} from "../../../src/io/index_cache/index_file.ts";
import type { Column } from "../../../src/io/index_cache/tables_format.ts";
import { MemorySource } from "../../../src/io/storage/memory_source.ts";
import { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";
import { concatBytes } from "../../../src/base/bytes_of.ts";
import { writeIndex } from "../../../src/open/write_index.ts";
import type { Dice } from "../dice.ts";
import type { Scene } from "../scene.ts";
import { QUIET } from "./drive.ts";

/** Numbers that tables do not have. */
const ODD = [
  0,
  1,
  2,
  511,
  512,
  0x7fff_ffff,
  0x8000_0000,
  0xffff_ffff,
  -1,
  NaN,
  2 ** 53,
  0.5,
];

/** Returns an index file of a tar, possibly with other bytes or other tables. */
export async function indexFileOf(
  scene: Scene,
  tar: Uint8Array,
): Promise<Uint8Array> {
  const { dice } = scene;
  const output = scene.output(".index");
  const storage = new MemoryStorage({ "t.tar": tar });
  await writeIndex("t.tar", { ...QUIET, storage, output, replace: true });
  const bytes = new Uint8Array(fs.readFileSync(output));
  const how = dice.int(3);
  if (how === 0) return bytes;
  if (how === 1) {
    bytes[dice.int(bytes.length)]! ^= 1 << dice.int(8);
    return dice.once(3) ? bytes.subarray(0, dice.int(bytes.length)) : bytes;
  }
  return await withOtherTables(bytes, tar.length, dice);
}

/** Changes some numbers in the tables of an index file, whose checksums then fit. */
async function withOtherTables(
  bytes: Uint8Array,
  size: number,
  dice: Dice,
): Promise<Uint8Array> {
  const file = new MemorySource(bytes, "index", 0);
  const { sections } = (await runAsync(readIndexFile(file)))!;
  const indexes = [];
  for (const section of sections) {
    const tables = (await runAsync(readSection(file, section)))!;
    const columns = Object.entries(tables.columns).filter(([, { length }]) =>
      length > 0
    );
    for (let times = 1 + dice.int(4); times > 0; times--) {
      change(columns[dice.int(columns.length)]![1], dice);
    }
    indexes.push({ ...section, tables });
  }
  const origin = Object.create(file, { size: { value: size } });
  return concatBytes(encodeIndexFile(origin, indexes));
}

function change(column: Column, dice: Dice): void {
  const at = dice.int(column.length);
  const how = dice.int(4);
  if (how === 0) column[at] = dice.pick(ODD);
  else if (how === 1) column[at]! += dice.pick([1, -1, 512, -512]);
  else if (how === 2) column[at] = column[dice.int(column.length)]!;
  else {
    const other = dice.int(column.length);
    [column[at], column[other]] = [column[other]!, column[at]!];
  }
}
