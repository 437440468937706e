export const SPEC_FILE = "spec.json";

/** Key whose bag holds the references in generations 1 and 2. */
export const REFS_KEY = "refs";

/** Name of a shard's directory: its number, with at least six digits. */
export const SHARD_NAME = /^\d{6,}$/;

/** Whether a file of this name makes its directory a dataset, perhaps a damaged one. */
export function isDatasetFile(name: string): boolean {
  return name === SPEC_FILE || name === `${REFS_KEY}.bag` ||
    /.\.(bag|idx)$/.test(name);
}

/**
 * How a bag stores its index. 1 (bags, early granular): N + 1 offsets at the end of the `.bag`, the start of each
 * record and the end. 2 (granular 2024–2025): the N record ends there. 3 (granular ≥ 0.22): the N record ends in an
 * `.idx` next to the `.bag`.
 */
export type Generation = 1 | 2 | 3;

/**
 * Whether bags of a generation may hold empty records. The index of generation 2 must not start with 0, which
 * identifies generation 1. In generation 3, granular writes empty records since 0.23.3, and reads them since 0.22.0.
 */
export function mayBeEmpty(generation: Generation): boolean {
  return generation !== 2;
}

/** @throws {RangeError} If there is no such generation. */
export function requireGeneration(generation: Generation): void {
  if ([1, 2, 3].includes(generation)) return;
  throw new RangeError(`The generation must be 1, 2 or 3, not ${generation}`);
}

/** Kind of container of a single bag. */
export const BAG = "bag";
