import { UsageError } from "../../exit.ts";
import {
  parseAddressing,
  parseRequests,
  parseSeconds,
  parseSize,
  type RemoteFlags,
} from "../../input/remote_flags.ts";
import { parseNested } from "../../input/nested_flag.ts";
import type { MountJob, ShownOptions } from "./mount_job.ts";

/** Flags that mount(8) passes to any helper and that have no effect here: sloppy, no mtab, verbose. */
const IGNORED = /^-[snv]+$/;

/** Options after `-o` that select what is shown, and have a value. */
const VALUED: readonly string[] = [
  "format",
  "format_module",
  "ext",
  "nested",
  "prefix",
  "subset",
  "shuffle",
  "epoch",
  "on_failure",
];
const VALUED_OPTION = new RegExp(`^(${VALUED.join("|")})=(.*)$`, "s");

/** Options after `-o` for remote containers, named as on the command line. */
const REMOTE: Readonly<
  Record<string, (text: string) => Partial<RemoteFlags>>
> = {
  "header-file": (headerFile) => ({ headerFile }),
  cacert: (cacert) => ({ cacert }),
  endpoint: (endpoint) => ({ endpoint }),
  addressing: (text) => ({ addressing: parseAddressing(text) }),
  region: (region) => ({ region }),
  profile: (profile) => ({ profile }),
  "cache-dir": (cacheDir) => ({ cacheDir }),
  "cache-size": (text) => ({ cacheSize: parseSize(text) }),
  timeout: (text) => ({ timeout: parseSeconds(text) }),
  "max-requests": (text) => ({ maxRequests: parseRequests(text) }),
};
const REMOTE_FLAGS: Readonly<Record<string, RemoteFlags>> = {
  anonymous: { anonymous: true },
  "requester-pays": { requesterPays: true },
  "cache-shared": { cacheShared: true },
  "no-cache": { cache: false },
};

/** Other options after `-o` without a value that select what is shown. */
const FLAGS: Readonly<Record<string, ShownOptions>> = {
  decoded: { decoded: true },
  nested: { nested: true },
  "strip_suffix": { stripSuffix: true },
};

/** Options of {@linkcode takeSourceOptions}, as written after `-o`. */
export const SOURCE_OPTIONS: readonly string[] = [
  ...Object.keys(FLAGS),
  ...VALUED.map((name) => `${name}=`),
  ...Object.keys(REMOTE_FLAGS),
  ...Object.keys(REMOTE).map((name) => `${name}=`),
];

/**
 * Rewrites `recordfs SOURCE MOUNTPOINT [-o OPTIONS]` as `mount …`.
 *
 * mount(8) and mount.fuse3(8) call a file system's program in this form, for `mount -t fuse.recordfs` and for
 * /etc/fstab. They turn `defaults` into `rw`, which is dropped, since the user did not ask for it.
 *
 * @param commands Names of commands; a line that begins with one is not rewritten.
 */
export function mountCommandLine(
  args: readonly string[],
  commands: readonly string[],
): readonly string[] {
  const [first, second] = args;
  if (first === undefined || first.startsWith("-")) return args;
  if (second === undefined || commands.includes(first) || first === "help") {
    return args;
  }
  // A mistyped command should be reported as such, not as a missing container.
  if (!/[/.]/.test(first) && !args.includes("-o")) return args;
  return ["mount", ...helperArguments(args)];
}

function helperArguments(args: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (IGNORED.test(arg)) continue;
    if (arg === "-t") i++; // the type, by which mount(8) chose this program
    else if (arg === "-o" && args[i + 1] !== undefined) {
      kept.push(arg, withoutWritable(args[++i]!));
    } else if (arg.startsWith("-o")) {
      kept.push("-o", withoutWritable(arg.slice(2)));
    } else kept.push(arg);
  }
  return kept;
}

function withoutWritable(list: string): string {
  return optionsIn(list).filter((option) => option !== "rw").join(",");
}

/** @throws {UsageError} If the `-o` list of `recordfs mount` contains `rw`. */
export function refuseWritable(list: string): void {
  if (!optionsIn(list).includes("rw")) return;
  throw new UsageError(
    "-o rw is not possible: mounts are read-only",
  );
}

/** Splits at commas; a backslash escapes the next character. */
function optionsIn(list: string): readonly string[] {
  return list.match(/(?:\\.|[^,\\])+/gs) ?? [];
}

/**
 * Extracts the options of a container, such as `format=` and `decoded`, from the list after `-o`: /etc/fstab has no
 * other place for them. Backslashes in the rest stay, for the parser of the other options.
 */
export function takeSourceOptions(
  list: string,
): ShownOptions & RemoteFlags & { readonly rest: string } {
  const taken: Record<string, unknown> = {};
  const formatModule: string[] = [];
  const rest: string[] = [];
  for (const option of optionsIn(list)) {
    const [, name, value] = VALUED_OPTION.exec(option) ?? [];
    const remote = remoteFlag(option);
    if (remote !== undefined) Object.assign(taken, remote);
    else if (Object.hasOwn(FLAGS, option)) Object.assign(taken, FLAGS[option]);
    else if (name === undefined || value === undefined) rest.push(option);
    else if (name === "on_failure") taken.onFailure = parseOnFailure(value);
    else if (value === "") throw new UsageError(`-o ${name}= needs a value`);
    else {
      const text = value.replaceAll(/\\(.)/gs, "$1");
      if (name === "format_module") formatModule.push(text);
      else if (name === "nested") taken.nested = parseNested(text);
      else taken[name] = text;
    }
  }
  if (formatModule.length > 0) taken.formatModule = formatModule;
  return { ...taken, rest: rest.join(",") };
}

/** Parses a remote option; returns `undefined` for any other option. */
function remoteFlag(option: string): RemoteFlags | undefined {
  if (Object.hasOwn(REMOTE_FLAGS, option)) return REMOTE_FLAGS[option];
  const equals = option.indexOf("=");
  const name = option.slice(0, Math.max(0, equals));
  if (!Object.hasOwn(REMOTE, name)) return undefined;
  const value = option.slice(equals + 1).replaceAll(/\\(.)/gs, "$1");
  if (value === "") throw new UsageError(`-o ${name}= needs a value`);
  try {
    return REMOTE[name]!(value);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`-o ${name}=${value}: ${error.message}`);
  }
}

function parseOnFailure(value: string): MountJob["onFailure"] {
  if (value === "dead" || value === "unmount") return value;
  throw new UsageError(`-o on_failure=${value}: it must be dead or unmount`);
}
