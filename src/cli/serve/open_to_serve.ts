import type { ServedSource } from "../../serve/api/sources.ts";
import type { OpenedToServe } from "../../serve/threads/messages.ts";
import { shownLocation } from "../../io/remote/remote_location.ts";
import { check } from "../../vfs/open.ts";
import { parsePlaced } from "../input/given.ts";
import { openSources, type SourceOptions } from "../input/source.ts";
import type { ServeCommandOptions } from "./serve_options.ts";

/** What a command line says of what is to be served; it survives `postMessage`. */
export interface GivenToServe {
  readonly given: readonly string[];
  readonly options: ServeCommandOptions & SourceOptions;
}

/** Opens what a command line names, to be served. */
export async function openToServe(
  { given, options }: GivenToServe,
): Promise<OpenedToServe> {
  const [first, ...rest] = given;
  const add = rest.length > 0 || isPlaced(first!) ? rest : undefined;
  const { fs, sources } = await openSources(first!, { ...options, add });
  const { format, ext } = options;
  const containers = fs.info.containers;
  return {
    fs,
    sources: sources.map(({ location, storage }, i): ServedSource => ({
      location: shownLocation(location),
      path: containers?.[i]?.path ?? "",
      check: (options) => check(location, { ...options, format, ext, storage }),
    })),
  };
}

/** {@linkcode openToServe} of another thread: as threads of a server call it. */
export function openInThread(
  { given, options }: GivenToServe,
): Promise<OpenedToServe> {
  return openToServe({ given, options: { ...options, isAgain: true } });
}

/** Whether it says where to show it: then it is not the root. */
function isPlaced(source: string): boolean {
  return parsePlaced(source).path !== undefined;
}
