import type { ReadMemory } from "../../../io/read/read_memory.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { BagRecords } from "./bag_records.ts";

/** Which records of a bag belong to each of several datapoints. */
export interface Spans {
  /** The first of each; for none, best where the span before ends. */
  readonly first: Float64Array;
  /** How many. */
  readonly count: Float64Array;
}

/** Spans that lie together. */
interface Run {
  readonly first: number;
  end: number;
  /** Which. */
  readonly spans: number[];
}

/**
 * Reads the records of spans in any order. Those that follow each other are read in one go, and
 * those that several spans share once: no more memory is taken than the bag has bytes.
 *
 * @returns The records of each span.
 */
export function* readSpans(
  records: BagRecords,
  spans: Spans,
  memory?: ReadMemory,
): Steps<Uint8Array<ArrayBuffer>[][]> {
  const result: Uint8Array<ArrayBuffer>[][] = new Array(spans.first.length);
  for (const run of runsOf(spans)) {
    const count = run.end - run.first;
    const bytes = yield* records.readRun(run.first, count, memory);
    for (const span of run.spans) {
      const from = spans.first[span]! - run.first;
      result[span] = bytes.slice(from, from + spans.count[span]!);
    }
  }
  return result;
}

function runsOf(spans: Spans): Run[] {
  const runs: Run[] = [];
  let run: Run | undefined;
  for (const span of orderOf(spans)) {
    const first = spans.first[span]!;
    const end = first + spans.count[span]!;
    if (run !== undefined && first <= run.end) {
      run.end = Math.max(run.end, end);
      run.spans.push(span);
    } else {
      run = { first, end, spans: [span] };
      runs.push(run);
    }
  }
  return runs;
}

/** The spans by their first record. */
function orderOf({ first }: Spans): Uint32Array {
  const order = new Uint32Array(first.length);
  let ascends = true;
  for (let i = 0; i < order.length; i++) {
    order[i] = i;
    if (i > 0 && first[i]! < first[i - 1]!) ascends = false;
  }
  return ascends ? order : order.sort((a, b) => first[a]! - first[b]!);
}
