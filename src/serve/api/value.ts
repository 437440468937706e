import type { Steps } from "../../io/concurrency/steps.ts";
import { decodeName } from "../../base/names.ts";
import { VALUE_TYPES } from "../../codecs/values/value_type.ts";
import type { NodeView, ValueView } from "../../tree/node_view.ts";
import { newStat, type NodeId } from "../../tree/tree.ts";
import { json, jsonOf } from "../responses.ts";
import type { Decoding } from "../decode/decoding.ts";
import type { Coding } from "../decode/shown_value.ts";
import { encodingOf, isTextIn, named } from "../decode/text_encoding.ts";
import { type Contents, SMALL } from "../files/content.ts";
import { headOf } from "../head_of.ts";
import { decodePath } from "../paths.ts";
import type { Served } from "../served.ts";
import { ServeError } from "../serve_error.ts";
import { isDecoded, isNullValue, kindOf, viewOf } from "./kinds.ts";
import type { Kind } from "./messages.ts";
import type { Query } from "./query.ts";
import { partIn, type TreePart, WHOLE_TREE } from "./tree_part.ts";
import { Turns } from "./turns.ts";
import type { BytesValue, TextValue, TreeValue } from "./value_messages.ts";

/** Bytes of a page of text or binary data. */
const PAGE = 65_536;
/** Bytes at the front of a file used to detect UTF-16. */
const FRONT = 4096;
/** Maximum and default number of an array's numbers. */
const MOST_NUMBERS = 65_536;
/** Maximum bytes of an SVG to draw. */
const LARGEST_SVG = 4 << 20;
/** Initial and maximum number of bytes scanned for a page of a table. */
const FIRST_OF_TABLE = 1 << 18;
const MOST_OF_TABLE = 64 << 20;
const PIECE = 1 << 20;
const LONGEST_REASON = 1000;

interface Shown {
  readonly node: NodeId;
  readonly name: string;
  readonly size: number;
  readonly offset: number;
  readonly most: number;
  /** Requested part of a tree; `undefined` for all of it. */
  readonly part: TreePart | undefined;
  /** First element, if part of an array is requested. */
  readonly from: number | undefined;
}

class Undecodable extends Error {}

/** `api/value`: decoded values. */
export class Values {
  readonly #served: Served;
  readonly #contents: Contents;
  readonly #decoding: Decoding;

  constructor(served: Served, contents: Contents, decoding: Decoding) {
    this.#served = served;
    this.#contents = contents;
    this.#decoding = decoding;
  }

  /** Responds with a value. One that cannot be decoded becomes text or bytes, with the reason. */
  *answer(query: Query): Steps<Response> {
    const served = this.#served;
    const node = yield* served.get(query.path);
    if (yield* served.isDirectory(node)) {
      throw new ServeError(
        "is-directory",
        "Cannot show this as a value: it is a directory. Show one of its entries",
      );
    }
    const name = decodeName(decodePath(query.path).at(-1)!);
    const { size } = yield* served.stat(node, newStat());
    const shown: Shown = {
      ...{ node, name, size },
      offset: query.number("offset") ?? 0,
      most: query.number("most", MOST_NUMBERS) ?? MOST_NUMBERS,
      part: partIn(query),
      from: query.number("first"),
    };
    const as = query.text("as");
    if (shown.part !== undefined && as !== undefined) throw noTree();
    if (shown.from !== undefined && as !== undefined) throw noArray();
    if (as === "bytes") return json(yield* this.#bytes(shown, null));
    if (as === "text") return json(yield* this.#text(shown, null));
    const view = yield* viewOf(served, node);
    const kind = yield* kindOf(served, node, name, false, view);
    if (yield* isNullValue(view, size)) {
      const { name: type } = (view as ValueView).type;
      const value = { kind: "tree", type, value: null, isCut: false } as const;
      return json(value satisfies TreeValue);
    }
    const coding = codingOf(shown, kind, view);
    if (shown.part !== undefined && !isTree(coding)) throw noTree();
    if (shown.from !== undefined && !isArray(coding)) throw noArray();
    if (coding === undefined && kind !== "csv") {
      return yield* this.#plain(shown, kind);
    }
    try {
      return jsonOf(
        yield* coding === undefined
          ? this.#table(shown)
          : this.#decoded(shown, coding, largestOf(coding)),
      );
    } catch (error) {
      if (!(error instanceof Undecodable)) throw error;
      if (shown.part !== undefined) throw noTree(error);
      if (shown.from !== undefined) throw noArray(error);
      const why = error.message.slice(0, LONGEST_REASON);
      // The offset of a table page is a row, but text starts at a byte: here, the front.
      const whole = { ...shown, offset: 0 };
      return json(
        isWrittenAsText(kind)
          ? yield* this.#text(whole, why)
          : yield* this.#bytes(whole, why),
      );
    }
  }

  /** @throws {Undecodable} */
  *#decoded(
    shown: Shown,
    coding: Coding,
    largest: number,
  ): Steps<Uint8Array<ArrayBuffer>> {
    const { size } = shown;
    if (size > largest) {
      throw new Undecodable(
        `it has ${size} bytes, and at most ${largest} are decoded`,
      );
    }
    const page = yield* this.#inThread(coding, size, () => this.#whole(shown));
    if (page.length > 0) return page;
    throw new ServeError(
      "not-found",
      "Cannot show this part: the value does not have it",
    );
  }

  /** Reads a page of a table. Row offsets are unknown, so it scans from the start of the file. */
  *#table(shown: Shown): Steps<Uint8Array<ArrayBuffer>> {
    const { node, name, size, offset } = shown;
    if (size <= SMALL) yield* this.#whole(shown); // verifies the checksum
    const delimiter = /\.tsv$/i.test(name) ? "\t" : ",";
    for (let length = FIRST_OF_TABLE;; length *= 4) {
      const taken = Math.min(length, size, MOST_OF_TABLE);
      const isWhole = taken === size;
      const isLast = isWhole || taken === MOST_OF_TABLE;
      const page = yield* this.#inThread(
        { kind: "table", delimiter, start: offset, isWhole, isLast },
        taken,
        () =>
          inPieces(
            taken,
            (start, length) => headOf(this.#served, node, length, start),
          ),
      );
      if (page.length > 0) return page;
    }
  }

  /** @throws {Undecodable} If the bytes are invalid. */
  *#inThread(
    coding: Coding,
    size: number,
    read: () => Steps<Uint8Array<ArrayBuffer>>,
  ): Steps<Uint8Array<ArrayBuffer>> {
    let damage: unknown;
    const reading = function* (): Steps<Uint8Array<ArrayBuffer>> {
      try {
        return yield* read();
      } catch (error) {
        damage = error; // of the container, not of the value
        throw error;
      }
    };
    try {
      return yield* this.#decoding.value(coding, size, reading);
    } catch (error) {
      const isOther = error === damage || error instanceof ServeError ||
        error instanceof DOMException; // the client has disconnected
      if (isOther || !(error instanceof Error)) throw error;
      throw new Undecodable(error.message, { cause: error });
    }
  }

  *#plain(shown: Shown, kind: Kind): Steps<Response> {
    // Small files are checked against their checksums, like decoded values. Damaged ones remain readable if text or
    // bytes are requested explicitly.
    const { offset, size } = shown;
    if (offset === 0 && size <= SMALL) yield* this.#whole(shown);
    return json(
      isWrittenAsText(kind)
        ? yield* this.#text(shown, null)
        : yield* this.#bytes(shown, null),
    );
  }

  /** Returns a page of text, split between characters. */
  *#text(shown: Shown, why: string | null): Steps<TextValue | BytesValue> {
    const { node, size, offset } = shown;
    const bytes = yield* headOf(this.#served, node, PAGE + 4, offset);
    // UTF-16 is detected at the front; other encodings per page, because Windows-1252 letters may follow an ASCII
    // front.
    const front = offset === 0
      ? bytes.subarray(0, FRONT)
      : yield* headOf(this.#served, node, FRONT, 0);
    const byFront = encodingOf(front);
    const isWide = byFront === "utf-16le" || byFront === "utf-16be";
    const isContinued = isWide ? isSecondHalf(byFront) : isContinuation;
    let from = 0;
    let to = Math.min(bytes.length, PAGE);
    const isLast = offset + to >= size;
    while (offset > 0 && from < 4 && isContinued(bytes, from, offset)) from++;
    while (!isLast && to > from && isContinued(bytes, to, offset)) to--;
    const part = bytes.subarray(from, to);
    const encoding = isWide ? byFront : encodingOf(part);
    if (encoding === undefined || isWide && !isTextIn(part, encoding)) {
      return yield* this.#bytes(shown, why ?? "it is not text");
    }
    const end = offset + to;
    return {
      kind: "text",
      ...named(encoding),
      text: new TextDecoder(encoding).decode(part),
      start: offset + from,
      end,
      size,
      isCut: end < size,
      why,
    };
  }

  *#bytes(
    { node, size, offset }: Shown,
    why: string | null,
  ): Steps<BytesValue> {
    const bytes = yield* headOf(this.#served, node, PAGE, offset);
    return {
      kind: "bytes",
      base64: bytes.toBase64(),
      start: offset,
      size,
      why,
    };
  }

  /** Reads a whole file, verified against its checksum. */
  *#whole({ node }: Shown): Steps<Uint8Array<ArrayBuffer>> {
    const extent = yield* this.#contents.locate(node);
    if (extent === undefined) {
      throw new ServeError(
        "not-found",
        "Cannot show this as a value: it is not a file",
      );
    }
    return yield* inPieces(
      extent.length,
      (start, length) =>
        this.#contents.read(node, extent, { start, end: start + length }),
    );
  }
}

/** Reads bytes; yields to other requests between pieces if there are many. */
function* inPieces(
  size: number,
  read: (start: number, length: number) => Steps<Uint8Array<ArrayBuffer>>,
): Steps<Uint8Array<ArrayBuffer>> {
  if (size <= PIECE) return yield* read(0, size);
  const turns = new Turns();
  const all = new Uint8Array(size);
  for (let start = 0; start < size; start += PIECE) {
    all.set(yield* read(start, Math.min(PIECE, size - start)), start);
    yield* turns.step();
  }
  return all;
}

/** Returns how to decode a value; `undefined` if it is shown undecoded or as a table. */
function codingOf(
  { name, most, from, part = WHOLE_TREE }: Shown,
  kind: Kind,
  view: NodeView | undefined,
): Coding | undefined {
  if (view?.kind === "value" && isDecoded(view.type)) {
    return { kind: "value", type: view.type, most, part, from };
  }
  if (kind === "array" && /\.npz$/i.test(name)) return { kind: "arrays", most };
  switch (kind) {
    case "svg":
      return { kind };
    case "array":
    case "json":
    case "msgpack":
    case "pickle":
      return { kind: "value", type: VALUE_TYPES[kind], most, part, from };
    default:
      return undefined;
  }
}

function isTree(coding: Coding | undefined): boolean {
  return coding?.kind === "value" && coding.type.kind !== "array";
}

function noTree(cause?: Error): ServeError {
  return noPart("a part", cause?.message ?? "it is not a tree", cause);
}

function isArray(coding: Coding | undefined): boolean {
  return coding?.kind === "value" && coding.type.kind === "array";
}

function noArray(cause?: Error): ServeError {
  return noPart(
    "a part of an array",
    cause?.message ?? "it is not an array",
    cause,
  );
}

function noPart(what: string, why: string, cause?: Error): ServeError {
  const message = `Cannot show ${what}: ${why}`;
  return new ServeError("bad-request", message, { cause });
}

function largestOf(coding: Coding): number {
  if (coding.kind === "svg") return LARGEST_SVG;
  const { largest } = coding.kind === "value" ? coding.type : VALUE_TYPES.array;
  return largest;
}

function isWrittenAsText(kind: Kind): boolean {
  return kind === "csv" || kind === "html" || kind === "json" ||
    kind === "svg" || kind === "text";
}

/** Whether a byte is a UTF-8 continuation byte. */
function isContinuation(bytes: Uint8Array, at: number): boolean {
  return at < bytes.length && (bytes[at]! & 0xc0) === 0x80;
}

/** Returns whether a byte is not the first one of a UTF-16 character. */
function isSecondHalf(
  encoding: "utf-16le" | "utf-16be",
): (bytes: Uint8Array, at: number, offset: number) => boolean {
  const high = encoding === "utf-16le" ? 1 : 0;
  return (bytes, at, offset) => {
    if (at + 1 >= bytes.length) return false;
    const isOdd = (offset + at) % 2 === 1;
    return isOdd || (bytes[at + high]! & 0xfc) === 0xdc; // a low surrogate
  };
}
