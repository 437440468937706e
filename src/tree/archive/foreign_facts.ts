import type { SkippedMember } from "../format.ts";
import type { DamagedPart, SkippedMembers } from "./archive_notes.ts";

/** Reasons and kinds of skipped members, which programs tell apart. */
const REASONS: Readonly<Record<SkippedMember["reason"], true>> = {
  "bad-link": true,
  "conflict": true,
  "damaged": true,
  "device": true,
  "leads-out": true,
  "no-name": true,
  "no-target": true,
  "too-long": true,
  "unsafe-name": true,
};
const KINDS: Readonly<Record<SkippedMember["kind"], true>> = {
  "device": true,
  "directory": true,
  "file": true,
  "hard link": true,
  "symbolic link": true,
};

/**
 * Returns the skipped members of an archive from data that anybody may have made on any machine: the archive has the path
 * that it has here. `undefined` if they are none.
 */
export function skippedOf(
  data: unknown,
  archive: string,
): SkippedMembers | undefined {
  const { listed, count, absolute } = (data ?? {}) as Partial<SkippedMembers>;
  const isSound = Array.isArray(listed) && listed.every(isMember) &&
    Number.isSafeInteger(count) && Number.isSafeInteger(absolute);
  if (!isSound) return undefined;
  const members = listed.map((member) => {
    const { archive: before, name, kind, reason, message } = member;
    const own = message.startsWith(before)
      ? archive + message.slice(before.length)
      : message;
    return { archive, name, kind, reason, message: own };
  });
  return { listed: members, count: count!, absolute: absolute! };
}

function isMember(value: unknown): value is SkippedMember {
  const member = (value ?? {}) as Partial<SkippedMember>;
  const { archive, name, kind, reason, message } = member;
  return [archive, name, message].every((text) => typeof text === "string") &&
    Object.hasOwn(KINDS, String(kind)) &&
    Object.hasOwn(REASONS, String(reason));
}

/** Whether data that anybody may have made are damaged parts. */
export function areDamaged(data: unknown): data is readonly DamagedPart[] {
  return Array.isArray(data) && data.every((part) => {
    const { code, message } = (part ?? {}) as Partial<DamagedPart>;
    return typeof code === "string" && typeof message === "string";
  });
}
