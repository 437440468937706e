/** Ranges that a server was asked for. */
import * as fs from "node:fs";
import {
  answerFile,
  type Asked,
  type Fault,
  type FileServer,
} from "../../support/remote/file_server.ts";

/** Ranges from this size on are samples, others parts of an index. */
const LARGE = 90_000;

/** A range of a file, its end excluded. */
export interface AskedRange {
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

/** The ranges of samples among what was asked for: not the first, by which a file is opened. */
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

/** Bytes of ranges. */
export function bytesOf(ranges: readonly AskedRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** The longest part that two ranges have in common. */
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

/** Has a server answer ranges of samples when it is told to, and all else at once. */
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

/** Has a server answer no range of samples before so many bytes of them have been asked for. */
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
