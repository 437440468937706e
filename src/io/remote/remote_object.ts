import { changedFile } from "../storage/changed_file.ts";
import { FormatError } from "../../base/errors.ts";
import type { Client, Patience } from "./client.ts";
import { RemoteError } from "./remote_error.ts";
import type { StallWatch } from "./stall_watch.ts";
import type { Target } from "./target.ts";
import { type PieceTaker, readBody } from "./read_body.ts";
import { Transient } from "./transient.ts";

/** What tells one state of an object from another. */
export interface ObjectState {
  /** In bytes. */
  readonly size: number;
  /** The server's tag of its content, or where there is none when it was modified. */
  readonly tag: string;
  /** Last modification, in milliseconds since 1970; 0 where the server does not say. */
  readonly mtime: number;
  /** Whether the tag tells this state from all others: only then may something of it be kept for other programs. */
  readonly isLasting: boolean;
}

/** An answer to the first request. */
export type Opened =
  | { readonly kind: "missing" }
  | { readonly kind: "directory" }
  /** It is as it was. */
  | { readonly kind: "same" }
  | {
    readonly kind: "object";
    readonly state: ObjectState;
    /** Its first bytes. */
    readonly head: Uint8Array<ArrayBuffer>;
    /** Whether parts of it can be asked for. */
    readonly hasRanges: boolean;
  };

/** Age in milliseconds below which a time of modification may be that of two states. */
const YOUNG = 2000;
/** Answers in a row that ignore the range, after which none is asked for any more. */
const MOST_IGNORED = 4;

/**
 * Asks for the beginning of an object, and so for all that the server knows of it.
 *
 * @param length Bytes of the beginning.
 * @param known The tag of a state that is known: then nothing is sent if it still is that.
 */
export function openObject(
  client: Client,
  target: Target,
  length: number,
  known: string | undefined,
  patience: Patience,
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
 * Reads a range of an object.
 *
 * @param range From its first byte on.
 * @param taker Given its bytes as they come, one after the other.
 * @throws {FormatError} If it is not any more what it was (`changed`).
 * @throws {RemoteError} If the server does not give it.
 */
export async function readRange(
  client: Client,
  target: Target,
  state: ObjectState,
  { start, length }: { readonly start: number; readonly length: number },
  taker: PieceTaker,
  patience: Patience,
): Promise<void> {
  let got = 0;
  let ignoredTimes = 0;
  // Some servers give less than they are asked for: all their answers have one time.
  using watch = client.watch(patience);
  while (got < length) {
    await client.ask(target, {
      bytes: length,
      goesOn: true,
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

/**
 * Compares an answer with the state that is known; where they cannot be compared, that is said.
 *
 * @throws {FormatError} If it is of another state (`changed`).
 */
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

/** Whether a tag tells nothing but a size: the server gives nothing else to compare. */
export function isUntagged(tag: string): boolean {
  return tag.startsWith(UNTAGGED);
}

/** Takes a body up to the room there is; counts what comes. */
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

/** What the server says of the content: its tag, or a digest of all of it (RFC 9530), even of an answer with a part. */
function tagOf(headers: Headers): string | undefined {
  const digest = headers.get("repr-digest");
  return headers.get("etag") ?? (digest === null ? undefined : `=${digest}`);
}

/** Whether a tag is of one state alone: a weak one or a time may be that of two which were there within a second. */
function isLastingTag(tag: string, mtime: number, headers: Headers): boolean {
  if (isUntagged(tag)) return false;
  const isOfContent = tag.startsWith('"') || tag.startsWith("=");
  if (isOfContent || mtime === 0) return true;
  const date = Date.parse(headers.get("date") ?? "") || Date.now();
  return date - mtime >= YOUNG;
}

/** What tags begin with where the server gives none. */
const MODIFIED = "modified ";
/** What they begin with where it gives no time of modification either, or 1970. */
const UNTAGGED = `${MODIFIED}0,`;

function modifiedIn(headers: Headers): number {
  return Date.parse(headers.get("last-modified") ?? "") || 0;
}

/** A tag in the place of the server's own: the next best that tells states apart. */
function modifiedTag(headers: Headers, size: number): string | undefined {
  const modified = modifiedIn(headers);
  return modified === 0 ? undefined : `${MODIFIED}${modified}, ${size} bytes`;
}

/** What a `Content-Range` says (RFC 9110, 14.4). */
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

/** Parts of what is compressed on the way are not those that were asked for. */
function refuseEncoded({ name }: Target, headers: Headers): void {
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding === "identity") return;
  throw new RemoteError(
    "bad-answer",
    `Cannot read ${name}: its server compresses it on the way (Content-Encoding: ${encoding}), so that parts of ` +
      "it can't be asked for; switch that off for such files",
    { path: name, actual: encoding },
  );
}

function ignored({ name }: Target, status: number): RemoteError {
  return new RemoteError(
    "no-ranges",
    `Cannot read ${name}: its server does not answer requests for parts of a file (HTTP ${status})`,
    { path: name, status },
  );
}

function sizeless({ name }: Target, headers: Headers): RemoteError {
  const actual = headers.get("content-range");
  return new RemoteError(
    "bad-answer",
    `Cannot read ${name}: its server does not say how large it is (Content-Range: ${actual}); download it first`,
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
