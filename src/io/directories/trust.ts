import { RecordfsError } from "../../base/errors.ts";
import { libcIfPermitted } from "../libc/libc.ts";
import type { EntryFacts } from "./directory.ts";

/** A directory or file that somebody who is not trusted may have made, or may change. */
export class NotTrustedError extends RecordfsError<"not-trusted"> {
  /** Which one, and what is wrong with it, such as `/tmp/x belongs to user 1000`. */
  readonly reason: string;

  /** @param what What is wrong with it, such as `belongs to user 1000`. */
  constructor(path: string, what: string, cause?: unknown) {
    super("not-trusted", `Cannot use ${path}: it ${what}`, { path, cause });
    this.reason = `${path} ${what}`;
  }
}

/** What opens, or `undefined` where it is not of those who are trusted: it is left alone then. */
export function unlessForeign<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch (error) {
    if (error instanceof NotTrustedError) return undefined;
    throw error;
  }
}

/** Whom a directory is shared with. */
export interface Trust {
  /** Whether its owner and its group are trusted as the user is. */
  readonly isShared: boolean;
}

/** Who is trusted. */
export interface Trusted extends Trust {
  /** The user; `undefined` as long as it is not known. */
  readonly uid: number | undefined;
  /** Owner of the directory that all paths begin at: the system. */
  readonly system: number | undefined;
  /** Owner and group of the directory itself. */
  readonly owner?: number | undefined;
  readonly gid?: number | undefined;
}

const STICKY = 0o1000;
const GROUP_WRITES = 0o020;
const ALL_WRITE = 0o002;

/** Whether anybody may make entries in a directory: a sticky one, such as `/tmp`, included. */
export function isOpenToAll({ mode }: EntryFacts): boolean {
  return (mode & ALL_WRITE) !== 0;
}

/** Why others could exchange what a directory holds that is on the way; `undefined` where they cannot. */
export function whyNotAbove(
  facts: EntryFacts,
  trusted: Trusted,
  isInOpen: boolean,
): string | undefined {
  const { mode } = facts;
  // In a sticky one nobody touches the entries of others.
  return whyForeign(facts, trusted, isInOpen) ??
    ((mode & STICKY) !== 0 ? undefined : whyWritable(mode, trusted));
}

/** Why a symbolic link on the way may lead where somebody else wants. */
export function whyNotLink(
  facts: EntryFacts,
  trusted: Trusted,
  isInOpen: boolean,
): string | undefined {
  return whyForeign(facts, trusted, isInOpen) &&
    `is a symbolic link of user ${facts.uid}`;
}

/** Why a directory is not the user's own, or not that of a group where it is shared. */
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

/** Why an entry below such a directory is not of those who are trusted, or another thing than it should be. */
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
  // A second one may be that of any file of the user's.
  if (kind === "file" && links !== 1) return `has ${links} names (hard links)`;
  return whyWritable(mode, trusted);
}

const NOT_THAT = {
  file: "is not a regular file",
  directory: "is not a directory",
} as const;

/** @param isInOpen Whether anybody may have made it: then it must be of a group of the user's. */
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

/** As many groups as a process of Linux has at most. */
const MOST_GROUPS = 65_536;

/** Groups of this process; what is shared is refused without the C library. */
function ownGroups(): readonly number[] {
  const libc = libcIfPermitted()!;
  const groups = new Uint32Array(MOST_GROUPS);
  const count = libc.getgroups(MOST_GROUPS, groups);
  return [libc.getegid(), ...groups.subarray(0, Math.max(0, count))];
}

let uid: number | undefined;

/**
 * The user whose permissions files are opened with.
 *
 * @param directory Where a file may be made to find out, if the program may not ask; without it, that stays unknown.
 */
export function ownUid(directory?: string): number | undefined {
  if (uid !== undefined) return uid;
  const libc = libcIfPermitted();
  if (libc !== undefined) return libc.geteuid(); // it may change, as in a server that gives up its privileges
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
