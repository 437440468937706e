import type { RecordfsError } from "../../src/base/errors.ts";
import { sizeOf } from "../../src/base/size_text.ts";
import { MountError } from "./mount_error.ts";

/** Options to mount a container. */
export interface MountOptions {
  /** Allows access by users other than the mounting one. */
  readonly allowOther?: boolean | undefined;
  /** Mounts over a directory that is not empty. */
  readonly nonEmpty?: boolean | undefined;
  /** Forbids running programs from the mount. */
  readonly noExec?: boolean | undefined;
  /** Owner of all files. Defaults to the mounting user. */
  readonly uid?: number | undefined;
  /** Group of all files. Defaults to that of the mounting user. */
  readonly gid?: number | undefined;
  /** Permission bits to remove from 0644 for files and 0755 for directories. */
  readonly umask?: number | undefined;
  /** Name of the mounted device. Defaults to the container's path. */
  readonly fsname?: string | undefined;
  /** File-system type after `fuse.`. Defaults to `recordfs`. */
  readonly subtype?: string | undefined;
  /** Largest read that the kernel may request, in bytes. */
  readonly maxRead?: number | undefined;
  /**
   * Whether to verify a file's checksum, if the container has one, before its first read. A mismatch is
   * an I/O error. Defaults to `true`.
   */
  readonly verify?: boolean | undefined;
  /** Number of serving threads, 1 to 64. Defaults to the number of processors, but at least 2 and at most 8. */
  readonly workers?: number | undefined;
  /** Called once for each distinct message about a failure while serving. */
  readonly onLog?:
    | ((message: string, options?: RecordfsError["namedOptions"]) => void)
    | undefined;
  /** Called with a line for each request of the kernel. Slows the mount down. */
  readonly onTrace?: ((line: string) => void) | undefined;
}

/** Mount options that the command takes after `-o`. */
export type KernelOptions = Omit<
  MountOptions,
  "workers" | "onLog" | "onTrace"
>;

/**
 * Options that mount(8) and fstab(5) accept for any file system, or for any FUSE file system, and that have no
 * effect here: the mount is read-only, without set-user-id programs, devices or access times, and permission bits
 * always apply; the rest concerns mount(8) itself.
 */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(
  [
    "ro rw suid nosuid dev nodev async sync dirsync exec",
    "atime noatime diratime nodiratime relatime norelatime strictatime nostrictatime lazytime",
    "nolazytime iversion noiversion mand nomand symfollow nosymfollow silent loud",
    "auto noauto user nouser users owner group nofail _netdev defaults default_permissions",
  ].join(" ").split(" "),
);

/** Options with an effect, for messages. */
const KNOWN: readonly string[] =
  "allow_other nonempty noexec verify no_verify uid= gid= umask= max_read= fsname= subtype="
    .split(" ");

type Collected = {
  -readonly [name in keyof KernelOptions]: KernelOptions[name];
};

/**
 * Parses the list after `-o`: options separated by commas. A backslash escapes the next character.
 *
 * @param others Options that the caller has already removed from the list; the message about an unknown option
 * lists them as well.
 * @throws {MountError} If an option is unknown or has an invalid value.
 */
export function parseMountOptions(
  list: string,
  others: readonly string[] = [],
): KernelOptions {
  const options: Collected = {};
  for (const option of split(list)) {
    const equals = option.indexOf("=");
    const name = equals < 0 ? option : option.slice(0, equals);
    const isKnown = equals < 0
      ? applyWord(name, options)
      : applyValue(name, option.slice(equals + 1), options);
    if (!isKnown) throw unknown(name, others);
  }
  return options;
}

/** @returns Whether the option is known. */
function applyWord(word: string, options: Collected): boolean {
  if (word === "allow_other") options.allowOther = true;
  else if (word === "nonempty") options.nonEmpty = true;
  else if (word === "noexec") options.noExec = true;
  else if (word === "verify") options.verify = true;
  else if (word === "no_verify") options.verify = false;
  else if (word === "exec") options.noExec = false; // the last of contradictory options wins
  else return WITHOUT_EFFECT.has(word) || isPrivate(word);
  return true;
}

/** @returns Whether the option is known. */
function applyValue(
  name: string,
  value: string,
  options: Collected,
): boolean {
  if (name === "uid") options.uid = integer(name, value, 10, LARGEST.uid);
  else if (name === "gid") options.gid = integer(name, value, 10, LARGEST.gid);
  else if (name === "umask") {
    options.umask = integer(name, value, 8, LARGEST.umask);
  } else if (name === "max_read") {
    const bytes = sizeOf(value);
    options.maxRead = bytes === undefined || bytes > LARGEST.maxRead
      ? integer(name, value, 10, LARGEST.maxRead)
      : bytes;
  } else if (name === "fsname") options.fsname = checkText(name, value);
  else if (name === "subtype") options.subtype = checkText(name, value);
  // mount(8) adds user=NAME for unprivileged mounts; comment= is for people and older tools.
  else return name === "user" || name === "comment" || isPrivate(name);
  return true;
}

/** Whether an option is meant for user-space programs, such as `x-systemd.automount`. */
function isPrivate(name: string): boolean {
  return /^x-/i.test(name);
}

function split(list: string): string[] {
  const options: string[] = [];
  let option = "";
  for (let i = 0; i < list.length; i++) {
    if (list[i] === "\\" && i + 1 < list.length) option += list[++i];
    else if (list[i] !== ",") option += list[i];
    else {
      options.push(option);
      option = "";
    }
  }
  options.push(option);
  return options.filter((option) => option !== ""); // "a,,b" is common in scripts
}

function integer(
  name: string,
  value: string,
  radix: 8 | 10,
  largest: number,
): number {
  const digits = radix === 8 ? /^[0-7]+$/ : /^[0-9]+$/;
  const number = parseInt(value, radix);
  if (digits.test(value) && number <= largest) return number;
  const kind = radix === 8 ? "an octal number" : "a number";
  throw new MountError(
    "bad-option",
    `Cannot mount with ${name}=${value}: it must be ${kind} from 0 to ${
      largest.toString(radix)
    }`,
    { actual: value },
  );
}

function unknown(name: string, others: readonly string[]): MountError {
  const known = [...KNOWN, ...others].join(", ");
  return new MountError(
    "bad-option",
    `Cannot mount with option '${name}': it is unknown. Known are ${known} and the standard options of mount(8)`,
    { actual: name },
  );
}

/** Largest 32-bit id; all bits set means "no id" in the kernel. */
const LARGEST_ID = 0xffff_fffe;

/** Largest values of the numeric options; the smallest is 0. */
export const LARGEST = {
  uid: LARGEST_ID,
  gid: LARGEST_ID,
  umask: 0o777,
  maxRead: 0xffff_ffff,
} as const;

/**
 * Checks options given through the API, by the rules of `-o`.
 *
 * @throws {MountError} If an option has an invalid value.
 */
export function checkKernelOptions(options: KernelOptions): void {
  for (const name of Object.keys(LARGEST) as (keyof typeof LARGEST)[]) {
    checkInteger(name, options[name], 0, LARGEST[name]);
  }
  if (options.fsname !== undefined) checkText("fsname", options.fsname);
  if (options.subtype !== undefined) checkText("subtype", options.subtype);
}

/** @throws {MountError} If the option is given but not an integer in the range. */
export function checkInteger(
  name: string,
  value: number | undefined,
  smallest: number,
  largest: number,
): void {
  if (value === undefined) return;
  if (Number.isInteger(value) && value >= smallest && value <= largest) return;
  throw new MountError(
    "bad-option",
    `Cannot mount with ${name} ${value}: it must be an integer from ${smallest} to ${largest}`,
    { actual: value },
  );
}

/** @throws {MountError} If the value is empty or contains a NUL. */
export function checkText(name: string, value: string): string {
  if (value !== "" && !value.includes("\0")) return value;
  throw new MountError(
    "bad-option",
    value === ""
      ? `Cannot mount with ${name}=: it needs a value`
      : `Cannot mount with ${name}=${JSON.stringify(value)}: it contains a NUL`,
    { actual: value },
  );
}
