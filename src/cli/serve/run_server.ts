import { RecordfsError } from "../../errors.ts";
import type { ServedSource } from "../../serve/api/sources.ts";
import {
  serve,
  type ServedAddress,
  type ServeOptions,
} from "../../serve/serve.ts";
import { shownLocation } from "../../io/remote/remote_location.ts";
import { check } from "../../vfs/open.ts";
import { inFlags } from "../flag_words.ts";
import { UsageError } from "../exit.ts";
import { Flood, report } from "../messages.ts";
import { parsePlaced } from "../input/given.ts";
import {
  type OpenedSources,
  openSources,
  type SourceOptions,
} from "../input/source.ts";
import { onEndSignal, signalExitCode } from "../terminal/signals.ts";
import type { ServeCommandOptions } from "./serve_options.ts";

/**
 * Serves what a command line names until a signal ends it; a second one ends it at once.
 *
 * @param own How it is served, beside what the options of both commands say.
 * @param ready Called when it answers; what it returns is disposed of at the end.
 */
export async function runServer(
  given: readonly string[],
  options: ServeCommandOptions & SourceOptions,
  own: ServeOptions,
  ready: (server: ServedAddress, name: string) => Promise<Disposable | void>,
): Promise<void> {
  const [first, ...rest] = given;
  const add = rest.length > 0 || isPlaced(first!) ? rest : undefined;
  const opened = await openSources(first!, { ...options, add });
  using _closing = opened.fs;
  const name = given.map(shownLocation).join(", ");
  const errors = new Flood(report, options);
  const server = start(opened, name, {
    ...own,
    token: options.token === false ? null : own.token,
    allowHosts: options.allowHost,
    onError: (error) => errors.add(textOf(error)),
  }, options);
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
  { fs, sources }: OpenedSources,
  name: string,
  served: ServeOptions,
  { format, ext }: ServeCommandOptions,
): ServedAddress {
  const containers = fs.info.containers;
  try {
    return serve(fs, {
      ...served,
      name,
      sources: sources.map(({ location, storage }, i): ServedSource => ({
        location: shownLocation(location),
        path: containers?.[i]?.path ?? "",
        check: (options) =>
          check(location, { ...options, format, ext, storage }),
      })),
    });
  } catch (error) {
    throw error instanceof RecordfsError && error.code === "bad-option"
      ? new UsageError(inFlags(error.message))
      : error;
  }
}

/** Whether it says where to show it: then it is not the root. */
function isPlaced(source: string): boolean {
  return parsePlaced(source).path !== undefined;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
