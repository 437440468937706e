import { MOST_WORKERS } from "../../../../fuse/limits.ts";
import { parseNested } from "../../input/nested_flag.ts";
import type { MountCommandOptions } from "./mount_job.ts";

export interface PlainMount {
  readonly sources: readonly string[];
  readonly mountpoint: string;
  readonly options: MountCommandOptions;
}

/** Parses an option's value; returns `undefined` if the full parser must handle it. */
type Reader = (
  text: string,
  before: MountCommandOptions,
) => Partial<MountCommandOptions> | undefined;

/** Options whose value is taken verbatim. */
const TEXTS = ["format", "ext", "prefix", "subset", "shuffle", "epoch"]
  .concat("background", "sources", "held", "counts");

/** Flags with their meaning, and options with the parsers of their values. */
const OPTIONS: Readonly<Record<string, Partial<MountCommandOptions> | Reader>> =
  {
    "-f": { foreground: true },
    "--foreground": { foreground: true },
    "--decoded": { decoded: true },
    "--nested": (list) => ({ nested: parseNested(list) }),
    "--strip-suffix": { stripSuffix: true },
    "--trace": { trace: true },
    "--hidden": { hidden: true },
    "--no-verify": { verify: false },
    "-o": addOptions,
    "--options": addOptions,
    "--format-module": (file, { formatModule = [] }) => ({
      formatModule: [...formatModule, file],
    }),
    "--on-failure": (what) =>
      what === "dead" || what === "unmount" ? { onFailure: what } : undefined,
    "--max-ratio": (text) =>
      /^[1-9][0-9]{0,9}$/.test(text) ? { maxRatio: Number(text) } : undefined,
    "--workers": (text) =>
      /^[1-9][0-9]?$/.test(text) && Number(text) <= MOST_WORKERS
        ? { workers: Number(text) }
        : undefined,
    ...Object.fromEntries(
      TEXTS.map((name) => [`--${name}`, (text: string) => ({ [name]: text })]),
    ),
  };

function addOptions(
  list: string,
  { options }: MountCommandOptions,
): Partial<MountCommandOptions> {
  return { options: [...options, list] };
}

/**
 * Parses a `recordfs mount` command line without the full parser, whose loading takes as long as a mount.
 *
 * @returns `undefined` if it is another command or anything about it is unusual; the full parser then handles it, and
 * reports errors.
 */
export function plainMount(args: readonly string[]): PlainMount | undefined {
  if (args[0] !== "mount") return undefined;
  let options: MountCommandOptions = {
    options: [],
    verify: true,
    cache: true,
  };
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
    const name = equals < 0 ? arg : arg.slice(0, equals);
    let said = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
    if (typeof said === "function") {
      const follows = equals < 0 && name !== "--nested"; // which has a value only after =
      const value = follows ? args[++i] : arg.slice(name.length + 1);
      said = value === undefined ? undefined : said(value, options);
    } else if (equals >= 0) return undefined; // a flag has no value
    if (said === undefined) return undefined;
    options = { ...options, ...said };
  }
  const mountpoint = paths.pop();
  const areThere = paths.length > 0 || options.sources !== undefined ||
    options.hidden === true;
  if (mountpoint === undefined || !areThere) return undefined;
  // Only the full parser knows the formats; it has checked the option before it started the background process.
  if (options.format !== undefined && options.background === undefined) {
    return undefined;
  }
  return { sources: paths, mountpoint, options };
}
