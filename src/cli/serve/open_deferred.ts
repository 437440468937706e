import { registeredModules, registerFormat } from "../../formats/registry.ts";
import { shownLocation } from "../../io/remote/remote_location.ts";
import { changedFile } from "../../io/storage/changed_file.ts";
import type { ServedSource } from "../../serve/options.ts";
import type {
  OpenedToServe,
  ThreadOpener,
} from "../../serve/threads/messages.ts";
import { checkFiles } from "../../open/check_files.ts";
import { checkShown } from "../../open/check_shown.ts";
import { check } from "../../open/open.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import { parsePlaced } from "../input/given.ts";
import { openSources, type SourceOptions } from "../input/source.ts";
import type { ServeCommandOptions } from "./serve_options.ts";

/** Containers and options of a command line; can be sent by `postMessage`. */
export interface GivenToServe {
  readonly given: readonly string[];
  readonly options: ServeCommandOptions & SourceOptions;
}

export async function openDeferred(
  { given, options }: GivenToServe,
): Promise<OpenedToServe> {
  const [first, ...rest] = given;
  const add = rest.length > 0 || isPlaced(first!) ? rest : undefined;
  const { fs, sources } = await openSources(first!, { ...options, add });
  const { format, ext, maxRatio, nested } = options;
  const containers = fs.info.containers;
  return {
    fs,
    sources: sources.map(({ location, storage }, i): ServedSource => {
      const path = containers?.[i]?.path ?? "";
      return {
        location: shownLocation(location),
        path,
        check: (options) => {
          if (fs.subset !== undefined) return checkShown(fs, path, options);
          // What is nested is checked as it is shown.
          if (nested !== undefined) return checkFiles(fs, options, path);
          const own = { ...options, format, ext, maxRatio, storage };
          return check(location, own);
        },
      };
    }),
  };
}

/** Message to another thread, for opening the same. */
interface ThreadData extends GivenToServe {
  readonly formats: readonly string[];
  readonly state: string;
}

/** Returns how other threads open what this one has opened, in the same state. */
export function threadOpener(
  given: GivenToServe,
  { fs }: OpenedToServe,
): ThreadOpener {
  const formats = registeredModules();
  const options = { ...given.options, chosen: fs.subset?.indices };
  const data: ThreadData = { ...given, options, formats, state: stateOf(fs) };
  return { module: import.meta.url, data };
}

/** Opens what another thread has opened. Throws if it has changed: two threads would serve two versions. */
export async function openInThread(data: unknown): Promise<OpenedToServe> {
  const { given, options, formats, state } = data as ThreadData;
  for (const format of formats) await registerFormat(format);
  const opened = await openDeferred({
    given,
    options: { ...options, isAgain: true },
  });
  if (stateOf(opened.fs) === state) return opened;
  const path = opened.fs.location;
  opened.fs.close();
  throw changedFile(path);
}

/** Identifies the state of a local container. */
function stateOf(fs: VirtualFs): string {
  return JSON.stringify([fs.statSync("").mtime, fs.info]);
}

/** Whether a source has a PATH, so that it is not the root. */
function isPlaced(source: string): boolean {
  return parsePlaced(source).path !== undefined;
}
