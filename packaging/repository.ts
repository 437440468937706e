import { fileURLToPath } from "node:url";

/** The repository's root, with a slash at its end. */
export const REPOSITORY: string = fileURLToPath(
  new URL("../", import.meta.url),
);

/** What is made lies there; git ignores it. */
export const DIST: string = `${REPOSITORY}dist`;
