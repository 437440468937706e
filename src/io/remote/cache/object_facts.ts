import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { utf8Text } from "../../../base/utf8.ts";
import type { TrustedDirectory } from "../../directories/trusted_directory.ts";
import type { ListedFile } from "../listed_file.ts";
import { isUntagged, type ObjectState } from "../remote_object.ts";
import { BLOCK } from "./block_store.ts";

/** What a cached object is, as its directory has it. */
export interface CachedFacts extends ObjectState {
  /** Its URL, without secrets. */
  readonly url: string;
}

/** What a file of facts has beside them. */
export interface WrittenFacts extends CachedFacts {
  /** Bytes of a block: what other versions kept in other blocks is left alone. */
  readonly block: number;
  /** The start of the machine when it was made. */
  readonly start: string;
}

/** Name of the file, in the directory of an object. */
export const FACTS = "facts.json";
/** Bytes of a file of facts at most: a URL, a tag and a few numbers. */
const MOST_FACTS = 1 << 20;
/** Bytes of a list at most: some millions of names. */
const MOST_LIST = 1 << 28;

/** The facts of an object; `undefined` where there are none, or they are damaged. */
export function readFacts(
  directory: TrustedDirectory,
): WrittenFacts | undefined {
  const facts = readJson(directory, FACTS, MOST_FACTS) as
    | Partial<WrittenFacts>
    | undefined;
  const isWhole = typeof facts?.url === "string" &&
    typeof facts.tag === "string" && Number.isSafeInteger(facts.size) &&
    facts.size! >= 0 && typeof facts.mtime === "number" &&
    typeof facts.start === "string" && facts.block === BLOCK;
  if (!isWhole) return undefined;
  // Earlier versions kept what cannot be told from other states.
  const isLasting = facts.isLasting !== false && !isUntagged(facts.tag!);
  return { ...facts as WrittenFacts, isLasting };
}

/** Writes the facts of an object. */
export function writeFacts(
  directory: TrustedDirectory,
  facts: CachedFacts,
): void {
  const start = startOfMachine();
  writeJson(directory, FACTS, { ...facts, block: BLOCK, start });
}

/** What a directory of a server held; `undefined` where that was not kept, or is damaged. */
export function readList(
  directory: TrustedDirectory,
  name: string,
): readonly ListedFile[] | undefined {
  const list = readJson(directory, name, MOST_LIST);
  return Array.isArray(list) && list.every(isListed) ? list : undefined;
}

/** Writes a file that is never seen in part. */
export function writeJson(
  directory: TrustedDirectory,
  name: string,
  value: unknown,
): void {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  directory.replaceFile(name, `${name}.${randomUUID()}.tmp`, [bytes]);
}

/** Whether a name is one that {@linkcode writeJson} gives a file until it is whole. */
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

/** Tells one start of the machine from another. */
export function startOfMachine(): string {
  if (start === undefined) {
    try {
      start = fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    } catch {
      start = crypto.randomUUID(); // nothing is sure then
    }
  }
  return start;
}
