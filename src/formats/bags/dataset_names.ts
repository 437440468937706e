/** The file that names the keys. */
export const SPEC_FILE = "spec.json";

/** The key whose bag holds the references in generations 1 and 2. */
export const REFS_KEY = "refs";
