/** The file that names the keys. */
export const SPEC_FILE = "spec.json";

/** The key whose bag holds the references in generations 1 and 2. */
export const REFS_KEY = "refs";

/** The name of a shard's directory: its number, with six digits at least. */
export const SHARD_NAME = /^\d{6,}$/;

/** Tells names of files by which a directory is a dataset, perhaps a damaged one. */
export function isDatasetFile(name: string): boolean {
  return name === SPEC_FILE || name === `${REFS_KEY}.bag` ||
    /.\.(bag|idx)$/.test(name);
}

/**
 * How a bag keeps its index, which changed twice: 1 (bags, early granular) has N + 1 offsets at the
 * end of the `.bag`, the start of each record and the end; 2 (granular 2024–2025) the N ends of
 * records there; 3 (granular ≥ 0.22) the N ends in an `.idx` beside the `.bag`.
 */
export type Generation = 1 | 2 | 3;

/**
 * Whether bags of a generation may hold records without bytes. The index of generation 2 must not start with 0, by
 * which generation 1 is known. Granular writes empty records in generation 3 from 0.23.3 on, and reads them from 0.22.0 on.
 */
export function mayBeEmpty(generation: Generation): boolean {
  return generation !== 2;
}

/** @throws {RangeError} If there is no such generation. */
export function requireGeneration(generation: Generation): void {
  if ([1, 2, 3].includes(generation)) return;
  throw new RangeError(`The generation is 1, 2 or 3, not ${generation}`);
}

/** The kind of container that a single bag is. */
export const BAG = "bag";
