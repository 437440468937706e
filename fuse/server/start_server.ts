import { DEFAULT_WORKERS } from "../limits.ts";
import { OnceLog } from "../session/once_log.ts";
import { Server, type ServerOptions } from "./server.ts";

/** Starts the first serving thread. Callers with much to load before mounting call this first, to overlap both. */
export function startServer(
  { workers, onLog, onTrace, held, counts, onFailure }: {
    readonly [name in keyof ServerOptions]?: ServerOptions[name] | undefined;
  },
): Server {
  // Each thread logs a message once; this log removes duplicates between threads.
  const log = new OnceLog(onLog ?? (() => {}));
  return new Server({
    workers: workers ?? DEFAULT_WORKERS,
    onLog: (message, options) => log.log(message, options),
    onTrace,
    held,
    counts,
    onFailure,
  });
}
