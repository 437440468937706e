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

/** Requests for ranges of a file, or of all, and how many bytes they asked for. */
export function asked(
  { server }: Served,
  path?: string,
): { readonly count: number; readonly bytes: number } {
  const lengths = server.asked.flatMap(({ path: of, range }) => {
    const found = /bytes=(\d+)-(\d+)/.exec(range ?? "");
    if (found === null || path !== undefined && of !== path) return [];
    return [Number(found[2]) - Number(found[1]) + 1];
  });
  const bytes = lengths.reduce((sum, length) => sum + length, 0);
  return { count: lengths.length, bytes };
}
