import { RecordfsError, WriteError } from "../../../errors.ts";
import { SPEC_FILE } from "../../../formats/bags/dataset/dataset_names.ts";
import { SHARD_NAME } from "../../../formats/bags/dataset/dataset_names.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";

/**
 * Makes sure, before anything is written, that a dataset of generation 3 can be written to a place: there is
 * nothing yet, or a dataset; whether that may be gone on with, its writer says.
 *
 * @param isSharded Whether it is to have shards.
 * @throws {WriteError} If there is something else (`exists`).
 */
export async function requirePlace(
  out: string,
  isSharded: boolean,
  signal: AbortSignal,
): Promise<void> {
  const names = await namesIn(out, signal);
  if (names.length === 0) return;
  const stray = isSharded
    ? names.find((name) => !SHARD_NAME.test(name))
    : names.includes(SPEC_FILE)
    ? undefined
    : names[0];
  if (stray === undefined) return;
  const what = isSharded ? "a dataset in shards" : "a dataset";
  throw inTheWay(out, `it holds ${stray}, so it is not ${what}:`);
}

/** An error about something that is in the way. */
export function inTheWay(out: string, why: string): WriteError {
  return new WriteError(
    "exists",
    `Cannot write ${out}: ${why} choose another name`,
    { path: out },
  );
}

/** Names in a directory, but those that start with a dot; none where it is not there. */
async function namesIn(path: string, signal: AbortSignal): Promise<string[]> {
  try {
    const names = await runAsync(LOCAL_DISK.list(path), signal) ?? []; // no directory: the writer says so
    return names.filter((name) => !name.startsWith("."));
  } catch (error) {
    if (error instanceof RecordfsError && error.code === "ENOENT") return [];
    throw error;
  }
}
