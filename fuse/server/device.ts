import { messageOf } from "../../src/base/message_text.ts";
import {
  type MessageListener,
  optionsNamedBy,
} from "../../src/base/named_option.ts";
import type { ConnectionState } from "./connection_state.ts";
import { Errno } from "../wire/errno.ts";
import { addressOf, errorText, lastErrno, libc } from "../libc.ts";
import { copyMade } from "../content/copy_bytes.ts";
import { MAX_TRANSFER } from "../limits.ts";
import type { RequestCounts } from "../session/request_counts.ts";
import type { ServedSources } from "../content/served_sources.ts";
import type { Reply } from "../wire/reply.ts";
import type { Session } from "../session/session.ts";

export interface DeviceOptions {
  readonly fd: number;
  readonly session: Session;
  readonly sources: ServedSources;
  readonly connection: ConnectionState;
  readonly counts: RequestCounts;
  /** Called after each request, before its reply is sent. */
  readonly onRequest: (() => void) | undefined;
  /** Called after INIT has been answered. */
  readonly onServing: () => void;
  readonly onLog: MessageListener;
}

/** `F_SETFL`, `O_NONBLOCK` and `POLLIN`, from `asm-generic/fcntl.h` and `asm-generic/poll.h`. */
const F_SETFL = 4;
const O_NONBLOCK = 0o4000;
const POLLIN = 1;

/** Number of requests between two pieces of large checks, under load. */
const REQUESTS_BETWEEN_CHECKS = 16;

/** Polling interval while other threads check, in milliseconds. */
const LOOK_AGAIN = 3;

/** Opens the libc functions for serving, so that the first request need not wait for it. */
export function openServingFunctions(): void {
  const { read, writev, errnoLocation, fcntl } = libc();
  void [read, writev, errnoLocation, fcntl];
}

/**
 * Reads requests and writes replies until the mount ends. Blocks the thread, unless a request needs what only the event
 * loop can load.
 *
 * @returns Reason of a failure, or `undefined` if the mount simply ended or the server stops.
 */
export async function serveDevice(
  options: DeviceOptions,
): Promise<string | undefined> {
  const { session, counts, connection, onRequest } = options;
  const send = replySender(options);
  for (;;) {
    const failure = serveUntilLoading(options, send);
    if (!session.needsLoading) return failure;
    await session.load();
    counts.request(session.request.opcode);
    onRequest?.();
    if (session.reply.length > 0) send();
    if (connection.stopping) return undefined;
  }
}

/** Serves until the end, or until a request needs to load something. */
function serveUntilLoading(
  options: DeviceOptions,
  send: () => void,
): string | undefined {
  const { fd, session, connection, counts, onRequest, onServing } = options;
  const { request } = session;
  const { read } = libc();
  const capacity = request.bytes.length;
  let serving = connection.minor > 0;
  let waits = true;
  setWaiting(fd, waits); // a killed server may have left it nonblocking
  let untilCheck = REQUESTS_BETWEEN_CHECKS;
  while (true) {
    if (session.isChecking === waits) setWaiting(fd, waits = !waits);
    if (!waits && --untilCheck < 0) {
      untilCheck = REQUESTS_BETWEEN_CHECKS;
      checkOn(session, send);
    }
    const length = read(fd, request.bytes, capacity);
    if (length < 0) {
      const errno = lastErrno();
      if (errno === Errno.ENODEV) return undefined; // unmounted, or aborted
      if (errno === Errno.EAGAIN && !waits) {
        if (session.waitsForOthers) waitForRequest(fd);
        checkOn(session, send);
      }
      if (isPassing(errno)) continue;
      return `reading /dev/fuse failed: ${errorText(errno)}`;
    }
    session.handle(length);
    if (session.needsLoading) return undefined;
    counts.request(request.opcode);
    onRequest?.();
    if (session.reply.length > 0) send();
    if (!serving && connection.minor > 0) {
      serving = true;
      onServing();
    }
    if (connection.stopping) return undefined;
    session.prepareNext();
  }
}

/** Continues the pending checks, and sends the replies that are ready. */
function checkOn(session: Session, send: () => void): void {
  session.checkOn();
  while (session.answerWaiting()) send();
}

/** Makes reads block, or fail at once with EAGAIN. */
function setWaiting(fd: number, waits: boolean): void {
  libc().fcntl(fd, F_SETFL, waits ? 0 : O_NONBLOCK);
}

/** Waits for a request, for at most {@linkcode LOOK_AGAIN}. */
function waitForRequest(fd: number): void {
  // struct pollfd of <poll.h>: descriptor; requested and returned events, 16 bits each.
  const descriptor = new Uint8Array(Int32Array.of(fd, POLLIN).buffer);
  libc().poll(descriptor, 1, LOOK_AGAIN);
}

/** Whether reading may be retried after that error. */
function isPassing(errno: number): boolean {
  return errno === Errno.EINTR || errno === Errno.EAGAIN ||
    errno === Errno.ENOMEM ||
    errno === Errno.ENOENT; // the request was interrupted before it was read
}

/** Creates the function that sends the reply, with the payload directly from the source's memory. */
function replySender(
  { fd, session, sources, counts, onLog }: DeviceOptions,
): () => void {
  const { writev } = libc();
  // Two struct iovec of <bits/types/struct_iovec.h>: address and length of 64 bits each, as pairs of words.
  // Storing truncates a number modulo 2^32; the high words of lengths stay 0.
  const words = new Uint32Array(8);
  const vectors = new Uint8Array(words.buffer);

  const made = new MadePayload(sources, onLog);

  return () => {
    const { reply } = session;
    const address = reply.payloadLength > 0 ? made.addressOf(reply) : 0;
    const { payloadLength: length } = reply;
    counts.reply(reply.length + length);
    if (reply.errno === Errno.EIO) counts.error();
    if (reply.address === 0) reply.address = addressOf(reply.bytes);
    words[0] = reply.address;
    words[1] = reply.address / 0x1_0000_0000;
    words[2] = reply.length;
    if (length === 0) {
      // Can fail only with ENOENT: the caller was interrupted and no longer waits.
      writev(fd, vectors, 1);
      return;
    }
    words[4] = address;
    words[5] = address / 0x1_0000_0000;
    words[6] = length;
    if (writev(fd, vectors, 2) >= 0 || lastErrno() !== Errno.EFAULT) return;
    const source = sources.at(reply.payloadSource)!;
    // The kernel has already ended the request with EIO.
    source.file?.hasChanged(); // logs the change first
    counts.error();
    onLog(
      `Cannot read ${source.name} at byte ${reply.payloadOffset}: it was truncated while it was ` +
        "mounted, or its disk failed",
    );
  };
}

/** Locates payloads. Unmapped sources are copied to a reused buffer. */
class MadePayload {
  readonly #sources: ServedSources;
  readonly #onLog: MessageListener;
  #room: Uint8Array<ArrayBuffer> | undefined;

  constructor(sources: ServedSources, onLog: MessageListener) {
    this.#sources = sources;
    this.#onLog = onLog;
  }

  /** Returns the address of a reply's payload. If it cannot be read, turns the reply into an error. */
  addressOf(reply: Reply): number {
    const { payloadSource, payloadOffset, payloadLength } = reply;
    const source = this.#sources.at(payloadSource)!; // the session checked the range
    if (source.made === undefined) return source.address + payloadOffset;
    this.#room ??= new Uint8Array(MAX_TRANSFER);
    try {
      const into = this.#room.subarray(0, payloadLength);
      copyMade(source.made, into, payloadOffset, true);
    } catch (error) {
      this.#onLog(messageOf(error), optionsNamedBy(error));
      reply.fail(Errno.EIO);
      reply.seal();
    }
    return addressOf(this.#room);
  }
}
