import { fileURLToPath } from "node:url";
import {
  FFRecordReader,
  FFRecordWriter,
} from "../../src/formats/ffrecord/mod.ts";
import { run } from "../support/run.ts";
import { PYTHON } from "../../test/support/programs/programs.ts";

/** Content of each packed file: only the names matter. */
export const TREE_CONTENT = "a".repeat(16);
const FILE_SIZE = TREE_CONTENT.length;

/** Most bytes of disk a name takes, in the archive and in its index. */
export const BYTES_PER_NAME = 192;

const SCRIPT = fileURLToPath(
  new URL("../reference/packed_folder.py", import.meta.url),
);

/** Directories of small files, packed. */
export interface PackedTree {
  /** The FFRecord file. */
  readonly archive: string;
  /** Text file next to it, `OFFSET LENGTH PATH` a line: the same for a server without FFRecord support. */
  readonly index: string;
  readonly directories: number;
  /** Number of files. */
  readonly files: number;
  /** Returns the path of a file. */
  path(file: number): string;
}

/** Packs files, with names pickled by Python, as FFRecord's library does. */
export async function makePackedTree(
  archive: string,
  directories: number,
  filesInEach: number,
): Promise<PackedTree> {
  const files = directories * filesInEach;
  const path = (file: number) => {
    const directory = `n${pad(Math.floor(file / filesInEach), 8)}`;
    return `${directory}/${directory}_${pad(file % filesInEach, 5)}.JPEG`;
  };
  const structure = await run(
    [PYTHON, SCRIPT, "structure", `${directories}`, `${filesInEach}`],
  );
  await using writer = await FFRecordWriter.open(archive, { count: files + 1 });
  const content = new TextEncoder().encode(TREE_CONTENT);
  for (let file = 0; file < files; file++) await writer.write(content);
  await writer.write(structure);
  await writer.close();
  const index = `${archive}.index`;
  await writeIndex(index, archive, files, path);
  return { archive, index, directories, files, path };
}

async function writeIndex(
  index: string,
  archive: string,
  files: number,
  path: (file: number) => string,
): Promise<void> {
  using reader = await FFRecordReader.open(archive);
  const { offsets } = reader;
  const lines = Array.from(
    { length: files },
    (_, i) => `${offsets[i]} ${FILE_SIZE} ${path(i)}\n`,
  );
  await Deno.writeTextFile(index, lines.join(""));
}

function pad(number: number, digits: number): string {
  return String(number).padStart(digits, "0");
}
