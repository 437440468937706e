import { concatBytes } from "../../base/bytes_of.ts";
import { RecordfsError } from "../../base/errors.ts";

export interface LineOptions {
  readonly name: string;
  /** Byte that ends a line; optional for the last line. */
  readonly end: number;
  /** Maximum length of a line in bytes. Longer lines fail before memory is allocated for them. */
  readonly longest: number;
}

export const LF = 0x0a;
/** The byte that no path contains. */
export const NUL = 0;

/** Maximum length of a JSON line: half of what a JavaScript string can have. A larger sample can be a file. */
export const LONGEST_JSON = 1 << 28;

/** Splits a stream into lines, without their ends. Yields the lines of each chunk, valid until the next iteration. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  { name, end, longest }: LineOptions,
): AsyncGenerator<Uint8Array[]> {
  let started: Uint8Array[] = [];
  let startedLength = 0;
  let count = 0;
  const refuseLong = (length: number) => {
    if (length <= longest) return;
    throw new RecordfsError(
      "long-line",
      `Cannot read line ${
        count + 1
      } of ${name}: it has more than ${longest} bytes`,
      { path: name },
    );
  };
  for await (const chunk of chunks) {
    const lines: Uint8Array[] = [];
    let start = 0;
    for (;;) {
      const stop = chunk.indexOf(end, start);
      if (stop < 0) break;
      refuseLong(startedLength + stop - start);
      const line = chunk.subarray(start, stop);
      lines.push(startedLength === 0 ? line : concatBytes([...started, line]));
      started = [];
      startedLength = 0;
      start = stop + 1;
      count++;
    }
    if (start < chunk.length) {
      startedLength += chunk.length - start;
      refuseLong(startedLength);
      started.push(chunk.slice(start)); // copy: the chunk's memory may be reused
    }
    if (lines.length > 0) yield lines;
  }
  if (startedLength > 0) yield [concatBytes(started)];
}
