import { readFileSync } from "node:fs";
import { RecordfsError } from "../../base/errors.ts";
import { whatIsWrong } from "../libc/system_error.ts";
import { warnOnConsole } from "../../base/message_text.ts";
import { Backoff } from "./retry/backoff.ts";
import { warnedCaches } from "./cache/warned_caches.ts";
import { variable } from "../../base/environment.ts";
import { type NamedOption, optionText } from "../../base/named_option.ts";
import { judged } from "./judge_response.ts";
import { RemoteError } from "./remote_error.ts";
import type { RemoteOptions } from "./remote_options.ts";
import { observingCosts } from "./request_costs.ts";
import { Slots } from "../concurrency/slots.ts";
import { StallWatch } from "./retry/stall_watch.ts";
import {
  backoffOf,
  type StoreBackoff,
  timeNow,
} from "./retry/store_backoff.ts";
import type { Target } from "./target.ts";
import { CA_CERT, Transient } from "./retry/transient.ts";

/** Default timeout of a read, in milliseconds. */
const TIMEOUT = 300_000;
/** Default limit of requests in flight. */
const MAX_REQUESTS = 64;
/** Limit of bytes in flight, of all requests together. */
const MAX_BYTES = 128 << 20;
/** Most redirections, and renewals of expired URLs or credentials, of a request. */
const MOST_HOPS = 10;
/** Waiting time in milliseconds after which a warning is given. */
const TELL_AFTER = 3000;
/** A request aborted sooner, in milliseconds, says nothing about its server. */
const LATE = 2000;
/** Progress in bytes that a response counts for requests waiting for a slot: more than their stall timeout requires. */
const ANSWER = 1 << 24;

/** A request and the handler of its response. */
export interface RemoteRequest<T> {
  /** Response bytes that are held in memory until all have arrived. */
  readonly bytes?: number;
  /** Whether another attempt continues after the received bytes; otherwise it starts again. */
  readonly isResumable?: boolean;
  /** Returns headers for range or condition, called for each attempt. */
  headers(): Headers;
  /**
   * Handles a response that is neither a refusal nor a failure: 200, 206, 304, 404, 412, 416 and others below 400. Must
   * notify `watch` of arriving bytes. Throws a {@linkcode Transient} if another attempt should be made.
   */
  take(response: Response, watch: StallWatch): Promise<T>;
}

/** Limits on waiting for a response. */
export interface RequestLimits {
  readonly signal: AbortSignal | undefined;
  /**
   * Time in milliseconds that a request may take with all its attempts, unless about 1 KB/s keeps coming. Defaults to
   * that of the client.
   */
  readonly timeout?: number | undefined;
  /** Watches several requests as one, if a server answers in parts. */
  readonly watch?: StallWatch | undefined;
  readonly counter?: Pick<RemoteObserver, "asked" | "retried"> | undefined;
}

/** Called when a request is sent, when a failed one is sent again, and when a range has arrived. */
export interface RemoteObserver {
  asked(): void;
  retried(): void;
  fetched(name: string, start: number, length: number, ms: number): void;
}

/** HTTP client that retries requests. */
export class Client {
  readonly timeout: number;
  readonly observer: RemoteObserver;
  readonly #slots: Slots;
  readonly #warn: (message: string) => void;
  /** Bytes received by all requests. */
  #arrived = 0;
  /** Whether a warning about waiting was given, and no response has come since. */
  #isAway = false;
  readonly #http: Deno.HttpClient | undefined;

  /** @throws {RecordfsError} If the certificate file is missing or has no certificates (`bad-certificates`). */
  constructor(options: RemoteOptions, observer?: RemoteObserver) {
    this.#warn = options.onWarning ?? warnOnConsole;
    this.observer = observingCosts(observer, this.#warn);
    this.timeout = options.timeout ?? TIMEOUT;
    this.#slots = new Slots(options.maxRequests ?? MAX_REQUESTS, MAX_BYTES);
    const caCert = options.caCert ?? variable("AWS_CA_BUNDLE");
    const from = options.caCert === undefined ? "AWS_CA_BUNDLE" : CA_CERT;
    this.#http = caCert === undefined ? undefined : Deno.createHttpClient({
      caCerts: certificates(caCert, from),
    });
  }

  /** Warns once about a server whose responses cannot be compared. */
  warnOfUntagged({ name }: Target): void {
    const warned = warnedCaches(this.#warn);
    const key = `untagged ${/^\w+:\/\/[^/]*/.exec(name)?.[0] ?? name}`;
    if (warned.has(key)) return;
    warned.add(key);
    this.#warn(
      `Cannot detect a replacement of ${name} of the same size: its server sends neither ETag nor Last-Modified, ` +
        "so nothing of it is cached for other programs. Have the server send an ETag",
    );
  }

  /** Repeats a request until it is answered. Throws a {@linkcode RemoteError} on refusal or timeout. */
  async ask<T>(
    target: Target,
    question: RemoteRequest<T>,
    patience: RequestLimits,
  ): Promise<T> {
    const { signal, timeout = this.timeout, counter } = patience;
    using own = patience.watch === undefined ? this.watch(patience) : undefined;
    const request = patience.watch ?? own!;
    const either = anyOf(signal, request.signal);
    const backoff = new Backoff(timeout);
    const begun = performance.now();
    let most = 0;
    let last: Transient | undefined;
    for (;;) {
      signal?.throwIfAborted();
      try {
        request.queue();
        const answer = await this.#slots.use(
          () => {
            request.resume();
            return this.#attempt(target, question, request, {
              signal,
              timeout,
              counter,
            });
          },
          question.bytes ?? 0,
          either,
        );
        this.#isAway = false;
        this.#arrived += ANSWER;
        return answer;
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof Transient) last = error;
        else if (!request.signal.aborted) throw error;
        else last ??= new Transient(request.reason);
      }
      // Received bytes extend the timeout only if they lead further than before.
      if (last.bytes > most) backoff.reset();
      if (question.isResumable !== true) most = Math.max(most, last.bytes);
      if (!await backoff.wait(last.after, last.isAway, either)) {
        signal?.throwIfAborted();
        throw last.finally(target.name, {
          attempts: backoff.attempts,
          timeout,
          mayWait: timeout === this.timeout,
        });
      }
      this.observer.retried();
      counter?.retried();
      if (performance.now() - begun >= TELL_AFTER) {
        this.#tellAway(target, last, timeout);
      }
    }
  }

  watch(
    { timeout = this.timeout }: Pick<RequestLimits, "timeout">,
  ): StallWatch {
    return StallWatch.ofRequest(timeout, () => this.#arrived);
  }

  /** Warns once, for all requests that wait. */
  #tellAway({ name }: Target, { message }: Transient, timeout: number): void {
    if (this.#isAway) return;
    this.#isAway = true;
    const seconds = Math.round(timeout / 1000);
    this.#warn(
      `Cannot read ${name} at the moment: ${message}. Retrying for up to ${seconds} s`,
    );
  }

  async #attempt<T>(
    target: Target,
    question: RemoteRequest<T>,
    request: StallWatch,
    { signal, timeout = this.timeout, counter }: RequestLimits,
  ): Promise<T> {
    using watch = request.attempt(timeout);
    const either = anyOf(signal, request.signal, watch.signal);
    try {
      const response = await this.#followed(target, question, watch, {
        signal: either,
        counter,
      });
      watch.restart();
      try {
        return await question.take(response, watch);
      } finally {
        this.#arrived += watch.bytes;
        const { body } = response;
        // Drops the rest, unless it was read to its end.
        if (body?.locked === false) await body.cancel().catch(() => {});
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof Transient) throw error;
      if (either.aborted) {
        throw new Transient(watch.reason, { bytes: watch.bytes });
      }
      // An error of fetch's body.
      throw error instanceof TypeError
        ? unreachable(error, watch.bytes)
        : error;
    }
  }

  /** Follows redirections and returns the final response, unless it is a failure or a refusal. */
  async #followed<T>(
    target: Target,
    question: RemoteRequest<T>,
    watch: StallWatch,
    { signal, counter }: Pick<RequestLimits, "counter"> & {
      readonly signal: AbortSignal;
    },
  ): Promise<Response> {
    for (let hop = 1;; hop++) {
      const backoff = backoffOf(target.store);
      watch.pause(); // another request's response is waited for
      try {
        await backoff.pass(signal);
      } catch (error) {
        throw backoff.reason ?? error;
      }
      watch.resume();
      const begun = timeNow();
      const { url, headers, settled } = await target.prepare(
        question.headers(),
        signal,
      );
      // Offsets in compressed data would differ.
      headers.set("accept-encoding", "identity");
      this.observer.asked();
      counter?.asked();
      let isTaken = false;
      try {
        const response = await this.#fetch(url, headers, signal);
        const { status } = response;
        isTaken = status < 300 || status === 304;
        const isSequential = !isTaken && hop <= MOST_HOPS &&
          await target.react(response, url);
        if (isSequential) await response.body?.cancel();
        const answer = isTaken || isSequential
          ? response
          : await judged(target, response);
        backoff.answered(begun);
        if (!isSequential) return answer;
      } catch (error) {
        throw failed(error, { backoff, begun, signal, watch });
      } finally {
        settled?.(isTaken);
      }
    }
  }

  #fetch(url: URL, headers: Headers, signal: AbortSignal): Promise<Response> {
    return fetch(url, {
      headers,
      redirect: "manual",
      signal,
      ...this.#http && { client: this.#http },
    });
  }
}

/** Returns the error of an unanswered request, and updates the store's back-off. */
function failed(
  error: unknown,
  { backoff, begun, signal, watch }: {
    readonly backoff: StoreBackoff;
    readonly begun: number;
    readonly signal: AbortSignal;
    readonly watch: StallWatch;
  },
): unknown {
  if (error instanceof RemoteError) backoff.answered(begun);
  const isLate = signal.aborted && timeNow() - begun >= LATE;
  const reason = error instanceof TypeError // of fetch
    ? unreachable(error)
    : isLate
    ? new Transient(watch.reason)
    : error;
  if (!(reason instanceof Transient)) return reason;
  const { after, isSlowDown } = reason;
  reason.isAway = backoff.failed({ begun, after, isSlowDown, reason });
  return reason;
}

function anyOf(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}

function unreachable(error: TypeError, bytes = 0): Transient {
  const reason = reasonOf(error);
  // Errors of fetch contain the URL, which may be signed.
  return new Transient(reason, { bytes, cause: new TypeError(reason) });
}

/** Returns fetch's message with the host instead of the URL, which may be signed. */
function reasonOf(error: TypeError): string {
  const { cause } = error;
  const text = cause instanceof Error ? cause.message : error.message;
  return text.replace(/ ?for url \(([^)]*)\)/, (_, url: string) => {
    const host = URL.parse(url)?.host;
    return host === undefined ? "" : ` to ${host}`;
  }).replace(
    /[a-z]+:\/\/\S*/gi,
    "the server",
  );
}

/** Returns the certificates of a file that may hold several. `from` is the setting that names it. */
function certificates(path: string, from: NamedOption | string): string[] {
  let pem: string;
  try {
    pem = readFileSync(path, "utf8");
  } catch (cause) {
    const why = whatIsWrong(cause);
    throw badCertificates(path, from, why, cause);
  }
  const all = pem.match(
    /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g,
  );
  if (all !== null) return all;
  const why = "it has no certificate in PEM. Check that it is the right file";
  throw badCertificates(path, from, why);
}

function badCertificates(
  path: string,
  from: NamedOption | string,
  reason: string,
  cause?: unknown,
): RecordfsError {
  const isOption = typeof from !== "string";
  return new RecordfsError(
    "bad-certificates",
    `Cannot read the certificates of ${path}, given by ${
      isOption ? optionText(from) : from
    }: ${reason}`,
    { path, cause, namedOptions: isOption ? [from] : undefined },
  );
}
