import { RecordfsError } from "../../base/errors.ts";
import { libcIfPermitted } from "../libc/libc.ts";
import type { EntryFacts } from "./directory.ts";

/** A directory or file that an untrusted user may have created or may change. */
export class NotTrustedError extends RecordfsError<"not-trusted"> {
  /** Path and fault, such as `/tmp/x belongs to user 1000`. */
  readonly reason: string;

  /** @param what What is wrong, such as `belongs to user 1000`. */
  constructor(path: string, what: string, cause?: unknown) {
    super("not-trusted", `Cannot use ${path}: it ${what}`, { path, cause });
    this.reason = `${path} ${what}`;
  }
}

/** Returns what `open` opens, or `undefined` on a {@linkcode NotTrustedError}. */
export function unlessForeign<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch (error) {
    if (error instanceof NotTrustedError) return undefined;
    throw error;
  }
}

export interface Trust {
  /** Whether the directory's owner and group are trusted like the user. */
  readonly isShared: boolean;
}

/** Trusted users. */
export interface Trusted extends Trust {
  /** The user; `undefined` if not known yet. */
  readonly uid: number | undefined;
  readonly system: number | undefined;
  readonly owner?: number | undefined;
  readonly gid?: number | undefined;
}

const STICKY = 0o1000;
const GROUP_WRITES = 0o020;
const ALL_WRITE = 0o002;

/** Whether anybody may create entries in a directory; also true for sticky ones, such as `/tmp`. */
export function isOpenToAll({ mode }: EntryFacts): boolean {
  return (mode & ALL_WRITE) !== 0;
}

/** Returns why others could replace an entry of a directory on the path; `undefined` if they cannot. */
export function whyNotAbove(
  facts: EntryFacts,
  trusted: Trusted,
  isInOpen: boolean,
): string | undefined {
  const { mode } = facts;
  // In a sticky directory, nobody can replace the entries of others.
  return whyForeign(facts, trusted, isInOpen) ??
    ((mode & STICKY) !== 0 ? undefined : whyWritable(mode, trusted));
}

/** Returns why a symbolic link on the path may be an untrusted user's. */
export function whyNotLink(
  facts: EntryFacts,
  trusted: Trusted,
  isInOpen: boolean,
): string | undefined {
  return whyForeign(facts, trusted, isInOpen) &&
    `is a symbolic link of user ${facts.uid}`;
}

/** Returns why a directory is not the user's own, or, if shared, not that of a trusted group. */
export function whyNotOwn(
  facts: EntryFacts,
  trusted: Trusted,
  isInOpen: boolean,
): string | undefined {
  const { uid, mode } = facts;
  const reason = trusted.isShared
    ? whyForeign(facts, trusted, isInOpen)
    : uid === trusted.uid
    ? undefined
    : belongsTo(uid);
  return reason ?? whyWritable(mode, trusted);
}

/** Returns why an entry in such a directory is not a trusted user's, or not of the expected kind. */
export function whyNotEntry(
  { kind, uid, gid, mode, links }: EntryFacts,
  expected: "file" | "directory",
  trusted: Trusted,
): string | undefined {
  if (kind === "symlink") return "is a symbolic link";
  if (kind !== expected) return NOT_THAT[expected];
  const isGroups = trusted.isShared &&
    (uid === trusted.owner || uid === 0 || gid === trusted.gid);
  if (uid !== trusted.uid && !isGroups) return belongsTo(uid);
  // A second hard link may be any file of the user.
  if (kind === "file" && links !== 1) return `has ${links} names (hard links)`;
  return whyWritable(mode, trusted);
}

const NOT_THAT = {
  file: "is not a regular file",
  directory: "is not a directory",
} as const;

/** @param isInOpen Whether anybody may have created it. It must then belong to one of the user's groups. */
function whyForeign(
  { uid, gid }: EntryFacts,
  trusted: Trusted,
  isInOpen: boolean,
): string | undefined {
  if (trusted.uid === undefined) return undefined;
  if ([trusted.uid, 0, trusted.system].includes(uid)) return undefined;
  const isGroups = trusted.isShared && (!isInOpen || ownGroups().includes(gid));
  return isGroups ? undefined : belongsTo(uid);
}

function belongsTo(uid: number): string {
  return `belongs to user ${uid}`;
}

function whyWritable(mode: number, { isShared }: Trust): string | undefined {
  if ((mode & ALL_WRITE) !== 0) {
    return "can be written by everybody (chmod o-w forbids that)";
  }
  return !isShared && (mode & GROUP_WRITES) !== 0
    ? "can be written by its group (chmod g-w forbids that)"
    : undefined;
}

const MOST_GROUPS = 65_536;

/** Returns this process's groups. Only shared directories need them, and those need the C library. */
function ownGroups(): readonly number[] {
  const libc = libcIfPermitted()!;
  const groups = new Uint32Array(MOST_GROUPS);
  const count = libc.getgroups(MOST_GROUPS, groups);
  return [libc.getegid(), ...groups.subarray(0, Math.max(0, count))];
}

let uid: number | undefined;

/**
 * Returns the effective user; `undefined` if the program may not ask, unless a temporary file may be created in
 * `directory` to find out.
 */
export function ownUid(directory?: string): number | undefined {
  if (uid !== undefined) return uid;
  const libc = libcIfPermitted();
  if (libc !== undefined) return libc.geteuid(); // may change: a server may drop its privileges
  const { state } = Deno.permissions.querySync({ name: "sys", kind: "uid" });
  if (state === "granted") return uid = Deno.uid() ?? undefined;
  if (directory === undefined) return undefined;
  const path = Deno.makeTempFileSync({ dir: directory, prefix: ".recordfs-" });
  try {
    return uid = Deno.lstatSync(path).uid ?? undefined;
  } finally {
    Deno.removeSync(path);
  }
}
