import { RecordfsError } from "../../base/errors.ts";
import {
  type OtherThreads,
  type ServedAddress,
  serveInThreads,
} from "../../serve/serve.ts";
import { countChosen } from "../../data/trees/chosen_samples.ts";
import type { ServeOptions } from "../../serve/options.ts";
import { keepFreedMemory } from "../../io/libc/new_memory.ts";
import { shownLocation } from "../../io/remote/remote_location.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import { flagMessageOf } from "../flag_words.ts";
import { UsageError } from "../exit.ts";
import { RateLimitedLog, report } from "../messages.ts";
import { remoteOf } from "../input/remote_flags.ts";
import type { SourceOptions } from "../input/source.ts";
import { onEndSignal, signalExitCode } from "../terminal/signals.ts";
import { openDeferred, threadOpener } from "./open_deferred.ts";
import type { ServeCommandOptions } from "./serve_options.ts";

/**
 * Serves the containers of a command line until a signal. A second signal exits at once.
 *
 * @param own Options of this command, in addition to those shared by both commands.
 * @param ready Called when the server answers; its result is disposed of at the end.
 */
export async function runServer(
  given: readonly string[],
  options: ServeCommandOptions & SourceOptions,
  own: ServeOptions,
  workers: (files: number) => number,
  ready: (server: ServedAddress, name: string) => Promise<Disposable | void>,
): Promise<void> {
  keepFreedMemory();
  const opened = await openDeferred({ given, options });
  const { fs, sources } = opened;
  using _closing = fs;
  const count = workers(fs.info.files) - 1;
  const others = count > 0
    ? { count, opener: threadOpener({ given, options }, opened) }
    : undefined;
  const names = given.map(shownLocation).join(", ");
  const name = fs.subset === undefined
    ? names
    : `${names} (${countChosen(fs.subset)})`;
  const errors = new RateLimitedLog(report, options);
  const server = start(fs, {
    ...own,
    name,
    sources,
    token: options.token === false ? null : own.token,
    allowHosts: options.allowHost,
    cache: remoteOf(options).cache,
    onError: (error) => errors.add(flagMessageOf(error)),
  }, others);
  const asked = Promise.withResolvers<void>();
  using _listening = onEndSignal((signal, again) => {
    if (again) Deno.exit(signalExitCode(signal));
    asked.resolve();
  });
  const shown = await ready(server, name);
  try {
    await Promise.race([asked.promise, server.finished]);
  } finally {
    await server.close();
    shown?.[Symbol.dispose]();
    errors.end();
  }
}

function start(
  fs: VirtualFs,
  served: ServeOptions,
  others: OtherThreads | undefined,
): ServedAddress {
  try {
    return serveInThreads(fs, served, others);
  } catch (error) {
    throw error instanceof RecordfsError && error.code === "bad-option"
      ? new UsageError(flagMessageOf(error))
      : error;
  }
}
