import type { Steps } from "../../../io/concurrency/steps.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { LONGEST_MEMBER } from "../../../tree/archive/member_paths.ts";
import { textEnd } from "../layout.ts";
import { type PaxFacts, readPax } from "./pax.ts";

/** Maximum bytes of an extended header that is read: longer ones contain nothing relevant. */
const LONGEST_PAX = 1 << 20;
/** Maximum bytes of a long name that are read: members with longer names are skipped. */
const LONGEST_NAME = LONGEST_MEMBER + 1;

/** Maximum bytes of a path that applies to all following members: `PATH_MAX` of Linux. */
const LONGEST_COMMON = 4096;

const type = (letter: string) => letter.charCodeAt(0);
const PAX = type("x");
const PAX_SOLARIS = type("X");
const PAX_GLOBAL = type("g");
const GNU_NAME = type("L");
const GNU_LINK = type("K");

/** Whether a header of this type extends following headers. */
export function isExtension(kind: number): boolean {
  return kind === PAX || kind === PAX_SOLARIS || kind === PAX_GLOBAL ||
    kind === GNU_NAME || kind === GNU_LINK;
}

/** State from extension headers: for the next member, and for all following ones. */
export class Extensions {
  /** Extended attributes of the next member, merged with the global ones. */
  #pax: PaxFacts | undefined;
  #global: PaxFacts | undefined;
  #continues: Uint8Array | undefined;
  name: Uint8Array | undefined;
  link: Uint8Array | undefined;

  get pax(): PaxFacts | undefined {
    return this.#pax ?? this.#global;
  }

  /** Whether the next member has its own extended header. */
  get hasPax(): boolean {
    return this.#pax !== undefined;
  }

  /** Whether there is something for the next member alone. */
  get arePending(): boolean {
    return this.hasPax || this.name !== undefined || this.link !== undefined;
  }

  /** Name of the file that the next member continues from another volume. */
  get continues(): Uint8Array | undefined {
    return this.#continues;
  }

  forget(): void {
    this.#pax = undefined;
    this.#continues = undefined;
    this.name = undefined;
    this.link = undefined;
  }

  /**
   * Reads an extension header. Of several of a kind, the last applies.
   *
   * @param content Offset of its content, which must be within the source.
   * @returns Description of the damage, if the header is global and damaged.
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
