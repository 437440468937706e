/** A directory that is served, and what fetches from it. */
import * as fs from "node:fs";
import { withTempDir } from "../paths.ts";
import { FileServer } from "./file_server.ts";

/** What a test has of it. */
export interface Served {
  /** The directory that is served; it is empty at first. */
  readonly dir: string;
  readonly server: FileServer;
  /** The directory of the cache. */
  readonly directory: string;
  /** Options that keep there what was fetched. */
  readonly remote: { readonly cache: { readonly directory: string } };
}

/** Serves a directory as long as a test takes. */
export async function serving(
  run: (served: Served) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/www`);
    await using server = await FileServer.start(`${dir}/www`);
    const directory = `${dir}/cache`;
    const remote = { cache: { directory } };
    await run({ dir: `${dir}/www`, server, directory, remote });
  });
}
