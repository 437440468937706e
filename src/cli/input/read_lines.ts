import { concatBytes } from "../../base/bytes_of.ts";
import { RecordfsError } from "../../base/errors.ts";

/** How lines are told apart, and how much of one is kept in memory. */
export interface LineOptions {
  /** What the lines are read from, for errors. */
  readonly name: string;
  /** The byte that ends a line; the last one need not have it. */
  readonly end: number;
  /** Longest line in bytes; a longer one is an error, before memory is taken for it. */
  readonly longest: number;
}

/** Line feed. */
export const LF = 0x0a;
/** The byte that no path holds. */
export const NUL = 0;

/** Longest line of JSON: text in JavaScript can have twice that. A larger sample can be a file. */
export const LONGEST_JSON = 1 << 28;

/**
 * Takes a stream of bytes apart into lines.
 *
 * @returns The lines that end in each chunk of the stream, without their ends; valid until the next
 * are asked for.
 * @throws {RecordfsError} If a line is too long.
 */
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
      `${name}, line ${count + 1}: it has more than ${longest} bytes`,
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
      started.push(chunk.slice(start)); // the chunk's memory may be used again
    }
    if (lines.length > 0) yield lines;
  }
  if (startedLength > 0) yield [concatBytes(started)];
}
