import { UsageError } from "../../exit.ts";
import {
  parseAddressing,
  parseRequests,
  parseSeconds,
  parseSize,
  type RemoteFlags,
} from "../../input/remote_flags.ts";
import type { MountJob, ShownOptions } from "./mount_job.ts";

/** Flags that mount(8) passes to any helper and that mean nothing here: sloppy, no mtab, verbose. */
const IGNORED = /^-[snv]+$/;

/** Options after `-o` that have a value and are about what shows. */
const VALUED: readonly string[] = [
  "format",
  "format_module",
  "ext",
  "prefix",
  "subset",
  "shuffle",
  "epoch",
  "on_failure",
];
const VALUED_OPTION = new RegExp(`^(${VALUED.join("|")})=(.*)$`, "s");

/** Those about servers that a container lies on, as they are called on the command line. */
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

/** What {@linkcode takeSourceOptions} takes, as it is written after `-o`. */
export const SOURCE_OPTIONS: readonly string[] = [
  "decoded",
  ...VALUED.map((name) => `${name}=`),
  ...Object.keys(REMOTE_FLAGS),
  ...Object.keys(REMOTE).map((name) => `${name}=`),
];

/**
 * Turns `recordfs SOURCE MOUNTPOINT [-o OPTIONS]` into `mount …`.
 *
 * mount(8) and mount.fuse3(8) run a filesystem's program in this form, for `mount -t fuse.recordfs`
 * and for /etc/fstab. Where those say `defaults`, `rw` arrives here: it is left out, since nobody asked
 * for it.
 *
 * @param commands Names that make it a command line of the usual form.
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
  // A mistyped command should be called that, not a missing container.
  if (!/[/.]/.test(first) && !args.includes("-o")) return args;
  return ["mount", ...helperArguments(args)];
}

function helperArguments(args: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (IGNORED.test(arg)) continue;
    if (arg === "-t") i++; // the type, which is why this program runs
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

/**
 * Refuses `rw` in the list after `-o` of `recordfs mount`.
 *
 * @throws {UsageError} If it is there.
 */
export function refuseWritable(list: string): void {
  if (!optionsIn(list).includes("rw")) return;
  throw new UsageError(
    "-o rw: containers are read-only, and so are their mounts; leave it out",
  );
}

/** Options separated by commas; a backslash makes the next character part of a value. */
function optionsIn(list: string): readonly string[] {
  return list.match(/(?:\\.|[^,\\])+/gs) ?? [];
}

/**
 * Takes the options of a container, such as `format=` and `decoded`, out of the list after `-o`: in /etc/fstab
 * there is no other place for them. Backslashes stay as they are, for the parser of the other options.
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
    else if (option === "decoded") taken[option] = true;
    else if (name === undefined || value === undefined) rest.push(option);
    else if (name === "on_failure") taken.onFailure = parseOnFailure(value);
    else if (value === "") throw new UsageError(`-o ${name}= needs a value`);
    else {
      const text = value.replaceAll(/\\(.)/gs, "$1");
      if (name === "format_module") formatModule.push(text);
      else taken[name] = text;
    }
  }
  if (formatModule.length > 0) taken.formatModule = formatModule;
  return { ...taken, rest: rest.join(",") };
}

/** What an option says of servers; `undefined` where it is none of those. */
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
