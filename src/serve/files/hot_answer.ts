import { RecordfsError } from "../../errors.ts";
import { newExtent, newStat, type NodeId, ROOT } from "../../tree/tree.ts";
import type { Served } from "../served.ts";
import type { Contents } from "./content.ts";
import { isActive, typeOfName } from "./content_type.ts";
import { etagOf } from "./etag.ts";
import { fileHeaders } from "./file_headers.ts";
import { type Sending, sentResponse } from "./sent_response.ts";

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

/**
 * Answers what is asked for most: all of a small file that is at hand, whose name tells its type. As plain code: what
 * can wait is made of steps, which take as long again.
 */
export class HotAnswers {
  readonly #served: Served;
  readonly #contents: Contents;
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
  answer(
    { headers }: Request,
    path: string,
    sending: Sending | undefined,
  ): Response | undefined {
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
      const bytes = this.#contents.readAtHand(node, extent);
      if (bytes === undefined || !tree.stat(node, stat)) return undefined;
      const etag = etagOf(tree, extent);
      const modified = Math.floor(stat.mtime / 1000);
      const response = sentResponse(bytes, sending);
      return withHeaders(response, fileHeaders(type, etag, modified));
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
): Response {
  const { headers } = response;
  for (const name in all) headers.append(name, all[name]!);
  return response;
}
