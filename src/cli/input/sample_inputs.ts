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
import { SampleInputFiles } from "./sample_input_files.ts";

/** Source of the samples of `recordfs write`. */
export interface SampleInput {
  /** Number of samples, if known in advance. */
  readonly count: number | undefined;
  readonly unit: ProgressUnit;
  /** Total amount in `unit`, if known in advance. */
  readonly total: number | undefined;
  /**
   * Writes all samples.
   *
   * @param onProgress Called with the amount done so far, in `unit`.
   * @returns Bytes of all samples.
   */
  write(
    writer: FFRecordWriter,
    signal: AbortSignal,
    onProgress: (done: number) => void,
  ): Promise<number>;
  close?(): void;
}

/** Maximum length of a line in a list; no system opens longer paths. */
const LONGEST_PATH = 1 << 16;

/** Samples from files, all of which are checked before the first is written. */
export function filesInput(files: readonly string[]): SampleInput {
  using sizes = new SampleInputFiles();
  const total = files.reduce((sum, file) => sum + sizes.sizeOf(file), 0);
  return {
    count: files.length,
    unit: "bytes",
    total,
    async write(writer, signal, onProgress) {
      using samples = new SampleInputFiles();
      let done = 0;
      const onPiece = (bytes: number) => onProgress(done += bytes);
      for (const file of files) {
        await samples.write(file, writer, signal, onPiece);
      }
      return done;
    },
  };
}

/** Samples from the files named in a list, one per line, or with NUL at the end of each name. */
export async function listInput(
  given: string,
  nulls: boolean,
  signal: AbortSignal,
): Promise<SampleInput> {
  const form = { end: nulls ? NUL : LF, longest: LONGEST_PATH };
  let list = await openInput(given, signal);
  let count: number | undefined;
  if (list.size !== undefined) {
    // Read twice: with the number known, the written data need not be moved to make room for the header.
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
      using files = new SampleInputFiles();
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

/** Samples from lines of JSON. */
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

/** Processes each line of a stream, and adds the line number to errors. */
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
        // Errors of the new file do not concern the line.
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
