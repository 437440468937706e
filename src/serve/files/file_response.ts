import type { Steps } from "../../io/concurrency/steps.ts";
import type { Extent, NodeId } from "../../tree/tree.ts";
import type { ResponseRoom } from "../response_room.ts";
import { GatheredPieces } from "./gathered_pieces.ts";
import type { RequestLike } from "../request_like.ts";
import { ServeError } from "../serve_error.ts";
import type { Served } from "../served.ts";
import { answerByConditions, rangesCount } from "./conditions.ts";
import type { Contents } from "./content.ts";
import { isActive, SNIFFED, typeOfBytes, typeOfName } from "./content_type.ts";
import { attachment } from "./disposition.ts";
import { etagOf } from "./etag.ts";
import { fileHeaders } from "./file_headers.ts";
import { type ByteRange, rangesOf } from "./ranges.ts";

/** Content security policy of documents: no scripts, no loading, an opaque origin. */
const SANDBOX =
  "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'";

const encoder = new TextEncoder();

export class FileResponses {
  readonly #served: Served;
  readonly #contents: Contents;

  constructor(served: Served, contents: Contents) {
    this.#served = served;
    this.#contents = contents;
  }

  /**
   * Responds to a GET or HEAD of a file.
   *
   * @param name Name as in the URL; the extension determines the type.
   * @throws {ServeError} If ranges or preconditions are not satisfied.
   * @throws {FormatError} If the file is damaged.
   */
  *answer(request: RequestLike, node: NodeId, name: string): Steps<Response> {
    const extent = yield* this.#contents.locate(node);
    if (extent === undefined) {
      throw new ServeError(
        "is-directory",
        "Cannot send this as a file: it is a directory",
      );
    }
    const { headers, room } = request;
    const isHead = request.method === "HEAD";
    const { mtime } = yield* this.#served.stat(node);
    const modified = Math.floor(mtime / 1000);
    const etag = etagOf(this.#served.tree, extent);
    const early = answerByConditions(headers, { etag, modified });
    if (early !== undefined) return early;
    const size = extent.length;
    const range = headers.get("range");
    // Ranges apply to GET only (RFC 9110, 14.2).
    const ranges = range !== null && !isHead &&
        rangesCount(headers, { etag, modified })
      ? rangesOf(range, size)
      : undefined;
    const all = { start: 0, end: size };
    const [part = all] = ranges ?? [];
    const isSeveral = ranges !== undefined && ranges.length > 1;
    const byName = typeOfName(name);
    const wanted = isHead || isSeveral ? undefined : part;
    const memory = wanted && this.#contents.memoryFor(wanted, room);
    const content = memory &&
      (yield* this.#contents.read(node, extent, wanted!, memory));
    const type = byName ?? (yield* this.#typeOf(extent, content, wanted));
    const list = this.#headersOf(type, name, etag, modified);
    if (isSeveral) {
      return this.#severalParts(node, extent, ranges, type, list, room);
    }
    const length = part.end - part.start;
    if (ranges !== undefined) {
      list["content-range"] = `bytes ${part.start}-${part.end - 1}/${size}`;
    }
    const status = ranges === undefined ? 200 : 206;
    list["content-length"] = String(length);
    if (content !== undefined) {
      const body = room === undefined ? content : onePiece(content);
      return new Response(body, { status, headers: list });
    }
    const body = isHead ? null : this.#served.streams.of(
      (signal) => this.#contents.pieces(node, extent, part, room, signal),
      { room },
    );
    return new Response(body, { status, headers: list });
  }

  #headersOf(
    type: string,
    name: string,
    etag: string,
    modified: number,
  ): Record<string, string> {
    const headers = fileHeaders(type, etag, modified);
    if (isActive(type)) {
      headers["content-security-policy"] = SANDBOX;
      headers["referrer-policy"] = "no-referrer";
      if (type === "application/pdf") {
        headers["content-disposition"] = attachment(decoded(name));
      }
    }
    return headers;
  }

  *#typeOf(
    extent: Extent,
    content: Uint8Array | undefined,
    range: ByteRange | undefined,
  ): Steps<string> {
    const end = Math.min(SNIFFED, extent.length);
    const head = content !== undefined && range?.start === 0 &&
        content.length >= end
      ? content.subarray(0, end)
      : yield* this.#contents.peek(extent, end);
    return typeOfBytes(head);
  }

  /** Responds with several ranges, as `multipart/byteranges` (RFC 9110, 14.6). */
  #severalParts(
    node: NodeId,
    extent: Extent,
    ranges: readonly ByteRange[],
    type: string,
    headers: Record<string, string>,
    room: ResponseRoom | undefined,
  ): Response {
    const boundary = crypto.getRandomValues(new Uint8Array(18)).toHex();
    const headOf = ({ start, end }: ByteRange) =>
      `\r\n--${boundary}\r\nContent-Type: ${type}\r\n` +
      `Content-Range: bytes ${start}-${end - 1}/${extent.length}\r\n\r\n`;
    const tail = `\r\n--${boundary}--\r\n`;
    const length = ranges.reduce(
      (sum, range) => sum + headOf(range).length + range.end - range.start,
      tail.length,
    );
    const list = {
      ...headers,
      "content-type": `multipart/byteranges; boundary=${boundary}`,
      "content-length": String(length),
    };
    const contents = this.#contents;
    const body = this.#served.streams.of(async function* (signal) {
      const pieces = new GatheredPieces(room, length);
      for (const range of ranges) {
        yield* pieces.add(encoder.encode(headOf(range)));
        const part = await contents.begin(node, extent, range);
        const fill = (into: Uint8Array) => contents.fill(part, into, signal);
        yield* pieces.addBy(range.end - range.start, fill);
      }
      yield* pieces.add(encoder.encode(tail));
      yield* pieces.end();
    }, { room });
    return new Response(body, { status: 206, headers: list });
  }
}

/** Streams bytes without a copy: `Response` would copy them. */
function onePiece(content: Uint8Array<ArrayBuffer>): ReadableStream {
  return new ReadableStream({
    pull(controller) {
      if (content.length > 0) controller.enqueue(content);
      controller.close();
    },
  }, { highWaterMark: 0 });
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return "download";
  }
}
