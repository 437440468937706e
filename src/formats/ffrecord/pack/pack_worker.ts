/**
 * Thread that reads the files of a folder; `PackThread` is its other end.
 *
 * @module
 */
import { yieldToEventLoop } from "../../../io/concurrency/event_loop.ts";
import { threadScope } from "../../../io/concurrency/thread.ts";
import { borrowedDirectory } from "../../../io/dirfd/directory_by_descriptor.ts";
import { serializeError } from "../../../base/serialized_error.ts";
import { SampleBlock } from "../write/sample_block.ts";
import { PackFiles } from "./pack_files.ts";
import { ListedEntries, type ListingChunk } from "./pack_listing.ts";
import type { FromPackThread, ToPackThread } from "./pack_messages.ts";
import { PackRuns, RUN_BLOCK } from "./pack_runs.ts";

/** Limit of blocks, which hold what is read before the number of files is known. */
const MOST_BLOCKS = 64;

const thread = threadScope<ToPackThread, FromPackThread>();

const chunks: ListingChunk[] = [];
const free: SampleBlock[] = [];
/** Partly filled block, continued when more is listed. */
let begun: SampleBlock | undefined;
/** Whether the claimed run has not been read to its end. */
let isInRun = false;
let blocks = 0;
let runs: PackRuns;
let files: PackFiles;
let isWhole = false;
let isReading = false;
let isOver = false;

thread.onmessage = ({ data }) => {
  if (data.kind === "start") {
    const root = borrowedDirectory(data.descriptor, data.path);
    runs = new PackRuns(data.counter);
    files = new PackFiles(root, new ListedEntries(chunks, runs));
  } else if (data.kind === "listed") {
    const { chunk, memory, used } = data;
    chunks[chunk] ??= { memory, used };
    chunks[chunk].used = used;
  } else if (data.kind === "listed-all") isWhole = true;
  else if (data.kind === "free") free.push(new SampleBlock(data.memory));
  else {
    isOver = true;
    files.close();
    thread.postMessage({ kind: "stopped" });
  }
  if (!isReading) void read();
};

/** Reads while there are files and free blocks; handles messages after each block. */
async function read(): Promise<void> {
  isReading = true;
  while (!isOver) {
    const block = begun ?? free.pop() ?? newBlock();
    if (block === undefined) break;
    if (!isInRun) runs.claim();
    isInRun = true;
    try {
      files.fill(block, Infinity);
    } catch (error) {
      isOver = true;
      thread.postMessage({ kind: "failed", error: serializeError(error) });
      break;
    }
    const isLast = !block.isFull && (runs.isOver || isWhole);
    if (!block.isFull && !isLast) {
      begun = block;
      break;
    }
    begun = undefined;
    isInRun = !isLast;
    isOver = runs.claimed >= runs.count;
    if (isOver) thread.postMessage({ kind: "end", runs: runs.count });
    else {
      const { used, count } = block;
      const memory = block.memory as SharedArrayBuffer;
      const run = runs.claimed;
      thread.postMessage({ kind: "block", memory, used, count, run, isLast });
    }
    await yieldToEventLoop();
  }
  isReading = false;
}

function newBlock(): SampleBlock | undefined {
  if (blocks === MOST_BLOCKS) return undefined;
  blocks++;
  return new SampleBlock(new SharedArrayBuffer(SampleBlock.sizeFor(RUN_BLOCK)));
}
