import { RecordfsError } from "../../base/errors.ts";
import { newExtent, newStat, type NodeId, ROOT } from "../../tree/tree.ts";
import type { Served } from "../served.ts";
import { contentHead } from "../http/response_head.ts";
import type { ResponseBuffer } from "../http/response_buffer.ts";
import type { HeadersLike } from "../request_like.ts";
import { type ContentRoom, type Contents, SMALL } from "./content.ts";
import { isActive, typeOfName } from "./content_type.ts";
import { etagOf } from "./etag.ts";
import { fileHeaders } from "./file_headers.ts";

/** Headers that may change the response to other than the whole file. */
const CONDITIONS = [
  "range",
  "if-none-match",
  "if-modified-since",
  "if-match",
  "if-unmodified-since",
];

/** Longest filename on Linux, in bytes. */
const LONGEST_NAME = 255;
const SLASH = 0x2f;
const PERCENT = 0x25;

interface HotFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Reused memory for contents that are copied next; grows as needed. */
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
 * Fast path for the most frequent requests: whole small files that are cached and whose name tells their type. Plain
 * code, because steps that may wait take twice as long.
 */
export class CachedResponses {
  readonly #served: Served;
  readonly #contents: Contents;
  readonly #room = new Room();
  readonly #extent = newExtent();
  readonly #stat = newStat();
  readonly #name = new Uint8Array(LONGEST_NAME);
  /** Extension of the last request: in most containers it is always the same. */
  #ending = "";
  /** Type of that extension; empty before the first request. */
  #type = "";

  constructor(served: Served, contents: Contents) {
    this.#served = served;
    this.#contents = contents;
  }

  /** Responds to a GET of a path as in the URL; `undefined` if the fast path does not apply. */
  answer(asked: HeadersLike, path: string): Response | undefined {
    const found = this.#read(asked, path, this.#room);
    if (found === undefined) return undefined;
    const { bytes, headers } = found;
    return withHeaders(new Response(bytes), headers, bytes.length); // copies them
  }

  /** Writes {@linkcode CachedResponses.answer} to a buffer, ready to send. Returns whether the fast path applies. */
  answerInto(
    headers: HeadersLike,
    path: string,
    buffer: ResponseBuffer,
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

  /** Returns the type for a path's extension, unless it is unknown or active content. */
  #typeOf(path: string): string | undefined {
    if (this.#type !== "" && path.endsWith(this.#ending)) return this.#type;
    const type = typeOfName(path);
    if (type === undefined || isActive(type)) return undefined;
    this.#ending = path.slice(path.lastIndexOf("."));
    return this.#type = type;
  }

  /** Looks up a path of plain ASCII names without allocations; 0 if it has others or does not exist. */
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
 * Equivalent of `new Response(bytes, { headers })`, but faster: that would create the response twice and register one
 * for finalization; headers added later are simply appended.
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
