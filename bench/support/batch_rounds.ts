/**
 * Measures ways to read batches of records, beside a bare loop.
 *
 * @module
 */
import type { Row } from "./report.ts";
import { alternate, median } from "./rounds.ts";

/** A way to read batches. */
export interface BatchContender {
  readonly name: string;
  /** What the project promises: how many times as fast as the bare loop. */
  readonly promise?: number;
  /** Reads one batch. */
  read(indices: readonly number[]): Uint8Array[] | Promise<Uint8Array[]>;
}

/** What is read. */
export interface BatchLoad {
  /** What the rows call it. */
  readonly measured: string;
  /** Of what the rate is: `samples/s`. */
  readonly unit: string;
  readonly batches: readonly number[][];
  /** Bytes of each record. */
  readonly size: number;
  /** How many times all are read. */
  readonly passes: number;
}

/** Batches of one round: about 2,000 records of 64 a batch. */
const STRETCH = 32;

/**
 * Measures contenders in turn.
 *
 * @param contenders The bare loop, and what is compared with it.
 * @returns For each of the others its own row, and one of the loop with the ratio.
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
  await alternate(contenders, stretches.length, measureRound); // compiles code, brings the file into memory
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
    // Of rounds that follow each other: what else the machine does then slows both.
    const ratio = median(own.rounds.map((rate, k) => rate / loop!.rounds[k]!));
    const target = promise === undefined
      ? {}
      : { target: { promise: `≥ ${promise}×`, met: ratio >= promise } };
    return [own, { ...loop!, ratio, ...target }];
  });
}

/** Records a second over these batches. */
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
