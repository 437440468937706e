import type { Steps } from "../../../io/concurrency/steps.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { LONGEST_MEMBER } from "../../../tree/archive/member_paths.ts";
import { textEnd } from "../layout.ts";
import { type PaxFacts, readPax } from "./pax.ts";

/** Bytes of an extended header that is read: larger ones say nothing that is asked for. */
const LONGEST_PAX = 1 << 20;
/** Bytes of a long name that are read: one that has so many is skipped. */
const LONGEST_NAME = LONGEST_MEMBER + 1;

/** Longest path that is taken for all members that follow, in bytes: `PATH_MAX` of Linux. */
const LONGEST_COMMON = 4096;

const type = (letter: string) => letter.charCodeAt(0);
const PAX = type("x");
const PAX_SOLARIS = type("X");
const PAX_GLOBAL = type("g");
const GNU_NAME = type("L");
const GNU_LINK = type("K");

/** Whether a header of that type says something of members that follow. */
export function isExtension(kind: number): boolean {
  return kind === PAX || kind === PAX_SOLARIS || kind === PAX_GLOBAL ||
    kind === GNU_NAME || kind === GNU_LINK;
}

/** What headers before a member say of it, and of all that come. */
export class Extensions {
  /** What extended headers say of the next member, with what others say of all. */
  #pax: PaxFacts | undefined;
  #global: PaxFacts | undefined;
  #continues: Uint8Array | undefined;
  name: Uint8Array | undefined;
  link: Uint8Array | undefined;

  get pax(): PaxFacts | undefined {
    return this.#pax ?? this.#global;
  }

  /** Whether an extended header stands before the next member. */
  get hasPax(): boolean {
    return this.#pax !== undefined;
  }

  /** The file that the next member goes on with, which began in another volume. */
  get continues(): Uint8Array | undefined {
    return this.#continues;
  }

  /** Forgets what holds for one member. */
  forget(): void {
    this.#pax = undefined;
    this.#continues = undefined;
    this.name = undefined;
    this.link = undefined;
  }

  /**
   * Takes a header that extends others: of several of a kind, the last holds.
   *
   * @param content Where its content begins, which has to lie in the source.
   * @returns What is wrong with one that holds for all members.
   */
  *take(
    source: ByteSource,
    kind: number,
    content: number,
    size: number,
  ): Steps<string | undefined> {
    if (kind === GNU_NAME || kind === GNU_LINK) {
      const length = Math.min(size, LONGEST_NAME);
      const bytes = yield* readPart(source, content, length);
      const text = bytes.subarray(0, textEnd(bytes, 0, length));
      if (kind === GNU_NAME) this.name = text;
      else this.link = text;
      return undefined;
    }
    const global = this.#global;
    const isGlobal = kind === PAX_GLOBAL;
    const facts: PaxFacts = size > LONGEST_PAX
      ? { ...global, damage: `has ${size} bytes, more than ${LONGEST_PAX}` }
      : readPax(yield* readPart(source, content, size), global);
    if (!isGlobal) {
      this.#pax = facts;
      return undefined;
    }
    const { sparse: _, continues, damage, ...common } = facts;
    this.#continues = continues;
    const longest = Math.max(
      common.path?.length ?? 0,
      common.link?.length ?? 0,
    );
    if (longest > LONGEST_COMMON) {
      return `has a path of ${longest} bytes for all members`;
    }
    this.#global = common;
    return damage;
  }
}
