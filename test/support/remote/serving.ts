/** A served directory, and a client cache for it. */
import * as fs from "node:fs";
import { withTempDir } from "../paths.ts";
import { FileServer } from "./file_server.ts";

/** Paths and options of a test. */
export interface Served {
  /** The served directory, empty at first. */
  readonly dir: string;
  readonly server: FileServer;
  /** Directory of the cache. */
  readonly directory: string;
  /** Options that select the cache. */
  readonly remote: { readonly cache: { readonly directory: string } };
}

/** Serves a directory while `run` runs. */
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

/** Counts the range requests for a file, or for all files, and the bytes that they requested. */
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
