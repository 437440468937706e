/**
 * Measures ways to read batches of records, compared with a bare loop.
 *
 * @module
 */
import type { Row } from "./report.ts";
import { alternate, median } from "./rounds.ts";

/** Way to read batches. */
export interface BatchContender {
  readonly name: string;
  /** Promised speed relative to the bare loop. */
  readonly promise?: number;
  /** Reads one batch. */
  read(indices: readonly number[]): Uint8Array[] | Promise<Uint8Array[]>;
}

/** Batches to read. */
export interface BatchLoad {
  /** Label in the rows. */
  readonly measured: string;
  /** Unit of the rate, such as `samples/s`. */
  readonly unit: string;
  readonly batches: readonly number[][];
  /** Bytes of each record. */
  readonly size: number;
  /** Number of passes over all records. */
  readonly passes: number;
}

/** Batches a round: about 2,000 records with 64 a batch. */
const STRETCH = 32;

/**
 * Measures contenders, alternating.
 *
 * @param contenders The bare loop, followed by the ways compared with it.
 * @returns Rows for each of the ways: its own, and one of the loop with the ratio.
 */
export async function measureBatches(
  contenders: readonly BatchContender[],
  { measured, unit, batches, size, passes }: BatchLoad,
): Promise<Row[]> {
  const stretches = Array.from(
    { length: Math.ceil(batches.length / STRETCH) },
    (_, i) => batches.slice(i * STRETCH, (i + 1) * STRETCH),
  );
  const measureRound = (one: BatchContender, round: number) =>
    rate(one, stretches[round % stretches.length]!, size);
  await alternate(contenders, stretches.length, measureRound); // compiles code and fills the page cache
  const rounds = passes * stretches.length;
  const rates = await alternate(contenders, rounds, measureRound);
  const [loop, ...ours] = contenders.map(({ name }, i) => ({
    measured,
    subject: name,
    value: median(rates[i]!),
    unit,
    rounds: rates[i]!,
  }));
  return ours.flatMap((own, i): Row[] => {
    const { promise } = contenders[i + 1]!;
    // Ratios of successive rounds: other load on the machine then slows both.
    const ratio = median(own.rounds.map((rate, k) => rate / loop!.rounds[k]!));
    const target = promise === undefined
      ? {}
      : { target: { promise: `≥ ${promise}×`, met: ratio >= promise } };
    return [own, { ...loop!, ratio, ...target }];
  });
}

/** Returns the records a second over these batches. */
async function rate(
  { name, read }: BatchContender,
  batches: readonly number[][],
  size: number,
): Promise<number> {
  const start = performance.now();
  let records = 0;
  for (const batch of batches) {
    const pending = read(batch);
    const contents = pending instanceof Promise ? await pending : pending;
    if (contents.at(-1)?.length !== size) {
      throw new Error(`${name} did not read what it should`);
    }
    records += contents.length;
  }
  return records / (performance.now() - start) * 1000;
}
