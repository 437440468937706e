import { viewOf } from "../../base/view_of.ts";
import { createHash } from "node:crypto";
import { type Thumbnail, Thumbnailer } from "../../codecs/image/thumbnail.ts";
import { ImageError } from "../../codecs/image/image_error.ts";
import { PICTURE_HEAD, pictureSize } from "../../codecs/image/picture_size.ts";
import { Slots } from "../../io/concurrency/slots.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { Extent, NodeId } from "../../tree/tree.ts";
import type { RequestLike } from "../request_like.ts";
import { ServeError } from "../serve_error.ts";
import type { Served } from "../served.ts";
import { waitFor } from "../wait_for.ts";
import { answerByConditions } from "./conditions.ts";
import type { Contents } from "./content.ts";
import { SNIFFED, typeOfBytes } from "./content_type.ts";
import { etagOf } from "./etag.ts";
import type { FileResponses } from "./file_response.ts";
import { fileHeaders } from "./file_headers.ts";
import { refuseBomb } from "./picture_limit.ts";
import type { ThumbnailStore } from "./thumbnail_store.ts";

/** Range of the longer side, in pixels. */
const LEAST_EDGE = 16;
const MOST_EDGE = 2048;

/** Images with fewer bytes and pixels are sent unchanged: a thumbnail would save nothing. */
export const SMALL_BYTES = 60 << 10;
const SMALL_PIXELS = 4 << 20;

/** Maximum pixels of an image sent unchanged because no thumbnail can be made. */
const MOST_PIXELS = 100_000_000;

/** Maximum bytes of an image to make a thumbnail of, and of all in progress in this thread. */
const MOST_BYTES = 128 << 20;
/** Maximum number of thumbnails in progress in this thread. */
const CONCURRENCY = Math.min(4, Math.max(2, navigator.hardwareConcurrency));

const DECODED = /^image\/(jpeg|png|gif|webp|avif|tiff)$/;

/** Handler of `?thumbnail=EDGE`: downscaled images, made in threads of libvips and cached. */
export class Thumbnails {
  readonly #served: Served;
  readonly #contents: Contents;
  readonly #files: FileResponses;
  readonly #store: ThumbnailStore;
  readonly #slots = new Slots(CONCURRENCY, MOST_BYTES);
  #thumbnailer: Promise<Thumbnailer | undefined> | undefined;

  /** @param files Sends files unchanged. */
  constructor(
    served: Served,
    contents: Contents,
    files: FileResponses,
    store: ThumbnailStore,
  ) {
    this.#served = served;
    this.#contents = contents;
    this.#files = files;
    this.#store = store;
  }

  /**
   * Responds to a GET or HEAD of a file's thumbnail; with the file itself if it is small, or not a supported image.
   *
   * @param name Filename as in the URL.
   * @param asked Longer side in pixels, as in the query.
   * @throws {ServeError} If the size is invalid, or the image is damaged or too large.
   * @throws {FormatError} If the container is damaged.
   */
  *answer(
    request: RequestLike,
    node: NodeId,
    name: string,
    asked: string,
  ): Steps<Response> {
    const edge = edgeOf(asked);
    const extent = yield* this.#contents.locate(node);
    if (extent === undefined) {
      throw new ServeError(
        "is-directory",
        "Cannot send this as a file: it is a directory",
      );
    }
    const { length, source } = extent;
    const { sources } = this.#served.tree;
    const isShort = length <= SMALL_BYTES;
    if (isShort && (yield* this.#isSmall(extent))) {
      return yield* this.#files.answer(request, node, name);
    }
    const { mtime } = yield* this.#served.stat(node);
    const modified = Math.floor(mtime / 1000);
    const content = etagOf(this.#served.tree, extent);
    const etag = `${content.slice(0, -1)}.t${edge}"`;
    const early = answerByConditions(request.headers, { etag, modified });
    if (early !== undefined) return early;
    const key = `${edge} ${keyOf(extent, content)}`;
    const from = extent.bytes === undefined ? sources.at(source) : undefined;
    let thumbnail = this.#store.get(key, from);
    if (thumbnail === undefined) {
      const thumbnailer = yield* this.#thumbnailerFor(extent);
      if (thumbnailer === undefined) {
        yield* refuseBomb(this.#served, node, `${MOST_PIXELS}`);
        return yield* this.#files.answer(request, node, name);
      }
      if (length > MOST_BYTES) {
        throw tooLarge(`the picture has more than ${MOST_BYTES >> 20} MiB`);
      }
      thumbnail = yield* this.#withPicture(
        request,
        node,
        extent,
        (picture) => make(thumbnailer, picture, edge),
      );
      this.#store.set(key, from, thumbnail);
    }
    const { type, bytes } = thumbnail;
    const headers = fileHeaders(type, etag, modified);
    headers["content-length"] = `${bytes.length}`;
    headers["accept-ranges"] = "none";
    return new Response(request.method === "HEAD" ? null : bytes, { headers });
  }

  /**
   * Decodes an image completely to find damage: browsers silently draw half of a truncated one.
   *
   * @returns Description of the damage; `null` if it is sound, or not supported.
   * @throws {FormatError} If the container is damaged.
   */
  *damageIn(request: RequestLike, node: NodeId): Steps<string | null> {
    const extent = yield* this.#contents.locate(node);
    if (extent === undefined) {
      throw new ServeError(
        "is-directory",
        "Cannot send this as a file: it is a directory",
      );
    }
    const thumbnailer = yield* this.#thumbnailerFor(extent);
    if (thumbnailer === undefined || extent.length > MOST_BYTES) return null;
    try {
      yield* this.#withPicture(
        request,
        node,
        extent,
        (picture) => thumbnailer.verify(picture),
      );
      return null;
    } catch (error) {
      if (!(error instanceof ImageError)) throw error;
      return error.code === "image-too-large" ? null : error.message;
    }
  }

  prepare(): void {
    void this.#load();
  }

  #load(): Promise<Thumbnailer | undefined> {
    return this.#thumbnailer ??= Thumbnailer.load().catch(() => undefined);
  }

  /** Whether an image is as cheap for a browser as its thumbnail. */
  *#isSmall(extent: Extent): Steps<boolean> {
    const head = yield* this.#headOf(extent, PICTURE_HEAD);
    const type = typeOfBytes(head.subarray(0, SNIFFED));
    if (type === "image/tiff") return false;
    // Browsers silently draw half of a truncated image, or nothing.
    if (!mayBeWhole(type, head)) return false;
    const size = pictureSize(head);
    return size === undefined || size.width * size.height <= SMALL_PIXELS;
  }

  /** Returns the thumbnailer for a content; `undefined` if it is not a supported image, or the package is missing. */
  *#thumbnailerFor(extent: Extent): Steps<Thumbnailer | undefined> {
    const head = yield* this.#headOf(extent, SNIFFED);
    if (!DECODED.test(typeOfBytes(head))) return undefined;
    return yield* waitFor(() => this.#load());
  }

  /** Reads an image and processes it as soon as a slot is free. */
  *#withPicture<T>(
    { closing = NEVER }: RequestLike,
    node: NodeId,
    extent: Extent,
    work: (picture: Uint8Array) => Promise<T>,
  ): Steps<T> {
    const { length } = extent;
    const onPicture = async () => {
      const whole = { start: 0, end: length };
      const part = await this.#contents.begin(node, extent, whole);
      const picture = new Uint8Array(length);
      await this.#contents.fill(part, picture, closing);
      return await work(picture);
    };
    return yield* waitFor(() =>
      unlessCancelled(
        closing,
        () => this.#slots.use(onPicture, length, closing),
      )
    );
  }

  *#headOf(extent: Extent, length: number): Steps<Uint8Array> {
    const size = Math.min(length, extent.length);
    return yield* this.#contents.peek(extent, size);
  }
}

/** Bytes at the end of a complete file, in hex: EOI (T.81, B.1.1.3), IEND (PNG, 11.2.5), the trailer (GIF89a, 27). */
const ENDS: Readonly<Record<string, string>> = {
  "image/jpeg": "ffd9",
  "image/png": "0000000049454e44ae426082",
  "image/gif": "3b",
};

/** Whether a file may be complete, by its end or the length in its header (RFC 9649, 2.4). */
function mayBeWhole(type: string, file: Uint8Array): boolean {
  if (type === "image/webp") {
    const view = viewOf(file);
    return view.getUint32(4, true) + 8 <= file.length;
  }
  const end = ENDS[type] ?? "";
  return end === "" || file.subarray(-end.length / 2).toHex() === end;
}

async function make(
  thumbnailer: Thumbnailer,
  picture: Uint8Array,
  edge: number,
): Promise<Thumbnail> {
  try {
    return await thumbnailer.make(picture, edge);
  } catch (cause) {
    if (!(cause instanceof ImageError)) throw cause;
    const { code, message } = cause;
    if (code === "image-too-large") throw tooLarge(message, cause);
    throw new ServeError(
      "damaged",
      `Cannot decode the picture: ${message}`,
      { status: 422, cause },
    );
  }
}

const NEVER = new AbortController().signal;

async function unlessCancelled<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!signal.aborted) throw cause;
    const message = "The client has closed its connection";
    throw new ServeError("cancelled", message, { cause });
  }
}

function edgeOf(asked: string): number {
  const edge = /^[0-9]{1,4}$/.test(asked) ? Number(asked) : 0;
  if (edge >= LEAST_EDGE && edge <= MOST_EDGE) return edge;
  throw new ServeError(
    "bad-request",
    `Cannot make a thumbnail of '${
      asked.slice(0, 20)
    }' pixels: its longer side is ${LEAST_EDGE} to ${MOST_EDGE}`,
  );
}

/** Returns the cache key of a content; for one in memory, a hash of its bytes, because its short tag may collide. */
function keyOf({ bytes, offset, length }: Extent, etag: string): string {
  if (bytes === undefined) return etag;
  const content = bytes.subarray(offset, offset + length);
  return createHash("sha256").update(content).digest("hex");
}

function tooLarge(reason: string, cause?: unknown): ServeError {
  const message = `Cannot make a thumbnail: ${reason}`;
  return new ServeError("too-large", message, { cause });
}
