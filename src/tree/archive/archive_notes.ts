/**
 * Parts of an archive that are not served as stored: skipped members, and members that are listed but unreadable. All
 * archive formats report them through this module, in one form.
 *
 * @module
 */
import { FormatError, type RecordfsError } from "../../base/errors.ts";
import { decodeName } from "../../base/names.ts";
import type {
  ContainerInfo,
  MemberKind,
  SkippedMember,
  SkipReason,
  UnreadableMember,
} from "../format.ts";

/** Maximum number of members listed individually per archive; the rest are only counted. */
const MOST_LISTED = 10_000;
const LONGEST_LISTED = 4096;

/** Skipped members, as recorded in an archive's index: plain data, cached with the index. */
export interface SkippedMembers {
  readonly listed: readonly SkippedMember[];
  readonly count: number;
  /** Number of members, skipped ones included, whose names began with `/`. */
  readonly absolute: number;
}

export interface ArchiveNotes {
  readonly archive: string;
  readonly skipped: SkippedMembers;
  /** The first members known to be unreadable, and the number of all. */
  readonly unreadable: {
    readonly listed: readonly UnreadableMember[];
    readonly count: number;
  };
}

/** Collects the skipped members of an archive. */
export class SkippedList implements SkippedMembers {
  readonly listed: SkippedMember[] = [];
  count = 0;
  absolute = 0;
  readonly #archive: string;
  readonly #onSkip: ((member: SkippedMember) => void) | undefined;

  /** @param onSkip Called with every skipped member, including those beyond the listing limit. */
  constructor(archive: string, onSkip?: (member: SkippedMember) => void) {
    this.#archive = archive;
    this.#onSkip = onSkip;
  }

  /** @param why Completes the sentence "The member …". */
  add(
    name: Uint8Array,
    kind: MemberKind,
    reason: SkipReason,
    why: string,
  ): void {
    this.count++;
    const isListed = this.listed.length < MOST_LISTED;
    if (!isListed && this.#onSkip === undefined) return;
    const shown = listedName(name);
    const archive = this.#archive;
    const message = `${archive}: '${shown}' is skipped: it ${why}`;
    const member = { archive, name: shown, kind, reason, message };
    if (isListed) this.listed.push(member);
    this.#onSkip?.(member);
  }

  /** Adds a part that is skipped because of damage. */
  addDamaged(name: Uint8Array, kind: MemberKind, error: RecordfsError): void {
    if (++this.count > MOST_LISTED) return;
    this.listed.push({
      archive: error.path ?? this.#archive,
      name: listedName(name),
      kind,
      reason: "damaged",
      message: `Skipped: ${error.message}`,
    });
  }

  get facts(): SkippedMembers {
    const { listed, count, absolute } = this;
    return { listed, count, absolute };
  }
}

function listedName(name: Uint8Array): string {
  if (name.length <= LONGEST_LISTED) return decodeName(name);
  return `${decodeName(name, 0, LONGEST_LISTED)}…`;
}

/** Lists unreadable records, in the archive's order, with the errors that reading them throws. */
export function listUnreadable(
  archive: string,
  records: Iterable<number>,
  errorOf: (record: number) => FormatError,
): ArchiveNotes["unreadable"] {
  const listed: UnreadableMember[] = [];
  let count = 0;
  for (const record of records) {
    if (++count > MOST_LISTED) continue;
    const { code, message, member = "" } = errorOf(record);
    listed.push({ archive, name: member, code, message });
  }
  return { listed, count };
}

/** Skipped part of an archive, in which no member can be found. */
export interface DamagedPart {
  readonly code: FormatError["code"];
  readonly message: string;
}

/** Adds damaged parts to the unreadable members, with empty names. */
export function withDamage(
  archive: string,
  damage: readonly DamagedPart[],
  { listed, count }: ArchiveNotes["unreadable"],
): ArchiveNotes["unreadable"] {
  const parts = damage.map((part) => ({ archive, name: "", ...part }));
  return { listed: [...parts, ...listed], count: count + parts.length };
}

/** Returns the notes of a container that skips nothing; see {@linkcode listUnreadable}. */
export function unreadableNotes(
  archive: string,
  records: Iterable<number>,
  errorOf: (record: number) => FormatError,
): ArchiveNotes {
  const unreadable = listUnreadable(archive, records, errorOf);
  return { archive, skipped: new SkippedList(archive).facts, unreadable };
}

/** Returns the notes of an archive with one unreadable part in which no member can be found. */
export function damageNotes(
  archive: string,
  damage: Pick<UnreadableMember, "code" | "message">,
): ArchiveNotes {
  const unreadable = withDamage(archive, [damage], { listed: [], count: 0 });
  return { archive, skipped: new SkippedList(archive).facts, unreadable };
}

/** Formats notes: a line per listed member, then the number of unlisted ones. */
export function noteLines(notes: readonly ArchiveNotes[]): string[] {
  return notes.flatMap(({ archive, skipped, unreadable }) => [
    ...absoluteLine(archive, skipped.absolute),
    ...memberLines(skipped, `${archive}: more members are skipped`),
    ...memberLines(unreadable, `${archive}: more members cannot be read`),
  ]);
}

function absoluteLine(archive: string, count: number): string[] {
  if (count === 0) return [];
  const of = count === 1
    ? "the name of 1 member"
    : `the names of ${count} members`;
  return [`${archive}: the leading '/' is removed from ${of}`];
}

function memberLines(
  { listed, count }: {
    readonly listed: readonly { readonly message: string }[];
    readonly count: number;
  },
  others: string,
): string[] {
  const lines = listed.map(({ message }) => message);
  const more = count - lines.length;
  return more > 0 ? [...lines, `${others}: ${more}`] : lines;
}

/** Returns the part of a container's facts that comes from its archives' notes. */
export function notedInfo(
  notes: readonly ArchiveNotes[],
): Pick<ContainerInfo, "facts" | "skipped" | "unreadable"> {
  const count = (of: "skipped" | "unreadable") =>
    notes.reduce((sum, note) => sum + note[of].count, 0);
  const [skipped, unreadable] = [count("skipped"), count("unreadable")];
  return {
    facts: {
      ...skipped > 0 ? { skipped } : {},
      ...unreadable > 0 ? { unreadable } : {},
    },
    ...skipped > 0
      ? { skipped: notes.flatMap(({ skipped }) => skipped.listed) }
      : {},
    ...unreadable > 0
      ? { unreadable: notes.flatMap(({ unreadable }) => unreadable.listed) }
      : {},
  };
}

export function skippedError(
  { archive, name, message }: SkippedMember,
): FormatError {
  return new FormatError("skipped-member", message, {
    path: archive,
    member: name,
  });
}
