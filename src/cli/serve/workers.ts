import { isUrl } from "../../io/remote/remote_location.ts";
import { canSharePorts } from "../../serve/threads/handler_threads.ts";
import { UsageError } from "../exit.ts";

/** Maximum number of threads: each has its own JavaScript heap. */
export const MOST_WORKERS = 64;
/** Maximum by default: threads do not share caches. */
const MOST_UNASKED = 4;
/** Number of files from which the default is one thread: each thread holds all names in memory. */
const MANY_FILES = 1_000_000;

/** Returns the number of threads by the number of files. Throws if `wanted`, given by `--workers`, is impossible. */
export function workersFor(
  wanted: number | undefined,
  given: readonly string[],
): (files: number) => number {
  const alone = !canSharePorts()
    ? "threads share a port only on Linux, where Deno runs with --unstable-net"
    : given.some(isUrl)
    ? "remote containers are fetched by one thread"
    : undefined;
  if (wanted === undefined) {
    // The other half is for the network, and for local clients.
    const half = Math.ceil(navigator.hardwareConcurrency / 2);
    const most = Math.min(half, MOST_UNASKED);
    return (files) => alone === undefined && files < MANY_FILES ? most : 1;
  }
  if (wanted > 1 && alone !== undefined) {
    throw new UsageError(`--workers ${wanted} is not possible: ${alone}`);
  }
  return () => wanted;
}
