/** The file that names the keys. */
export const SPEC_FILE = "spec.json";

/** The key whose bag holds the references in generations 1 and 2. */
export const REFS_KEY = "refs";

/** The name of a shard's directory: its number, with six digits at least. */
export const SHARD_NAME = /^\d{6,}$/;

/** Whether a directory with a file of that name is a dataset, perhaps a damaged one. */
export function isDatasetFile(name: string): boolean {
  return name === SPEC_FILE || name === `${REFS_KEY}.bag` ||
    /.\.(bag|idx)$/.test(name);
}
