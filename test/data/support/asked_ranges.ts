/** Ranges that a server was asked for. */
import * as fs from "node:fs";
import {
  answerFile,
  type Asked,
  type Fault,
  type FileServer,
} from "../../support/remote/file_server.ts";

/** Ranges of at least this many bytes are samples, smaller ones parts of an index. */
const LARGE = 90_000;

/** Range of a file, with exclusive end. */
export interface AskedRange {
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

/** Returns the requested ranges of samples, without the first request, which opens a file. */
export function askedRanges(asked: readonly Asked[]): AskedRange[] {
  return asked.flatMap(({ path, range }) => {
    const found = /^bytes=(\d+)-(\d+)$/.exec(range ?? "");
    const [start, end] = [
      Number(found?.[1] ?? 0),
      Number(found?.[2] ?? -1) + 1,
    ];
    return start === 0 || end - start < LARGE ? [] : [{ path, start, end }];
  });
}

/** Returns the total bytes of ranges. */
export function bytesOf(ranges: readonly AskedRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** Returns the length of the longest overlap of two ranges. */
export function longestTwice(ranges: readonly AskedRange[]): number {
  let longest = 0;
  for (const [i, one] of ranges.entries()) {
    for (const other of ranges.slice(0, i)) {
      if (other.path !== one.path) continue;
      const common = Math.min(one.end, other.end) -
        Math.max(one.start, other.start);
      longest = Math.max(longest, common);
    }
  }
  return longest;
}

/** Makes a server hold ranges of samples until `release()`, and answer everything else at once. */
export function holdRanges(www: string): { fault: Fault; release(): void } {
  const held: (() => void)[] = [];
  return {
    fault(asked, response, file) {
      if (file === undefined || askedRanges([asked]).length === 0) return false;
      const { mtime } = fs.statSync(`${www}${asked.path}`);
      held.push(() => answerFile(asked, file, mtime, response));
      return true;
    },
    release() {
      for (const answer of held.splice(0)) answer();
    },
  };
}

/** Makes a server hold ranges of samples until the given number of bytes has been requested. */
export function holdUntilAsked(
  server: FileServer,
  www: string,
  bytes: number,
): void {
  const { fault, release } = holdRanges(www);
  server.fault = (...request) => {
    const isHeld = fault(...request);
    if (bytesOf(askedRanges(server.asked)) >= bytes) release();
    return isHeld;
  };
}
