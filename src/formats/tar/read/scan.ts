import { Field, Length, padded, TAR_BLOCK } from "../../../base/tar_header.ts";
import { FormatError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { HeadWindows } from "../../../io/read/head_windows.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { decodeName } from "../../../base/names.ts";
import {
  type Blocks,
  blocksOf,
  flavourOf,
  hasChecksum,
  headOf,
  isZeroBlock,
  MOST_SECONDS,
  parseNumber,
  textEnd,
} from "../layout.ts";
import { Extensions, isExtension } from "./extensions.ts";
import { Fault } from "./faults.ts";
import { readOldMap, readPaxMap, type SparseMap } from "./sparse_map.ts";
import type { TarBuilder } from "./tar_builder.ts";

const SLASH = 0x2f;
const type = (letter: string) => letter.charCodeAt(0);

const Type = {
  HARD_LINK: type("1"),
  SYMBOLIC_LINK: type("2"),
  CHARACTER_DEVICE: type("3"),
  BLOCK_DEVICE: type("4"),
  DIRECTORY: type("5"),
  FIFO: type("6"),
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

/** Whether a type is that of a regular file: `0`, or NUL in old tars. */
const isRegular = (kind: number) => kind === 0 || kind === type("0");

export interface ScannedEnd {
  /** Offset of the zero blocks that end it, or of the end of the file. */
  readonly offset: number;
  /** Whether there were such blocks. */
  readonly isMarked: boolean;
  /** Whether the last header before the end extends a member that is missing. */
  readonly lacksMember: boolean;
}

/**
 * Scans all headers of a tar, from the first to the zero blocks that end it, or to the end of the file.
 *
 * @param builder Receives all members.
 * @param onDamage Called for each part that is skipped because nothing can be found in it. It may throw to end the
 * scan.
 * @param farthest Maximum bytes of a remote tar searched for a header after a damaged one.
 * @returns `undefined` if no header was found after a damaged one.
 */
export function* scanTar(
  source: ByteSource,
  builder: TarBuilder,
  onDamage: (damage: FormatError) => void,
  farthest = Infinity,
): Steps<ScannedEnd | undefined> {
  const scan = new TarScan(source, builder, onDamage);
  for (;;) {
    const end = yield* scan.run();
    if (end !== undefined) return end;
    if (!(yield* scan.recover(farthest))) return undefined;
  }
}

class TarScan {
  readonly #source: ByteSource;
  readonly #builder: TarBuilder;
  readonly #onDamage: (damage: FormatError) => void;
  readonly #windows: HeadWindows;
  readonly #blocks: Blocks;
  readonly #extensions = new Extensions();
  #offset = 0;
  /** Offset of the current header, and size of the content before it. */
  #header = 0;
  #passed: number | undefined;
  readonly #nameRoom = new Uint8Array(Length.PREFIX + 1 + Length.NAME);

  constructor(
    source: ByteSource,
    builder: TarBuilder,
    onDamage: (damage: FormatError) => void,
  ) {
    this.#source = source;
    this.#builder = builder;
    this.#onDamage = onDamage;
    // An extension of a header is in the following block.
    this.#windows = new HeadWindows(source, TAR_BLOCK, 2 * TAR_BLOCK);
    this.#blocks = blocksOf(this.#windows.bytes);
  }

  /** Scans headers to the end; `undefined` if one is damaged, so that the offset of the next one is unknown. */
  *run(): Steps<ScannedEnd | undefined> {
    const { size } = this.#source;
    const blocks = this.#blocks;
    for (;;) {
      const offset = this.#offset;
      this.#header = offset;
      if (offset + TAR_BLOCK > size) return this.#endAt(offset, false);
      const at = yield* this.#findHeader(offset);
      if (hasChecksum(blocks, at)) {
        if (!(yield* this.#take(blocks.bytes, at))) return undefined;
      } else if (isZeroBlock(blocks, at)) return this.#endAt(offset, true);
      else {
        this.#report(
          "metadata-checksum",
          offset === 0
            ? "it is not a tar, or its first header is damaged: checksum mismatch"
            : "there is no header, or a damaged one: checksum mismatch",
        );
        return undefined;
      }
    }
  }

  #endAt(offset: number, isMarked: boolean): ScannedEnd {
    return { offset, isMarked, lacksMember: this.#extensions.arePending };
  }

  /** Searches for the next header after a damaged one. Returns whether there is one. */
  *recover(farthest: number): Steps<boolean> {
    this.#extensions.forget();
    const { size, readAtSync } = this.#source;
    const blocks = this.#blocks;
    const first = this.#header + TAR_BLOCK;
    const last = readAtSync === undefined
      ? Math.min(size, first + farthest)
      : size;
    for (let offset = first; offset + TAR_BLOCK <= last; offset += TAR_BLOCK) {
      const at = yield* this.#find(offset, 0);
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

  /** Returns the position of a block in the window, moving the window if necessary. */
  *#find(offset: number, passed: number | undefined): Steps<number> {
    const at = this.#windows.find(offset, TAR_BLOCK);
    if (at >= 0) return at;
    yield* this.#windows.move(offset, passed);
    return 0;
  }

  /** Returns the next header's position in the window. If a remote tar's cache returned wrong data, rereads it. */
  *#findHeader(offset: number): Steps<number> {
    const at = yield* this.#find(offset, this.#passed);
    const source = this.#source;
    if (source.invalidate === undefined || this.#isHeaderOrEnd(at)) return at;
    source.invalidate(offset, TAR_BLOCK);
    yield* this.#windows.move(offset, this.#passed);
    return 0;
  }

  #isHeaderOrEnd(at: number): boolean {
    return hasChecksum(this.#blocks, at) || isZeroBlock(this.#blocks, at);
  }

  /** Processes a header and moves past its content. Returns whether the end of the content is known. */
  *#take(bytes: Uint8Array, at: number): Steps<boolean> {
    const kind = bytes[at + Field.TYPE]!;
    const content = this.#header + TAR_BLOCK;
    const written = parseNumber(bytes, at + Field.SIZE, Length.SIZE);
    if (isExtension(kind)) {
      return yield* this.#takeExtension(kind, content, written);
    }
    const told = this.#extensions.pax?.size ?? NaN;
    let size = told >= 0 ? told : written;
    if (!(size >= 0)) {
      return this.#report("bad-structure", "a header has no valid size");
    }
    const name = this.#nameOf(bytes, at);
    const isFile = !DEVICES.has(kind) && kind !== Type.SYMBOLIC_LINK &&
      kind !== Type.DIRECTORY && kind !== Type.HARD_LINK &&
      !(isRegular(kind) && name[name.length - 1] === SLASH);
    // Members without content may declare a size, and some programs do write content for it.
    if (!isFile && size > 0) {
      const hasContent = kind === Type.HARD_LINK && this.#extensions.hasPax ||
        !(yield* this.#isHeader(content));
      // The window may have moved.
      at = yield* this.#find(this.#header, 0);
      if (!hasContent) size = 0;
    }
    const isCut = content + size > this.#source.size;
    if (isCut && !isFile) size = 0;
    this.#pass(content, size);
    yield* this.#add(kind, name, content, size, bytes, at);
    this.#extensions.forget();
    if (!isCut || !isFile) return true;
    // The size is wrong if the tar is complete; in a truncated tar, the content extends to its end.
    return !(yield* this.#hasEnd());
  }

  *#add(
    kind: number,
    name: Uint8Array,
    content: number,
    size: number,
    bytes: Uint8Array,
    at: number,
  ): Steps<void> {
    const builder = this.#builder;
    const { pax } = this.#extensions;
    const time = this.#timeOf(bytes, at);
    const device = DEVICES.get(kind);
    if (device !== undefined) {
      return builder.skip(name, "device", "device", `is ${device}`);
    }
    if (kind === Type.SYMBOLIC_LINK) {
      return builder.addLink(name, this.#linkOf(bytes, at), time);
    }
    if (kind === Type.HARD_LINK && size === 0) {
      return builder.addHardLink(name, this.#linkOf(bytes, at));
    }
    const isDirectory = kind === Type.DIRECTORY ||
      kind === Type.GNU_DIRECTORY || name[name.length - 1] === SLASH;
    if (isDirectory) return builder.addDirectory(name, time);
    if (kind === Type.GNU_LABEL) return;
    const head = headOf(this.#blocks, at);
    const { continues } = this.#extensions;
    if (kind === Type.GNU_CONTINUED || continues !== undefined) {
      const whole = continues ?? name;
      const fault = Fault.CONTINUED;
      return builder.addFile(whole, content, size, time, head, fault);
    }
    const fault = pax?.damage !== undefined
      ? Fault.EXTENSION
      : content + size > this.#source.size
      ? Fault.CUT
      : Fault.NONE;
    if (kind !== Type.GNU_SPARSE && pax?.sparse === undefined) {
      return builder.addFile(name, content, size, time, head, fault);
    }
    const shown = pax?.sparse?.name ?? name.slice();
    const map = fault === Fault.NONE
      ? yield* this.#mapOf(kind, content, size, bytes, at)
      : undefined;
    if (map === undefined) {
      const whole = pax?.sparse?.size ?? size;
      const why = fault === Fault.NONE ? Fault.OTHER_SPARSE : fault;
      return builder.addFile(shown, content, whole, time, head, why);
    }
    if (kind === Type.GNU_SPARSE && map.start + size > this.#source.size) {
      const whole = map.size >= 0 ? map.size : size;
      return builder.addFile(shown, map.start, whole, time, head, Fault.CUT);
    }
    // The map may be in blocks after the header.
    const before = yield* readPart(
      this.#source,
      map.start - TAR_BLOCK,
      TAR_BLOCK,
    );
    builder.addSparse(shown, map, size, time, headOf(blocksOf(before), 0));
  }

  /** Reads the map of a sparse file; `undefined` for unsupported formats. */
  *#mapOf(
    kind: number,
    content: number,
    size: number,
    bytes: Uint8Array,
    at: number,
  ): Steps<SparseMap | undefined> {
    const sparse = this.#extensions.pax?.sparse;
    if (sparse?.other !== undefined) return undefined;
    if (kind !== Type.GNU_SPARSE) {
      return yield* readPaxMap(this.#source, sparse!, content, size);
    }
    if (flavourOf(bytes, at) !== "gnu") return undefined;
    const map = yield* readOldMap(this.#source, bytes, at, content, size);
    this.#pass(map.start, size);
    return map;
  }

  /** Processes an extension header; returns as {@linkcode TarScan.#take}. */
  *#takeExtension(
    kind: number,
    content: number,
    size: number,
  ): Steps<boolean> {
    if (!(size >= 0)) {
      return this.#report("bad-structure", "a header has no valid size");
    }
    this.#pass(content, size);
    if (content + size > this.#source.size) {
      this.#report(
        "truncated-header",
        `it is truncated inside an extension header of ${size} bytes`,
      );
      return !(yield* this.#hasEnd());
    }
    const extensions = this.#extensions;
    const damage = yield* extensions.take(this.#source, kind, content, size);
    if (damage !== undefined) {
      const why = `the extended header for all members ${damage}`;
      this.#report("bad-structure", why);
    }
    return true;
  }

  /** Whether an offset is at a header, zero blocks or the end of the file. */
  *#isHeader(offset: number): Steps<boolean> {
    if (offset + TAR_BLOCK > this.#source.size) return true;
    return this.#isHeaderOrEnd(yield* this.#find(offset, 0));
  }

  /** Whether the file ends with the zero blocks of a tar, so that it is not truncated. */
  *#hasEnd(): Steps<boolean> {
    const { size } = this.#source;
    if (size % TAR_BLOCK !== 0 || size < 2 * TAR_BLOCK) return false;
    const end = yield* readPart(
      this.#source,
      size - 2 * TAR_BLOCK,
      2 * TAR_BLOCK,
    );
    return end.every((byte) => byte === 0);
  }

  #pass(content: number, size: number): void {
    // If the end of a tar is missing, its last block may be incomplete.
    this.#offset = Math.min(content + padded(size), this.#source.size);
    this.#passed = size;
  }

  /** Returns the path of a member, in reused memory. */
  #nameOf(bytes: Uint8Array, at: number): Uint8Array {
    const { pax, name } = this.#extensions;
    if (pax?.path !== undefined && pax.path.length > 0) return pax.path;
    if (name !== undefined) return name;
    const start = at + Field.NAME;
    const end = textEnd(bytes, start, Length.NAME);
    const prefix = at + Field.PREFIX;
    const room = this.#nameRoom;
    let length = 0;
    // GNU uses this field differently.
    if (bytes[prefix] !== 0 && flavourOf(bytes, at) === "posix") {
      const past = textEnd(bytes, prefix, Length.PREFIX);
      for (let i = prefix; i < past; i++) room[length++] = bytes[i]!;
      room[length++] = SLASH;
    }
    for (let i = start; i < end; i++) room[length++] = bytes[i]!;
    return room.subarray(0, length);
  }

  #linkOf(bytes: Uint8Array, at: number): Uint8Array {
    const { pax, link } = this.#extensions;
    if (pax?.link !== undefined && pax.link.length > 0) return pax.link;
    if (link !== undefined) return link;
    const start = at + Field.LINK;
    return bytes.subarray(start, textEnd(bytes, start, Length.LINK));
  }

  #timeOf(bytes: Uint8Array, at: number): number {
    const told = this.#extensions.pax?.mtime;
    if (told !== undefined && !Number.isNaN(told)) return told;
    const seconds = parseNumber(bytes, at + Field.MTIME, Length.MTIME);
    return Math.abs(seconds) <= MOST_SECONDS ? seconds * 1000 : NaN;
  }

  /** Reports damage at the current header, which leaves the offset of the next one unknown. */
  #report(code: FormatError["code"], why: string): false {
    const { name: path, size } = this.#source;
    const offset = this.#header;
    const after = this.#extensions.name ?? this.#extensions.pax?.path;
    const of = after === undefined ? "" : `, of '${decodeName(after)}'`;
    this.#onDamage(
      new FormatError(
        code,
        `Cannot read all of ${path}: ${why} (at byte ${offset} of ` +
          `${size}${of}). What lies there is skipped: download or pack it ` +
          "again",
        { path, offset },
      ),
    );
    return false;
  }
}
