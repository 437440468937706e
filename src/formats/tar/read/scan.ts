import { BLOCK, Field, Length, padded } from "../../../tar_header.ts";
import { FormatError, type FormatErrorCode } from "../../../errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { HeadWindows } from "../../../io/read/head_windows.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { memberError } from "../../../tree/archive/member_error.ts";
import { decodeName } from "../../../names.ts";
import {
  type Blocks,
  blocksOf,
  flavourOf,
  hasChecksum,
  isZeroBlock,
  MOST_SECONDS,
  parseNumber,
  textEnd,
} from "../layout.ts";
import { PaxError, type PaxFacts, readPax } from "./pax.ts";
import type { TarBuilder } from "./tar_builder.ts";

/** Bytes of a header that extends others, or of a long name: more of them say nothing that is asked for. */
const LONGEST_EXTENSION = 1 << 20;

/** Longest path that is taken for all members that follow, in bytes: `PATH_MAX` of Linux. */
const LONGEST_PATH = 4096;

const SLASH = 0x2f;
const type = (letter: string) => letter.charCodeAt(0);

/** What members are, by the type in their headers. */
const Type = {
  HARD_LINK: type("1"),
  SYMBOLIC_LINK: type("2"),
  CHARACTER_DEVICE: type("3"),
  BLOCK_DEVICE: type("4"),
  DIRECTORY: type("5"),
  FIFO: type("6"),
  PAX: type("x"),
  PAX_SOLARIS: type("X"),
  PAX_GLOBAL: type("g"),
  GNU_NAME: type("L"),
  GNU_LINK: type("K"),
  GNU_SPARSE: type("S"),
  GNU_DIRECTORY: type("D"),
  GNU_CONTINUED: type("M"),
  GNU_LABEL: type("V"),
} as const;

const DEVICES: ReadonlyMap<number, string> = new Map([
  [Type.CHARACTER_DEVICE, "a character device"],
  [Type.BLOCK_DEVICE, "a block device"],
  [Type.FIFO, "a named pipe"],
]);

/** How a tar was found to end. */
export interface ScannedEnd {
  /** Where the blocks of zeros begin that end it, or the file does. */
  readonly offset: number;
  /** Whether there were such blocks. */
  readonly isMarked: boolean;
}

/**
 * Reads all headers of a tar, from the first to the blocks of zeros that end it, or the end of the file.
 *
 * @param builder Told of all members.
 * @param onDamage Told what is wrong with a header, which is passed over then; unless given, it is thrown.
 * @returns `undefined` where no header was found behind one that is damaged.
 * @throws {FormatError} If a header is damaged, or says what can't be.
 */
export function* scanTar(
  source: ByteSource,
  builder: TarBuilder,
  onDamage?: (damage: FormatError) => void,
): Steps<ScannedEnd | undefined> {
  const scan = new Scan(source, builder);
  for (;;) {
    try {
      return yield* scan.run();
    } catch (error) {
      if (onDamage === undefined || !(error instanceof FormatError)) {
        throw error;
      }
      onDamage(error);
      if (!(yield* scan.recover())) return undefined;
    }
  }
}

class Scan {
  readonly #source: ByteSource;
  readonly #builder: TarBuilder;
  readonly #windows: HeadWindows;
  readonly #blocks: Blocks;
  /** Where the next header is. */
  #offset = 0;
  /** Where the header is that is looked at, and whether what follows it is known. */
  #header = 0;
  #isPassed = false;
  #passed: number | undefined;
  // What headers before it say of the next member, and of all that come.
  #pax: PaxFacts | undefined;
  #global: PaxFacts | undefined;
  #name: Uint8Array | undefined;
  #link: Uint8Array | undefined;
  /** Where the name of a header is put together. */
  readonly #nameRoom = new Uint8Array(Length.PREFIX + 1 + Length.NAME);

  constructor(source: ByteSource, builder: TarBuilder) {
    this.#source = source;
    this.#builder = builder;
    // What extends a header lies in the block behind it.
    this.#windows = new HeadWindows(source, BLOCK, 2 * BLOCK);
    this.#blocks = blocksOf(this.#windows.bytes);
  }

  *run(): Steps<ScannedEnd> {
    const { size } = this.#source;
    const blocks = this.#blocks;
    for (;;) {
      const offset = this.#offset;
      this.#header = offset;
      this.#isPassed = false;
      if (offset === size) return { offset, isMarked: false };
      if (offset + BLOCK > size) {
        throw this.#damage(
          "truncated-header",
          `ends inside a header, which has ${BLOCK} bytes`,
        );
      }
      let at = this.#windows.find(offset, BLOCK);
      if (at < 0) {
        yield* this.#windows.move(offset, this.#passed);
        at = 0;
      }
      if (hasChecksum(blocks, at)) yield* this.#take(blocks.bytes, at);
      else if (isZeroBlock(blocks, at)) return { offset, isMarked: true };
      else {
        throw this.#damage(
          "metadata-checksum",
          "has no header there, or a damaged one: its checksum is wrong",
        );
      }
    }
  }

  /** Looks for the next header behind one that is damaged; whether there is one. */
  *recover(): Steps<boolean> {
    this.#forget();
    if (this.#isPassed) return true;
    const { size } = this.#source;
    const blocks = this.#blocks;
    for (
      let offset = this.#header + BLOCK;
      offset + BLOCK <= size;
      offset += BLOCK
    ) {
      let at = this.#windows.find(offset, BLOCK);
      if (at < 0) {
        yield* this.#windows.move(offset, 0);
        at = 0;
      }
      if (
        blocks.bytes[at] !== 0 && flavourOf(blocks.bytes, at) !== "v7" &&
        hasChecksum(blocks, at)
      ) {
        this.#offset = offset;
        return true;
      }
    }
    return false;
  }

  *#take(bytes: Uint8Array, at: number): Steps<void> {
    const kind = bytes[at + Field.TYPE]!;
    const isLink = kind === Type.HARD_LINK || kind === Type.SYMBOLIC_LINK;
    const extension = kind === Type.PAX || kind === Type.PAX_SOLARIS ||
      kind === Type.PAX_GLOBAL || kind === Type.GNU_NAME ||
      kind === Type.GNU_LINK;
    const pax = this.#pax ?? this.#global;
    const written = parseNumber(bytes, at + Field.SIZE, Length.SIZE);
    const told = extension ? undefined : pax?.size;
    const isTold = told !== undefined && !Number.isNaN(told);
    // What has no content may have a size all the same.
    const size = isLink || DEVICES.has(kind) || kind === Type.DIRECTORY
      ? 0
      : isTold
      ? told
      : written;
    const content = this.#header + BLOCK;
    if (!(size >= 0)) {
      throw this.#damage("bad-structure", "has a header whose size is none");
    }
    if (extension) {
      return yield* this.#takeExtension(kind, content, size);
    }
    const name = this.#nameOf(bytes, at, pax);
    this.#requireInside(name, content, size);
    this.#pass(content, size);
    const time = this.#timeOf(bytes, at, pax);
    this.#add(kind, name, content, size, time, bytes, at);
    this.#forget();
  }

  #add(
    kind: number,
    name: Uint8Array,
    content: number,
    size: number,
    time: number,
    bytes: Uint8Array,
    at: number,
  ): void {
    const builder = this.#builder;
    const pax = this.#pax ?? this.#global;
    if (kind === Type.GNU_SPARSE || pax?.sparse !== undefined) {
      throw memberError(
        "unsupported",
        this.#source.name,
        pax?.sparseName ?? name,
        "is a sparse file, which has no content in one piece: write the tar again without --sparse (-S)",
        { offset: this.#header },
      );
    }
    if (kind === Type.GNU_CONTINUED) {
      throw memberError(
        "unsupported",
        this.#source.name,
        name,
        "began in another volume: join the volumes by extracting them (tar -xM), and pack that",
        { offset: this.#header },
      );
    }
    const device = DEVICES.get(kind);
    if (device !== undefined) {
      builder.skip(name, "device", "device", `is ${device}`);
    } else if (kind === Type.SYMBOLIC_LINK) {
      builder.addLink(name, this.#linkOf(bytes, at, pax), time);
    } else if (kind === Type.HARD_LINK) {
      builder.addHardLink(name, this.#linkOf(bytes, at, pax));
    } else if (
      kind === Type.DIRECTORY || kind === Type.GNU_DIRECTORY ||
      name[name.length - 1] === SLASH
    ) builder.addDirectory(name, time);
    else if (kind !== Type.GNU_LABEL) {
      builder.addFile(name, content, size, time);
    }
  }

  *#takeExtension(kind: number, content: number, size: number): Steps<void> {
    const what = kind === Type.GNU_NAME || kind === Type.GNU_LINK
      ? "a long name"
      : "an extended header";
    if (size > LONGEST_EXTENSION) {
      throw this.#damage(
        "too-large",
        `has ${what} of ${size} bytes, more than ${LONGEST_EXTENSION}`,
      );
    }
    this.#requireInside(what, content, size);
    const at = this.#windows.find(content, size);
    const bytes = at < 0
      ? yield* readPart(this.#source, content, size)
      : this.#blocks.bytes.slice(at, at + size);
    this.#pass(content, size);
    if (kind === Type.GNU_NAME) this.#name = text(bytes);
    else if (kind === Type.GNU_LINK) this.#link = text(bytes);
    else {
      try {
        if (kind === Type.PAX_GLOBAL) {
          this.#takeGlobal(readPax(bytes, this.#global));
        } else this.#pax = readPax(bytes, this.#pax ?? this.#global);
      } catch (error) {
        if (!(error instanceof PaxError)) throw error;
        throw this.#damage(
          "bad-structure",
          `has an extended header that is damaged: ${error.message}`,
        );
      }
    }
  }

  /** What holds for all members must not be long: any number of them may follow. */
  #takeGlobal(facts: PaxFacts): void {
    const { path, link } = facts;
    const longest = Math.max(path?.length ?? 0, link?.length ?? 0);
    if (longest > LONGEST_PATH) {
      throw this.#damage(
        "too-large",
        `has a path of ${longest} bytes for all members`,
      );
    }
    this.#global = facts;
  }

  #requireInside(
    name: Uint8Array | string,
    content: number,
    size: number,
  ): void {
    const left = this.#source.size - content;
    if (size <= left) return;
    throw memberError(
      "truncated-data",
      this.#source.name,
      name,
      `has ${size} bytes by its header, and the file ends after ${left} of them: it was cut, or the header lies; ` +
        "fetch it again",
      { offset: this.#header },
    );
  }

  /** Goes on behind a content. */
  #pass(content: number, size: number): void {
    // The last block may not be filled, where the end of a tar is missing.
    this.#offset = Math.min(content + padded(size), this.#source.size);
    this.#passed = size;
    this.#isPassed = true;
  }

  #forget(): void {
    this.#pax = undefined;
    this.#name = undefined;
    this.#link = undefined;
  }

  /** The path of a member; in memory that is used again. */
  #nameOf(
    bytes: Uint8Array,
    at: number,
    pax: PaxFacts | undefined,
  ): Uint8Array {
    if (pax?.path !== undefined && pax.path.length > 0) return pax.path;
    if (this.#name !== undefined) return this.#name;
    const start = at + Field.NAME;
    const end = textEnd(bytes, start, Length.NAME);
    const prefix = at + Field.PREFIX;
    const room = this.#nameRoom;
    let length = 0;
    // GNU has other things in that place.
    if (bytes[prefix] !== 0 && flavourOf(bytes, at) === "posix") {
      const past = textEnd(bytes, prefix, Length.PREFIX);
      for (let i = prefix; i < past; i++) room[length++] = bytes[i]!;
      room[length++] = SLASH;
    }
    for (let i = start; i < end; i++) room[length++] = bytes[i]!;
    return room.subarray(0, length);
  }

  #linkOf(
    bytes: Uint8Array,
    at: number,
    pax: PaxFacts | undefined,
  ): Uint8Array {
    if (pax?.link !== undefined && pax.link.length > 0) return pax.link;
    if (this.#link !== undefined) return this.#link;
    const start = at + Field.LINK;
    return bytes.subarray(start, textEnd(bytes, start, Length.LINK));
  }

  #timeOf(
    bytes: Uint8Array,
    at: number,
    pax: PaxFacts | undefined,
  ): number {
    const told = pax?.mtime;
    if (told !== undefined && !Number.isNaN(told)) return told;
    const seconds = parseNumber(bytes, at + Field.MTIME, Length.MTIME);
    return Math.abs(seconds) <= MOST_SECONDS ? seconds * 1000 : NaN;
  }

  #damage(code: FormatErrorCode, why: string): FormatError {
    const { name: path, size } = this.#source;
    const offset = this.#header;
    const after = this.#name ?? this.#pax?.path;
    const of = after === undefined ? "" : `, of '${decodeName(after)}'`;
    return new FormatError(
      code,
      `${path} ${why} (at byte ${offset} of ${size}${of}); fetch or pack it again, or see what is left by check`,
      { path, offset },
    );
  }
}

/** The bytes of a long name, up to the NUL that ends it. */
function text(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, textEnd(bytes, 0, bytes.length));
}
