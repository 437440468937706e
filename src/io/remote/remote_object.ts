import { changedFile } from "../storage/changed_file.ts";
import { FormatError } from "../../base/errors.ts";
import type { Client, RequestLimits } from "./client.ts";
import { RemoteError } from "./remote_error.ts";
import type { StallWatch } from "./retry/stall_watch.ts";
import type { Target } from "./target.ts";
import { type PieceTaker, readBody } from "./read_body.ts";
import { Transient } from "./retry/transient.ts";

/** Identifies one state of an object. */
export interface ObjectState {
  readonly size: number;
  /** The server's tag of the content, or the modification time if there is none. */
  readonly tag: string;
  /** Last modification, in milliseconds since 1970; 0 if unknown. */
  readonly mtime: number;
  /** Whether the tag identifies this state uniquely. Only then may it be cached for other programs. */
  readonly isLasting: boolean;
}

export type Opened =
  | { readonly kind: "missing" }
  | { readonly kind: "directory" }
  /** Unchanged from the known state. */
  | { readonly kind: "same" }
  | {
    readonly kind: "object";
    readonly state: ObjectState;
    readonly head: Uint8Array<ArrayBuffer>;
    readonly hasRanges: boolean;
  };

/** Age in milliseconds below which two states may have the same modification time. */
const YOUNG = 2000;
/** Consecutive responses that ignore the range, after which ranges are given up. */
const MOST_IGNORED = 4;

/** Requests the beginning of an object, and so its state. If `known` is still its tag, the server sends no content. */
export function openObject(
  client: Client,
  target: Target,
  length: number,
  known: string | undefined,
  patience: RequestLimits,
): Promise<Opened> {
  return client.ask<Opened>(target, {
    headers() {
      const headers = new Headers({ range: `bytes=0-${length - 1}` });
      if (known?.includes('"')) headers.set("if-none-match", known);
      return headers;
    },
    async take(response, watch) {
      const { status, headers } = response;
      if (target.isDirectory) return { kind: "directory" };
      if (status === 404) return { kind: "missing" };
      if (status === 304) return { kind: "same" };
      if (status === 416) {
        const { total } = rangeOf(headers) ?? {};
        if (total !== 0) throw ignored(target, status);
        return object(headers, 0, new Uint8Array(), true);
      }
      refuseEncoded(target, headers);
      const range = rangeOf(headers);
      if (status === 206 && range?.start === 0 && range.total !== undefined) {
        const head = new Uint8Array(Math.min(length, range.total));
        requireAll(await fill(response, head, watch), head);
        return object(headers, range.total, head, true);
      }
      if (status === 206) {
        if (range?.start === 0) throw sizeless(target, headers);
        throw new Transient("it answered with another range", { status });
      }
      const text = headers.get("content-length");
      if (status !== 200 || text === null) throw ignored(target, status);
      const head = new Uint8Array(Math.min(length, Number(text)));
      requireAll(await fill(response, head, watch), head);
      const hasRanges = head.length === Number(text);
      return object(headers, Number(text), head, hasRanges);
    },
  }, patience);
}

/**
 * Reads a range of an object. `taker` receives the bytes as they arrive.
 *
 * @throws {FormatError} If the object has changed (`changed`).
 * @throws {RemoteError} If the server does not return it.
 */
export async function readRange(
  client: Client,
  target: Target,
  state: ObjectState,
  { start, length }: { readonly start: number; readonly length: number },
  taker: PieceTaker,
  patience: RequestLimits,
): Promise<void> {
  let got = 0;
  let ignoredTimes = 0;
  // Some servers return less than requested. All their responses share one timeout.
  using watch = client.watch(patience);
  while (got < length) {
    await client.ask(target, {
      bytes: length,
      isResumable: true,
      headers() {
        const last = start + length - 1;
        const headers = new Headers({ range: `bytes=${start + got}-${last}` });
        if (state.tag.startsWith('"')) headers.set("if-match", state.tag);
        return headers;
      },
      async take(response, watch) {
        const { status, headers } = response;
        refuseEncoded(target, headers);
        if (status === 404 || status === 412 || status === 416) {
          throw changed(target, state, `HTTP ${status}`);
        }
        requireSameState(client, target, state, headers);
        const range = rangeOf(headers);
        if (status !== 206) {
          if (++ignoredTimes >= MOST_IGNORED) throw ignored(target, status);
          throw new Transient(`it answered a range with HTTP ${status}`, {
            status,
          });
        }
        if (range?.total !== undefined && range.total !== state.size) {
          throw changed(target, state, `${range.total} bytes`);
        }
        if (range?.start !== start + got) {
          throw new Transient("it answered with another range", { status });
        }
        const came = await readBody(response.body, length - got, {
          get front() {
            return taker.front ?? 0;
          },
          take(piece) {
            got += piece.length;
            watch.add(piece.length);
            return taker.take(piece);
          },
        });
        if (came === 0) throw new Transient("it sent nothing");
      },
    }, { ...patience, watch });
  }
}

/** Throws a {@linkcode FormatError} (`changed`) if a response is of another state. Warns if that cannot be told. */
export function requireSameState(
  client: Client,
  target: Target,
  state: ObjectState,
  headers: Headers,
): void {
  const isByTime = state.tag.startsWith(MODIFIED);
  const tag = tagOf(headers) ??
    (isByTime ? modifiedTag(headers, state.size) : undefined);
  if (tag !== undefined) {
    if (tag !== state.tag) throw changed(target, state, tag);
    return;
  }
  const modified = isByTime ? 0 : modifiedIn(headers);
  if (modified === 0 || state.mtime === 0) client.warnOfUntagged(target);
  else if (modified !== state.mtime) {
    throw changed(target, state, new Date(modified).toISOString());
  }
}

/** Whether a tag consists of a size only, because the server gives nothing else to compare. */
export function isUntagged(tag: string): boolean {
  return tag.startsWith(UNTAGGED);
}

/** Reads a body into memory until it is full, counting arriving bytes. */
async function fill(
  { body }: Response,
  into: Uint8Array,
  watch: StallWatch,
): Promise<number> {
  let got = 0;
  if (into.length === 0) return got;
  return await readBody(body, into.length, {
    take(piece) {
      into.set(piece, got);
      got += piece.length;
      watch.add(piece.length);
      return false;
    },
  });
}

function requireAll(got: number, into: Uint8Array): void {
  if (got >= into.length) return;
  throw new Transient(`it sent ${got} bytes of ${into.length}`);
}

function object(
  headers: Headers,
  size: number,
  head: Uint8Array<ArrayBuffer>,
  hasRanges: boolean,
): Opened {
  const mtime = modifiedIn(headers);
  const tag = tagOf(headers) ?? modifiedTag(headers, size) ??
    `${UNTAGGED} ${size} bytes`;
  const isLasting = isLastingTag(tag, mtime, headers);
  const state = { size, tag, mtime, isLasting };
  return { kind: "object", state, head, hasRanges };
}

/** Returns the server's tag of the content, or a digest of all of it (RFC 9530), which partial responses have too. */
function tagOf(headers: Headers): string | undefined {
  const digest = headers.get("repr-digest");
  return headers.get("etag") ?? (digest === null ? undefined : `=${digest}`);
}

/** Whether a tag is unique to one state. A weak tag or a time may be that of two states within a second. */
function isLastingTag(tag: string, mtime: number, headers: Headers): boolean {
  if (isUntagged(tag)) return false;
  const isOfContent = tag.startsWith('"') || tag.startsWith("=");
  if (isOfContent || mtime === 0) return true;
  const date = Date.parse(headers.get("date") ?? "") || Date.now();
  return date - mtime >= YOUNG;
}

/** Prefix of tags made from the modification time. */
const MODIFIED = "modified ";
/** Prefix of tags without one, or with 1970. */
const UNTAGGED = `${MODIFIED}0,`;

function modifiedIn(headers: Headers): number {
  return Date.parse(headers.get("last-modified") ?? "") || 0;
}

/** Returns a substitute for the server's tag: the next best that tells states apart. */
function modifiedTag(headers: Headers, size: number): string | undefined {
  const modified = modifiedIn(headers);
  return modified === 0 ? undefined : `${MODIFIED}${modified}, ${size} bytes`;
}

/** Parses a `Content-Range` (RFC 9110, 14.4). */
function rangeOf(
  headers: Headers,
): { start: number | undefined; total: number | undefined } | undefined {
  const text = headers.get("content-range") ?? "";
  const parts = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/i.exec(text);
  if (parts === null) return undefined;
  const [, start, , total] = parts;
  return {
    start: start === undefined ? undefined : Number(start),
    total: total === "*" ? undefined : Number(total),
  };
}

/** Refuses compressed responses, whose ranges are not the requested ones. */
function refuseEncoded({ name }: Target, headers: Headers): void {
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding === "identity") return;
  throw new RemoteError(
    "bad-answer",
    `Cannot read ${name}: its server compresses it in transit (Content-Encoding: ${encoding}), so ` +
      "ranges of it cannot be requested. Disable compression for such files",
    { path: name, actual: encoding },
  );
}

function ignored({ name }: Target, status: number): RemoteError {
  return new RemoteError(
    "no-ranges",
    `Cannot read ${name}: its server does not support range requests (HTTP ${status})`,
    { path: name, status },
  );
}

function sizeless({ name }: Target, headers: Headers): RemoteError {
  const actual = headers.get("content-range");
  return new RemoteError(
    "bad-answer",
    `Cannot read ${name}: its server does not send its size (Content-Range: ${actual}). Download it first`,
    { path: name, actual },
  );
}

function changed(
  { name }: Target,
  state: ObjectState,
  actual: string,
): FormatError {
  return changedFile(name, state.tag, actual);
}
