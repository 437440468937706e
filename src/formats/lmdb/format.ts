import type { Format } from "../format.ts";
import { checkDatabases } from "./check.ts";
import { databasePaths, openDatabases } from "./read/open_databases.ts";

export const lmdb: Format = {
  open: openDatabases,
  *patternPaths(pattern, storage) {
    return (yield* databasePaths(pattern, storage)).paths;
  },
  check: checkDatabases,
  async openSource(container) {
    const { KeyedSource } = await import(
      "../../convert/from/archive_source.ts"
    );
    return new KeyedSource(container, "an LMDB database");
  },
};
