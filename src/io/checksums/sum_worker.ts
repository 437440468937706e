/**
 * Thread that computes checksums of ranges of files; the other end of `SumThread`.
 *
 * @module
 */
import { runSync } from "../concurrency/steps.ts";
import { threadScope } from "../concurrency/thread.ts";
import { FileSource } from "../storage/file_source.ts";
import { RangeSums } from "./range_sums.ts";
import type { FromSumThread, ToSumThread } from "./sum_messages.ts";

const thread = threadScope<ToSumThread, FromSumThread>();
const stop = new AbortController();
const reads = new RangeSums(stop.signal);
let file: FileSource | undefined;
/** Spans are handled one after the other. */
let last: Promise<void> = Promise.resolve();

thread.onmessage = ({ data }) => {
  if (data.kind === "stop") stop.abort();
  last = last.then(() => data.kind === "stop" ? close() : answer(data));
};

async function answer(span: ToSumThread & { kind: "span" }): Promise<void> {
  let sums: number[] | undefined;
  try {
    const source = open(span);
    const { ranges, checksumKind } = span;
    const all = await reads.of({ source, ranges, checksumKind });
    if (all.every((sum) => typeof sum === "number")) sums = all;
  } catch {
    // The requesting thread reads it again and reports the error.
  }
  thread.postMessage({ kind: "sums", sums });
}

/** Opens the file and checks that it is unchanged. */
function open({ path, identity }: ToSumThread & { kind: "span" }): FileSource {
  if (file?.path !== path) {
    file?.close();
    file = runSync(FileSource.open(path));
  }
  const { dev, ino, size, mtimeMs } = file.identity;
  const isSame = dev === identity.dev && ino === identity.ino &&
    size === identity.size && mtimeMs === identity.mtimeMs;
  if (!isSame) throw new Error("It has changed");
  return file;
}

async function close(): Promise<void> {
  await reads.end(); // buffers of reads in flight must stay alive
  file?.close();
  thread.postMessage({ kind: "stopped" });
}
