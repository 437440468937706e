import type { Format } from "../format.ts";
import { checkDatabases } from "./check.ts";
import { openDatabases } from "./tree/open_databases.ts";

export const lmdb: Format = {
  open: openDatabases,
  check: checkDatabases,
  async openSource(container) {
    const { databaseSource } = await import("./convert/source.ts");
    return databaseSource(container);
  },
};
