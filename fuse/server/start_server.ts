import { DEFAULT_WORKERS } from "../limits.ts";
import { OnceLog } from "../session/once_log.ts";
import { Server, type ServerOptions } from "./server.ts";

/**
 * Starts the thread that will serve a mount first. Programs that have much to load before they mount
 * do this before, since both take their time.
 */
export function startServer(
  { workers, onLog, onTrace, held, counts, onFailure }: {
    readonly [name in keyof ServerOptions]?: ServerOptions[name] | undefined;
  },
): Server {
  // Each thread keeps to one message of a kind; this keeps the threads to one.
  const log = new OnceLog(onLog ?? (() => {}));
  return new Server({
    workers: workers ?? DEFAULT_WORKERS,
    onLog: (message) => log.log(message),
    onTrace,
    held,
    counts,
    onFailure,
  });
}
