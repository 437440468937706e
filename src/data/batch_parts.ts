import { DataError } from "./data_error.ts";

/** What one read answers of a batch: which samples, and where in the batch they stand. */
interface Part {
  readonly indices: number[];
  readonly places: number[];
}

/** A batch taken apart, so that each source that has a part of it is read once. */
export class BatchParts {
  readonly #parts = new Map<number, Part>();
  #length = 0;

  /**
   * Adds the next sample of the batch.
   *
   * @param key Which part it belongs to.
   * @param index Which sample of that part's source it is.
   */
  add(key: number, index: number): void {
    let part = this.#parts.get(key);
    if (part === undefined) {
      part = { indices: [], places: [] };
      this.#parts.set(key, part);
    }
    part.indices.push(index);
    part.places.push(this.#length++);
  }

  /**
   * Reads all parts, at the same time where that needs waiting. All reads have ended when this does, even
   * where one fails: what they read into may be used again from then on.
   *
   * @returns The samples in the order in which they were added.
   * @throws What the first read that failed has thrown.
   * @throws {DataError} With code `bad-batch` if a read gives more or fewer samples than it was asked for.
   */
  async read<T>(
    get: (
      key: number,
      indices: readonly number[],
    ) => readonly T[] | Promise<readonly T[]>,
  ): Promise<readonly T[]> {
    const read = async ([key, { indices }]: [number, Part]) =>
      wholeBatch(await get(key, indices), indices);
    const parts = [...this.#parts];
    const ends = await Promise.allSettled(parts.map(read));
    const failed = ends.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
    const answers = ends.map((end) =>
      (end as PromiseFulfilledResult<readonly T[]>).value
    );
    if (answers.length === 1) return answers[0]!;
    const samples = new Array<T>(this.#length);
    for (const [i, [_, { places }]] of parts.entries()) {
      const answer = answers[i]!;
      for (let j = 0; j < places.length; j++) samples[places[j]!] = answer[j]!;
    }
    return samples;
  }
}

/**
 * The answer of a source, which has one sample for each index.
 *
 * @throws {DataError} With code `bad-batch` if it has not.
 */
export function wholeBatch<T>(
  samples: readonly T[],
  indices: readonly number[],
): readonly T[] {
  const isList = Array.isArray(samples);
  if (isList && samples.length === indices.length) return samples;
  const gave = isList ? `${samples.length} samples` : "no list of samples";
  throw new DataError(
    "bad-batch",
    `A dataset gave ${gave} where it was asked for ${indices.length}: its \`get\` ` +
      "must give one for each index",
    { expected: indices.length, actual: isList ? samples.length : undefined },
  );
}
