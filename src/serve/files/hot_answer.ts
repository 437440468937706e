import { RecordfsError } from "../../base/errors.ts";
import { newExtent, newStat, type NodeId, ROOT } from "../../tree/tree.ts";
import type { Served } from "../served.ts";
import { contentHead } from "../http/answer_head.ts";
import type { AnswerBuffer } from "../http/answer_buffer.ts";
import type { HeadersLike } from "../request_like.ts";
import { type ContentRoom, type Contents, SMALL } from "./content.ts";
import { isActive, typeOfName } from "./content_type.ts";
import { etagOf } from "./etag.ts";
import { fileHeaders } from "./file_headers.ts";

/** Headers by which something else than the whole file may be the answer. */
const CONDITIONS = [
  "range",
  "if-none-match",
  "if-modified-since",
  "if-match",
  "if-unmodified-since",
];

/** Longest name that Linux knows, in bytes. */
const LONGEST_NAME = 255;
const SLASH = 0x2f;
const PERCENT = 0x25;

/** A file as it is answered. */
interface HotFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

/** What contents are read into one after the other, to be copied; larger when a larger one comes. */
class Room implements ContentRoom {
  #memory = new Uint8Array(1 << 12);

  ofLength(length: number): Uint8Array<ArrayBuffer> {
    if (length > this.#memory.length) {
      this.#memory = new Uint8Array(Math.min(2 * length, SMALL));
    }
    return this.#memory.subarray(0, length);
  }
}

/**
 * Answers what is asked for most: all of a small file that is at hand, whose name tells its type. As plain code: what
 * can wait is made of steps, which take as long again.
 */
export class HotAnswers {
  readonly #served: Served;
  readonly #contents: Contents;
  readonly #room = new Room();
  readonly #extent = newExtent();
  readonly #stat = newStat();
  /** Where a name's bytes are put. */
  readonly #name = new Uint8Array(LONGEST_NAME);
  /** The ending that was asked for last: in most containers it is that of all. */
  #ending = "";
  /** What it says; empty before the first. */
  #type = "";

  constructor(served: Served, contents: Contents) {
    this.#served = served;
    this.#contents = contents;
  }

  /**
   * The answer to a GET; `undefined` where it is anything else, which others find out, and say.
   *
   * @param path As it stands in the URL.
   */
  answer(asked: HeadersLike, path: string): Response | undefined {
    const found = this.#read(asked, path, this.#room);
    if (found === undefined) return undefined;
    const { bytes, headers } = found;
    return withHeaders(new Response(bytes), headers, bytes.length); // copies them
  }

  /** Puts {@linkcode HotAnswers.answer} into memory, as it is sent; tells whether it is there. */
  answerInto(
    headers: HeadersLike,
    path: string,
    buffer: AnswerBuffer,
  ): boolean {
    const found = this.#read(headers, path, buffer);
    return found !== undefined &&
      buffer.putHead(contentHead(found.headers, found.bytes.length));
  }

  #read(
    headers: HeadersLike,
    path: string,
    room: ContentRoom,
  ): HotFile | undefined {
    const type = this.#typeOf(path);
    if (type === undefined) return undefined;
    for (const name of CONDITIONS) if (headers.has(name)) return undefined;
    const { tree } = this.#served;
    if (tree.isLink !== undefined) return undefined;
    try {
      const node = this.#find(path);
      const extent = this.#extent;
      const stat = this.#stat;
      if (node === 0 || !tree.locate(node, extent)) return undefined;
      const bytes = this.#contents.readAtHand(node, extent, room);
      if (bytes === undefined || !tree.stat(node, stat)) return undefined;
      const etag = etagOf(tree, extent);
      const modified = Math.floor(stat.mtime / 1000);
      return { bytes, headers: fileHeaders(type, etag, modified) };
    } catch (error) {
      if (error instanceof RecordfsError) return undefined;
      throw error;
    }
  }

  /** The type that a path's ending tells, where nothing can run in such. */
  #typeOf(path: string): string | undefined {
    if (this.#type !== "" && path.endsWith(this.#ending)) return this.#type;
    const type = typeOfName(path);
    if (type === undefined || isActive(type)) return undefined;
    this.#ending = path.slice(path.lastIndexOf("."));
    return this.#type = type;
  }

  /** The node that a path of plain names leads to, without memory for each; 0 where it is another, or there is none. */
  #find(path: string): NodeId {
    const { tree } = this.#served;
    const name = this.#name;
    let node = ROOT;
    let length = 0;
    for (let i = 0; i < path.length; i++) {
      const code = path.charCodeAt(i);
      if (code === SLASH) {
        node = tree.lookup(node, name, 0, length);
        if (node === 0) return 0;
        length = 0;
      } else if (code === PERCENT || code > 0x7f || length === name.length) {
        return 0;
      } else name[length++] = code;
    }
    return length === 0 ? 0 : tree.lookup(node, name, 0, length);
  }
}

/**
 * What `new Response(bytes, { headers })` is, in less time: that makes the answer twice, once for who may look at it,
 * and registers one of them to be collected; headers that come later are only added.
 */
function withHeaders(
  response: Response,
  all: Readonly<Record<string, string>>,
  length: number,
): Response {
  const { headers } = response;
  headers.append("content-length", `${length}`);
  for (const name in all) headers.append(name, all[name]!);
  return response;
}
