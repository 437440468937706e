import { RecordfsError, WriteError } from "../../base/errors.ts";
import type { FFRecordWriter } from "../../formats/ffrecord/mod.ts";
import { decodeName } from "../../base/names.ts";
import { type InputStream, openInput } from "./input_stream.ts";
import { parseSample, SampleError } from "./parse_sample.ts";
import type { ProgressUnit } from "../terminal/progress.ts";
import {
  LF,
  type LineOptions,
  LONGEST_JSON,
  NUL,
  readLines,
} from "./read_lines.ts";
import { SampleFiles } from "./sample_files.ts";

/** Where the samples of `recordfs write` come from. */
export interface SampleInput {
  /** How many there are, where that is known before they are read. */
  readonly count: number | undefined;
  readonly unit: ProgressUnit;
  /** How much of it there is in `unit`, where that is known. */
  readonly total: number | undefined;
  /**
   * Writes them all.
   *
   * @param onProgress Told how much of `total` is done.
   * @returns Bytes of all samples.
   */
  write(
    writer: FFRecordWriter,
    signal: AbortSignal,
    onProgress: (done: number) => void,
  ): Promise<number>;
  /** Closes what is left open of it. */
  close?(): void;
}

/** Longest line of a list; no system opens longer paths. */
const LONGEST_PATH = 1 << 16;

/** Samples that are files, each looked at before the first is written. */
export function filesInput(files: readonly string[]): SampleInput {
  using sizes = new SampleFiles();
  const total = files.reduce((sum, file) => sum + sizes.sizeOf(file), 0);
  return {
    count: files.length,
    unit: "bytes",
    total,
    async write(writer, signal, onProgress) {
      using samples = new SampleFiles();
      let done = 0;
      const onPiece = (bytes: number) => onProgress(done += bytes);
      for (const file of files) {
        await samples.write(file, writer, signal, onPiece);
      }
      return done;
    },
  };
}

/**
 * Samples that are the files named in a list, one a line.
 *
 * @param given Path of the list, or `-` for standard input.
 * @param nulls Whether a NUL ends each name, and not the end of its line.
 */
export async function listInput(
  given: string,
  nulls: boolean,
  signal: AbortSignal,
): Promise<SampleInput> {
  const form = { end: nulls ? NUL : LF, longest: LONGEST_PATH };
  let list = await openInput(given, signal);
  let count: number | undefined;
  if (list.size !== undefined) {
    // Read twice: knowing the number saves moving all that was written to make room for a header.
    count = 0;
    for await (
      const lines of readLines(list.chunks, { ...form, name: list.name })
    ) {
      count += lines.length;
    }
    list = await openInput(given, signal);
  }
  return {
    count,
    unit: "files",
    total: count,
    close: list.close,
    async write(writer, signal, onProgress) {
      using files = new SampleFiles();
      let count = 0;
      let bytes = 0;
      const onPiece = (more: number) => bytes += more;
      await eachLine(list, form, async (path) => {
        if (path.length === 0) throw new SampleError("it is empty");
        await files.write(decodeName(path), writer, signal, onPiece);
        onProgress(++count);
      });
      return bytes;
    },
  };
}

/**
 * Samples that are lines of JSON.
 *
 * @param given Path of the file, or `-` for standard input.
 */
export async function jsonInput(
  given: string,
  signal: AbortSignal,
): Promise<SampleInput> {
  const stream = await openInput(given, signal);
  return {
    count: undefined,
    unit: "bytes",
    total: stream.size,
    close: stream.close,
    async write(writer, signal, onProgress) {
      const form = { end: LF, longest: LONGEST_JSON };
      let bytes = 0;
      let done = 0;
      await eachLine(stream, form, async (text) => {
        const sample = parseSample(text);
        await writer.write(sample, { signal });
        bytes += sample.length;
        onProgress(done += text.length + 1);
      });
      return bytes;
    },
  };
}

/** Works with each line of a stream, and says in which line something is wrong. */
async function eachLine(
  { name, chunks }: InputStream,
  form: Omit<LineOptions, "name">,
  work: (line: Uint8Array) => Promise<void>,
): Promise<void> {
  let count = 0;
  for await (const lines of readLines(chunks, { name, ...form })) {
    for (const line of lines) {
      count++;
      try {
        await work(line);
      } catch (error) {
        // What is wrong with the new file has nothing to do with the line.
        const isOfLine = error instanceof SampleError ||
          error instanceof RecordfsError && !(error instanceof WriteError);
        if (!isOfLine) throw error;
        const code = error instanceof RecordfsError ? error.code : "bad-sample";
        throw new RecordfsError(
          code,
          `${name}, line ${count}: ${error.message}`,
          { path: name, cause: error },
        );
      }
    }
  }
}
