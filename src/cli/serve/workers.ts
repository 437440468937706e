import { isUrl } from "../../io/remote/remote_location.ts";
import { canSharePorts } from "../../serve/threads/answering_threads.ts";
import { UsageError } from "../exit.ts";

/** Most threads that a server can be given: each has a JavaScript heap of its own. */
export const MOST_WORKERS = 64;
/** Most that there are unless somebody asks for more: none knows what others have kept in memory. */
const MOST_UNASKED = 4;
/** Files of a container that only one thread opens unless somebody asks for more: each keeps their names in memory. */
const MANY_FILES = 1_000_000;

/**
 * Tells how many threads answer, for so many files.
 *
 * @param wanted What the command line says.
 * @throws {UsageError} If there can't be so many.
 */
export function workersFor(
  wanted: number | undefined,
  given: readonly string[],
): (files: number) => number {
  const alone = !canSharePorts()
    ? "threads share a port only on Linux, where Deno runs with --unstable-net"
    : given.some(isUrl)
    ? "what lies on a server is fetched by one thread"
    : undefined;
  if (wanted === undefined) {
    // The other half is for the network, and for programs of this machine that ask.
    const half = Math.ceil(navigator.hardwareConcurrency / 2);
    const most = Math.min(half, MOST_UNASKED);
    return (files) => alone === undefined && files < MANY_FILES ? most : 1;
  }
  if (wanted > 1 && alone !== undefined) {
    throw new UsageError(`--workers ${wanted} can't be had: ${alone}`);
  }
  return () => wanted;
}
