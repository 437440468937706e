import { MOST_WORKERS } from "../../../../fuse/limits.ts";
import type { MountCommandOptions } from "./mount_job.ts";

/** A `recordfs mount` command line. */
export interface PlainMount {
  readonly sources: readonly string[];
  readonly mountpoint: string;
  readonly options: MountCommandOptions;
}

/** Short options under their long names. */
const SHORT: Record<string, string> = {
  "-f": "--foreground",
  "-o": "--options",
};

type Collected = {
  -readonly [name in keyof MountCommandOptions]: MountCommandOptions[name];
};

/**
 * Reads a `recordfs mount` command line without the parser of all commands, whose loading takes as
 * long as a mount.
 *
 * @returns What it says, or `undefined` if it is no such line or anything about it is unusual: it is
 * for the other parser then, which knows what to say of it.
 */
export function plainMount(args: readonly string[]): PlainMount | undefined {
  if (args[0] !== "mount") return undefined;
  const lists: string[] = [];
  const modules: string[] = [];
  const options: Collected = { options: lists, verify: true };
  const paths: string[] = [];
  for (let i = 1; i < args.length; i++) {
    const arg = args[i]!;
    if (arg === "--") {
      paths.push(...args.slice(i + 1));
      break;
    }
    if (!arg.startsWith("-")) {
      paths.push(arg);
      continue;
    }
    const equals = arg.startsWith("--") ? arg.indexOf("=") : -1;
    const name = equals < 0 ? SHORT[arg] ?? arg : arg.slice(0, equals);
    if (equals < 0 && setFlag(options, name)) continue;
    const value = equals < 0 ? args[++i] : arg.slice(equals + 1);
    if (value !== undefined && name === "--format-module") modules.push(value);
    else if (value === undefined || !setValue(options, lists, name, value)) {
      return undefined;
    }
  }
  if (modules.length > 0) options.formatModule = modules;
  const mountpoint = paths.pop();
  const areThere = paths.length > 0 || options.sources !== undefined;
  if (mountpoint === undefined || !areThere) return undefined;
  // Which formats there are the other parser knows, and has seen to before the background was started.
  if (options.format !== undefined && options.background === undefined) {
    return undefined;
  }
  return { sources: paths, mountpoint, options };
}

function setFlag(options: Collected, name: string): boolean {
  if (name === "--foreground") options.foreground = true;
  else if (name === "--decoded") options.decoded = true;
  else if (name === "--trace") options.trace = true;
  else if (name === "--no-verify") options.verify = false;
  else return false;
  return true;
}

function setValue(
  options: Collected,
  lists: string[],
  name: string,
  value: string,
): boolean {
  if (name === "--options") lists.push(value);
  else if (name === "--format") options.format = value;
  else if (name === "--ext") options.ext = value;
  else if (name === "--prefix") options.prefix = value;
  else if (name === "--subset") options.subset = value;
  else if (name === "--shuffle") options.shuffle = value;
  else if (name === "--epoch") options.epoch = value;
  else if (name === "--background") options.background = value;
  else if (name === "--sources") options.sources = value;
  else if (name === "--held") options.held = value;
  else if (name === "--counts") options.counts = value;
  else if (name === "--on-failure") {
    if (value !== "dead" && value !== "unmount") return false;
    options.onFailure = value;
  } else if (name === "--workers") {
    options.workers = parseWorkers(value);
    return options.workers !== undefined;
  } else return false;
  return true;
}

/** A number of threads, or `undefined` for what can't be one. */
export function parseWorkers(text: string): number | undefined {
  const count = Number(text);
  return /^[1-9][0-9]?$/.test(text) && count <= MOST_WORKERS
    ? count
    : undefined;
}
