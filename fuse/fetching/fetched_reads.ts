import { messageOf } from "../../src/base/message_text.ts";
import {
  type MessageListener,
  optionsNamedBy,
} from "../../src/base/named_option.ts";
import { runAsync } from "../../src/io/concurrency/steps.ts";
import { readAgain, readVerified } from "../../src/io/read/verified_content.ts";
import { checksumLoaded } from "../../src/io/checksums/checksum.ts";
import type { RemoteObserver } from "../../src/io/remote/client.ts";
import { RemoteError } from "../../src/io/remote/remote_error.ts";
import type { RemoteSource } from "../../src/io/remote/remote_source.ts";
import { CheckedNodes } from "../checksums/checked_nodes.ts";
import { checksumMismatch } from "../checksums/checksum_mismatch.ts";
import { libc } from "../libc.ts";
import { MAX_TRANSFER } from "../limits.ts";
import { readMounts } from "../mounting/mountinfo.ts";
import { OnceLog } from "../session/once_log.ts";
import { RequestCounts } from "../session/request_counts.ts";
import { Errno } from "../wire/errno.ts";
import { REPLY_HEADER_SIZE } from "../wire/reply.ts";
import type {
  DelegatedRead,
  DelegatedSample,
  ToFetchThread,
} from "./fetch_messages.ts";
import { readSpecialFile } from "../mounting/read_special_file.ts";

interface WaitingRead {
  readonly read: DelegatedRead;
  /** Fails it with that error number. */
  readonly giveUp: (errno: number) => void;
  readonly since: number;
}

/**
 * Interval at which to check whether a waiting process has been sent a fatal signal, in milliseconds. The kernel
 * itself reports this (INTERRUPT) only where it does not read ahead.
 */
const LOOK = 100;
/** Longest wait for a server, in milliseconds, once the mount is unreachable. */
const UNREACHABLE = 5000;

/** A READ that failed because its server could not be reached. */
interface Failed {
  readonly read: DelegatedRead;
  readonly error: RemoteError;
  readonly at: number;
}

/**
 * How long a failed READ also fails READs of the same bytes by the same process, in milliseconds. After a failed
 * read-ahead, the kernel reads the first page again, which must not wait for the server as long again.
 */
const AGAIN = 1000;

/** READs whose bytes must be fetched. Each is answered when its bytes have arrived. */
export class FetchedReads {
  readonly #objects: readonly RemoteSource[];
  readonly #log: MessageListener;
  readonly #waiting = new Set<WaitingRead>();
  /** Checks of samples in progress, by object and offset. */
  readonly #comparing = new Map<
    string,
    Promise<Uint8Array<ArrayBuffer> | undefined>
  >();
  /** Samples whose checksum does not match at the server either. */
  readonly #wrong = new Set<string>();
  /** Unreachable objects. Losing one and reaching it again are each logged once. */
  readonly #away = new Set<string>();
  /** READs that failed within the last {@linkcode AGAIN} milliseconds, oldest first. */
  #failed: Failed[] = [];
  readonly #once: OnceLog;
  #nodes: CheckedNodes | undefined;
  #counts = new RequestCounts(undefined);
  #device: string | undefined;
  readonly #trace: (line: string) => void;
  #traces = false;
  /** Time of the last check whether the mount is reachable. */
  #lookedAt = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    objects: readonly RemoteSource[],
    log: MessageListener,
    trace: (line: string) => void,
  ) {
    this.#objects = objects;
    this.#trace = trace;
    this.#log = log;
    this.#once = new OnceLog(log);
  }

  /** Counts requests to servers, and traces fetched ranges if enabled. */
  get observer(): RemoteObserver {
    return {
      asked: () => this.#counts.asked(),
      retried: () => this.#counts.retried(),
      fetched: (name, start, length, ms) => {
        this.#counts.fetched(length);
        if (!this.#traces) return;
        this.#trace(
          `FETCH ${name} bytes ${start}-${start + length - 1}: ${
            ms.toFixed(1)
          } ms`,
        );
      },
    };
  }

  mounted(
    { nodes, counts, device, trace }: Extract<
      ToFetchThread,
      { kind: "mounted" }
    >,
  ): void {
    this.#traces = trace ?? this.#traces;
    if (nodes !== undefined) this.#nodes = new CheckedNodes(nodes);
    if (counts !== undefined) this.#counts = new RequestCounts(counts);
    this.#device = device ?? this.#device;
  }

  /** Answers a READ once its bytes have arrived. `descriptor` resolves to `undefined` once the descriptor is closed. */
  add(
    read: DelegatedRead,
    descriptor: () => Promise<number | undefined>,
  ): void {
    const gone = Promise.withResolvers<never>();
    gone.promise.catch(() => {});
    const waiting: WaitingRead = {
      read,
      giveUp: (errno) => gone.reject(new GivenUp(errno)),
      since: performance.now(),
    };
    this.#waiting.add(waiting);
    this.#counts.waited();
    this.#look();
    this.#reply(
      read,
      descriptor,
      Promise.race([this.#answer(read), gone.promise]),
    ).finally(() => this.#waiting.delete(waiting));
  }

  async #reply(
    read: DelegatedRead,
    descriptor: () => Promise<number | undefined>,
    answer: Promise<Uint8Array<ArrayBuffer>>,
  ): Promise<void> {
    let errno = 0;
    let reply: Uint8Array<ArrayBuffer>;
    try {
      reply = await answer;
    } catch (error) {
      errno = this.#errnoOf(error);
      if (error instanceof RemoteError) this.#noteFailed(read, error);
      reply = new Uint8Array(REPLY_HEADER_SIZE);
    }
    const fd = await descriptor();
    if (fd === undefined) return;
    // Right before sending: waiters for the same bytes share this memory, one after the other.
    setHeader(reply, read, errno);
    this.#counts.reply(reply.length);
    // Fails if nobody waits any more.
    libc().write(fd, reply, reply.length);
  }

  end(): void {
    clearTimeout(this.#timer);
    for (const { giveUp } of this.#waiting) giveUp(Errno.EIO);
  }

  #noteFailed(read: DelegatedRead, error: RemoteError): void {
    // A repeated READ must not fail further ones.
    if (this.#errorOf(read) !== undefined) return;
    const at = performance.now();
    this.#failed = this.#failed.filter((one) => at - one.at < AGAIN);
    this.#failed.push({ read, error, at });
  }

  /** Returns the error of a recently failed READ that this one repeats. */
  #errorOf({ object, start, pid }: DelegatedRead): RemoteError | undefined {
    const now = performance.now();
    return this.#failed.find(({ read, at }) =>
      now - at < AGAIN && read.pid === pid && read.object === object &&
      start >= read.start && start < read.start + read.length
    )?.error;
  }

  /** Returns the bytes of a READ, after room for the reply header. */
  async #answer(read: DelegatedRead): Promise<Uint8Array<ArrayBuffer>> {
    const failure = this.#errorOf(read);
    if (failure !== undefined) throw failure;
    const { object, start, length, sample } = read;
    const { fetcher } = this.#objects[object]!;
    const compared = sample && await this.#compared(object, sample);
    let reply = compared;
    if (compared === undefined || sample!.length !== length) {
      reply = new Uint8Array(REPLY_HEADER_SIZE + length);
      const into = reply.subarray(REPLY_HEADER_SIZE);
      if (compared === undefined) await fetcher.read(into, start, undefined);
      else {
        const at = REPLY_HEADER_SIZE + start - sample!.offset;
        into.set(compared.subarray(at, at + length));
      }
    }
    for (const name of this.#away) this.#log(`${name} can be read again`);
    this.#away.clear();
    return reply!;
  }

  /**
   * Verifies a sample, once for all waiters. Returns its bytes after room for a reply header, or `undefined` if it
   * is larger than `MAX_TRANSFER`.
   */
  #compared(
    object: number,
    sample: DelegatedSample,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const key = `${object} ${sample.offset}`;
    let comparing = this.#comparing.get(key);
    if (comparing === undefined) {
      comparing = this.#compare(key, this.#objects[object]!, sample)
        .finally(() => this.#comparing.delete(key));
      this.#comparing.set(key, comparing);
    }
    return comparing;
  }

  async #compare(
    key: string,
    source: RemoteSource,
    sample: DelegatedSample,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (this.#wrong.has(key)) throw new GivenUp(Errno.EIO); // already logged
    const { node, number, length, checksumKind, isWrong } = sample;
    // No tree in this thread has loaded the checksum function.
    if (checksumKind !== undefined) {
      await runAsync(checksumLoaded(checksumKind));
    }
    const generation = this.#nodes?.generation ?? 0;
    const reply = new Uint8Array(
      REPLY_HEADER_SIZE + Math.min(length, MAX_TRANSFER),
    );
    const memory = reply.subarray(REPLY_HEADER_SIZE);
    const mismatch = (expected: number, actual: number) => {
      this.#wrong.add(key);
      return checksumMismatch(source.name, number, expected, actual);
    };
    await runAsync(
      isWrong
        ? readAgain(source, sample, memory, mismatch)
        : readVerified(source, sample, memory, mismatch),
    );
    this.#nodes?.add(node, generation);
    return length <= MAX_TRANSFER ? reply : undefined;
  }

  #errnoOf(error: unknown): number {
    if (error instanceof GivenUp) return error.errno;
    this.#counts.error();
    if (!(error instanceof RemoteError)) this.#once.error(error);
    else if (!this.#away.has(error.path!)) {
      this.#away.add(error.path!);
      this.#log(
        `${messageOf(error)}. Until then, reads fail with an I/O error`,
        optionsNamedBy(error),
      );
    }
    return Errno.EIO;
  }

  /** Schedules checks whether waiting still makes sense. */
  #look(): void {
    if (this.#timer !== undefined || this.#waiting.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#giveUpSome();
      this.#look();
    }, LOOK);
  }

  #giveUpSome(): void {
    let oldest = Infinity;
    const now = performance.now();
    const ending = new Map<number, boolean>();
    for (const { read: { pid }, giveUp, since } of this.#waiting) {
      oldest = Math.min(oldest, since);
      if (now - since < LOOK) break; // later ones are younger
      const ends = ending.get(pid) ?? wantsToEnd(pid);
      ending.set(pid, ends);
      if (ends) giveUp(Errno.EINTR); // other waiters for the same bytes retry
    }
    if (now - Math.max(oldest, this.#lookedAt) < UNREACHABLE) return;
    this.#lookedAt = now;
    if (this.#isReachable()) return;
    // Unmounting waits for these reads.
    for (const { giveUp } of this.#waiting) giveUp(Errno.EIO);
  }

  #isReachable(): boolean {
    return this.#device === undefined ||
      readMounts().some(({ device }) => device === this.#device);
  }
}

/** Rejects a READ whose answer is no longer waited for, or should not be. */
class GivenUp extends Error {
  readonly errno: number;

  constructor(errno: number) {
    super("No request waits for it");
    this.errno = errno;
  }
}

function setHeader(
  reply: Uint8Array<ArrayBuffer>,
  { uniqueLow, uniqueHigh }: DelegatedRead,
  errno: number,
): void {
  const header = new DataView(reply.buffer);
  header.setUint32(0, reply.length, true);
  header.setInt32(4, -errno, true);
  header.setUint32(8, uniqueLow, true);
  header.setUint32(12, uniqueHigh, true);
}

/** SIGHUP, SIGINT, SIGQUIT, SIGKILL and SIGTERM as bits of the masks in proc_pid_status(5). */
const ENDING = [1, 2, 3, 9, 15].reduce(
  (mask, signal) => mask | 1n << BigInt(signal - 1),
  0n,
);

/**
 * Whether a thread that waits in the kernel has a fatal signal pending. Other signals, such as timers and those
 * that some language runtimes use to switch threads, must not fail its read: few programs retry.
 *
 * @param pid Process id from the request: 0 if the process is in another container.
 */
function wantsToEnd(pid: number): boolean {
  if (pid === 0) return false;
  let text: string;
  try {
    text = readSpecialFile(`/proc/${pid}/status`);
  } catch {
    return true; // it has exited
  }
  const mask = (name: string) =>
    BigInt(`0x${new RegExp(`^${name}:\\s*([0-9a-f]+)$`, "m").exec(text)![1]}`);
  const pending = mask("SigPnd") | mask("ShdPnd");
  return (pending & ~mask("SigBlk") & ENDING) !== 0n;
}
