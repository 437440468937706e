/**
 * Worker thread that writes chunks for `ThreadWriter`.
 *
 * @module
 */
import type { DatasetAdapter } from "../adapters/dataset_adapter.ts";
import { makeAdapter } from "../adapters/load_adapter.ts";
import {
  type ChunkEvents,
  type FromWorker,
  ingestChunk,
  type ToWorker,
} from "./ingest_chunk.ts";
import { leaveCodecAdvice } from "../../../codecs/image/choose_codec.ts";
import { threadScope } from "../../../io/concurrency/thread.ts";
import {
  deserializeError,
  serializeError,
} from "../../../base/serialized_error.ts";
import { IngestError } from "./ingest_error.ts";

/** Interval of progress reports on frames, in milliseconds: one message per frame would cost too much. */
const TELL_AFTER = 100;

const thread = threadScope<ToWorker, FromWorker>();
const abort = new AbortController();
let adapter: DatasetAdapter | undefined;
let answer: PromiseWithResolvers<void> | undefined;
let frames = { count: 0, bytes: 0 };
let told = performance.now();

// A thread that ends itself sends no event, and the caller would wait forever.
thread.close = refuseToEnd;
Deno.exit = refuseToEnd;

thread.onmessage = ({ data }) => {
  switch (data.kind) {
    case "adapter":
      if (!data.isFirst) leaveCodecAdvice();
      return act(async () => {
        adapter = await makeAdapter(data.recipe);
        thread.postMessage({ kind: "ready", length: adapter.length });
      }, undefined);
    case "chunk":
      return act(async () => {
        const { signal } = abort;
        const { job } = data;
        const ids = (ids: readonly string[]) => askAbout(job.number, ids);
        const told = { ...events, ids };
        const report = await ingestChunk(adapter!, job, told, signal);
        tellFrames();
        thread.postMessage({ kind: "chunk", report });
      }, data.job.number);
    case "ids":
      if (data.error === undefined) answer?.resolve();
      else answer?.reject(deserializeError(data.error, IngestError));
      return;
    case "abort":
      abort.abort();
      answer?.reject(abort.signal.reason);
  }
};

const events: Omit<ChunkEvents, "ids"> = {
  frames(count, bytes) {
    frames.count += count;
    frames.bytes += bytes;
    if (performance.now() - told >= TELL_AFTER) tellFrames();
  },
  video(failed) {
    thread.postMessage({ kind: "video", failed });
  },
};

/** Asks whether ids are new. The next chunk begins after the answer. */
function askAbout(chunk: number, ids: readonly string[]): Promise<void> {
  answer = Promise.withResolvers();
  thread.postMessage({ kind: "ids", chunk, ids });
  return answer.promise;
}

function tellFrames(): void {
  thread.postMessage({ kind: "frames", ...frames });
  frames = { count: 0, bytes: 0 };
  told = performance.now();
}

function act(work: () => Promise<void>, chunk: number | undefined): void {
  work().catch((error) =>
    thread.postMessage({ kind: "failed", chunk, error: serializeError(error) })
  );
}

function refuseToEnd(): never {
  throw new Error("an adapter must not end its thread");
}
