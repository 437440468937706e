import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { utf8Text } from "../../../base/utf8.ts";
import type { TrustedDirectory } from "../../dirfd/trusted_directory.ts";
import type { ListedFile } from "../listed_file.ts";
import { isUntagged, type ObjectState } from "../remote_object.ts";
import { CACHE_BLOCK } from "./block_store.ts";

/** Facts of a cached object, as its directory has them. */
export interface CachedFacts extends ObjectState {
  readonly url: string;
}

export interface WrittenFacts extends CachedFacts {
  /** Block size in bytes. Objects with other block sizes, of other versions, are left alone. */
  readonly block: number;
  /** Identifies the machine's boot when it was created. */
  readonly start: string;
}

export const FACTS = "facts.json";
/** Largest file of facts in bytes: a URL, a tag and a few numbers. */
const MOST_FACTS = 1 << 20;
/** Largest listing in bytes: some millions of names. */
const MOST_LIST = 1 << 28;

/** Reads the facts of an object; `undefined` if they are missing or damaged. */
export function readFacts(
  directory: TrustedDirectory,
): WrittenFacts | undefined {
  const facts = readJson(directory, FACTS, MOST_FACTS) as
    | Partial<WrittenFacts>
    | undefined;
  const isWhole = typeof facts?.url === "string" &&
    typeof facts.tag === "string" && Number.isSafeInteger(facts.size) &&
    facts.size! >= 0 && typeof facts.mtime === "number" &&
    typeof facts.start === "string" && facts.block === CACHE_BLOCK;
  if (!isWhole) return undefined;
  // Earlier versions also stored untagged states.
  const isLasting = facts.isLasting !== false && !isUntagged(facts.tag!);
  return { ...facts as WrittenFacts, isLasting };
}

export function writeFacts(
  directory: TrustedDirectory,
  facts: CachedFacts,
): void {
  const start = startOfMachine();
  writeJson(directory, FACTS, { ...facts, block: CACHE_BLOCK, start });
}

/** Reads a cached directory listing; `undefined` if it is missing or damaged. */
export function readList(
  directory: TrustedDirectory,
  name: string,
): readonly ListedFile[] | undefined {
  const list = readJson(directory, name, MOST_LIST);
  return Array.isArray(list) && list.every(isListed) ? list : undefined;
}

/** Writes a file atomically. */
export function writeJson(
  directory: TrustedDirectory,
  name: string,
  value: unknown,
): void {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  directory.replaceFile(name, `${name}.${randomUUID()}.tmp`, [bytes]);
}

/** Whether a name is a temporary one of {@linkcode writeJson}. */
export function isTemporary(name: string, of: string): boolean {
  return name.startsWith(`${of}.`) &&
    /^\.[0-9a-f-]{36}\.tmp$/.test(name.slice(of.length));
}

function isListed(value: unknown): boolean {
  const { name, isDirectory, size, mtime } = (value ?? {}) as Partial<
    ListedFile
  >;
  return typeof name === "string" && typeof isDirectory === "boolean" &&
    (size === undefined || Number.isSafeInteger(size) && size >= 0) &&
    (mtime === undefined || typeof mtime === "number");
}

function readJson(
  directory: TrustedDirectory,
  name: string,
  most: number,
): unknown {
  using file = directory.openFile(name, "read");
  if (file === undefined) return undefined;
  const { size } = file.facts();
  if (size > most) return undefined;
  const bytes = new Uint8Array(size);
  const got = file.read(bytes, 0);
  try {
    return JSON.parse(utf8Text(bytes.subarray(0, got)));
  } catch {
    return undefined;
  }
}

let start: string | undefined;

/** Returns an identifier of the machine's current boot. */
export function startOfMachine(): string {
  if (start === undefined) {
    try {
      start = fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    } catch {
      start = crypto.randomUUID(); // then all blocks are unsure
    }
  }
  return start;
}
