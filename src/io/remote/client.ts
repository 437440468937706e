import { readFileSync } from "node:fs";
import { RecordfsError } from "../../errors.ts";
import { abortable } from "../concurrency/abortable.ts";
import { whatIsWrong } from "../libc/system_error.ts";
import { warnOnConsole } from "../../message_text.ts";
import { Backoff } from "./backoff.ts";
import { warnedCaches } from "./cache/warned_caches.ts";
import { variable } from "../../environment.ts";
import { RemoteError } from "./remote_error.ts";
import type { RemoteOptions } from "./remote_options.ts";
import { observingCosts } from "./request_costs.ts";
import { Slots } from "./slots.ts";
import { StallWatch } from "./stall_watch.ts";
import type { Target } from "./target.ts";
import { Transient } from "./transient.ts";

/** How long a read waits for a server, in milliseconds. */
const TIMEOUT = 300_000;
/** Requests that are under way at most. */
const MAX_REQUESTS = 64;
/** Bytes that are under way at most, of all requests together. */
const MAX_BYTES = 128 << 20;
/** Redirections, and renewals of what has expired, that a request takes at most. */
const MOST_HOPS = 10;
/** Who waits longer for a server than this is told, in milliseconds. */
const TELL_AFTER = 3000;
/** Of a refusal's body, what is looked at. */
const LOOK = 4096;

/** What a request is for. */
export interface Question<T> {
  /** How many bytes are wanted that are kept in memory until all have come. */
  readonly bytes?: number;
  /** Whether another attempt goes on behind the bytes that came; otherwise it begins anew. */
  readonly goesOn?: boolean;
  /** The range or condition, made anew for each attempt. */
  headers(): Headers;
  /**
   * Takes an answer that is neither a refusal nor a failure: 200, 206, 304, 404, 412, 416 and others below 400.
   *
   * @param watch To be told of bytes that arrive.
   * @throws {Transient} If another attempt should be made.
   */
  take(response: Response, watch: StallWatch): Promise<T>;
}

/** How long is waited. */
export interface Patience {
  readonly signal: AbortSignal | undefined;
  /**
   * In milliseconds: how long a request may take with all its attempts, unless more than 1 KB/s keeps coming. Defaults to
   * what the client was made with.
   */
  readonly timeout?: number | undefined;
  /** Watches several requests as one: those that a server answers in parts. */
  readonly watch?: StallWatch | undefined;
  /** Counts requests for one object. */
  readonly counter?: Pick<RemoteObserver, "asked" | "retried"> | undefined;
}

/** What becomes of requests, for who counts or shows them. */
export interface RemoteObserver {
  /** One was sent. */
  asked(): void;
  /** It failed, and is sent again. */
  retried(): void;
  /** A range has come. */
  fetched(name: string, start: number, length: number, ms: number): void;
}

/** Asks servers, as often as it takes. */
export class Client {
  readonly timeout: number;
  readonly observer: RemoteObserver;
  readonly #slots: Slots;
  readonly #warn: (message: string) => void;
  /** Whether it was said that a server is waited for, and not answered since. */
  #isAway = false;
  readonly #http: Deno.HttpClient | undefined;

  /** @throws {RecordfsError} If there is no file of certificates, or there are none in it (`bad-certificates`). */
  constructor(options: RemoteOptions, observer?: RemoteObserver) {
    this.#warn = options.onWarning ?? warnOnConsole;
    this.observer = observingCosts(observer, this.#warn);
    this.timeout = options.timeout ?? TIMEOUT;
    this.#slots = new Slots(options.maxRequests ?? MAX_REQUESTS, MAX_BYTES);
    const caCert = options.caCert ?? variable("AWS_CA_BUNDLE");
    const from = options.caCert === undefined
      ? "AWS_CA_BUNDLE"
      : "--cacert, option caCert";
    this.#http = caCert === undefined ? undefined : Deno.createHttpClient({
      caCerts: certificates(caCert, from),
    });
  }

  /** Warns once a server that answers cannot be compared. */
  warnOfUntagged({ name }: Target): void {
    const warned = warnedCaches(this.#warn);
    const key = `untagged ${/^\w+:\/\/[^/]*/.exec(name)?.[0] ?? name}`;
    if (warned.has(key)) return;
    warned.add(key);
    this.#warn(
      `Cannot tell ${name} from a replacement of the same size: its server sends neither ETag nor Last-Modified, ` +
        "so that nothing of it is cached for other programs. Have the server send an ETag",
    );
  }

  /**
   * Asks until there is an answer.
   *
   * @throws {RemoteError} If it is refused, or nothing comes for too long.
   */
  async ask<T>(
    target: Target,
    question: Question<T>,
    patience: Patience,
  ): Promise<T> {
    const { signal, timeout = this.timeout, counter } = patience;
    using own = patience.watch === undefined ? this.watch(patience) : undefined;
    const request = patience.watch ?? own!;
    const either = anyOf(signal, request.signal);
    const backoff = new Backoff(timeout);
    const begun = performance.now();
    let most = 0;
    for (;;) {
      signal?.throwIfAborted();
      let last: Transient;
      try {
        request.pause(); // it is no server that a slot is waited for
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
          signal,
        );
        this.#isAway = false;
        return answer;
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof Transient)) throw error;
        last = error;
      }
      // Bytes are a reason to go on as long again only where they lead further than before.
      if (last.bytes > most) backoff.reset();
      if (question.goesOn !== true) most = Math.max(most, last.bytes);
      if (!await backoff.wait(last.after, either)) {
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

  /** Watches a request, or several that are one. */
  watch({ timeout = this.timeout }: Pick<Patience, "timeout">): StallWatch {
    return StallWatch.ofRequest(timeout);
  }

  /** Says once that a server is waited for, of all that wait. */
  #tellAway({ name }: Target, { message }: Transient, timeout: number): void {
    if (this.#isAway) return;
    this.#isAway = true;
    const seconds = Math.round(timeout / 1000);
    this.#warn(
      `${name} can't be read at the moment (${message}): trying for up to ${seconds} s`,
    );
  }

  async #attempt<T>(
    target: Target,
    question: Question<T>,
    request: StallWatch,
    { signal, timeout = this.timeout, counter }: Patience,
  ): Promise<T> {
    using watch = request.attempt(timeout);
    const either = anyOf(signal, request.signal, watch.signal);
    try {
      const response = await this.#followed(target, question, {
        signal: either,
        counter,
      });
      watch.restart();
      try {
        return await question.take(response, watch);
      } finally {
        const { body } = response;
        // What is left of it, unless it was read to its end.
        if (body?.locked === false) await body.cancel().catch(() => {});
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (either.aborted) {
        throw new Transient(watch.reason, { bytes: watch.bytes });
      }
      if (error instanceof TypeError) { // of fetch, and of its bodies
        const reason = reasonOf(error);
        throw new Transient(reason, {
          bytes: watch.bytes,
          cause: new TypeError(reason), // what fetch throws has the URL, with what is signed
        });
      }
      throw error;
    }
  }

  /** The answer behind all redirections, unless it is a failure or a refusal. */
  async #followed<T>(
    target: Target,
    question: Question<T>,
    { signal, counter }: Patience,
  ): Promise<Response> {
    for (let hop = 1;; hop++) {
      const { url, headers } = await abortable(
        target.prepare(question.headers()),
        signal,
      );
      // What is compressed has other offsets.
      headers.set("accept-encoding", "identity");
      this.observer.asked();
      counter?.asked();
      const response = await fetch(url, {
        headers,
        redirect: "manual",
        signal: signal ?? null,
        ...this.#http && { client: this.#http },
      });
      const { status } = response;
      if (status < 300 || status === 304) return response;
      if (hop > MOST_HOPS || !await target.react(response, url)) {
        return await judged(target, response);
      }
      await response.body?.cancel();
    }
  }
}

/** Aborted when one of those is that there are. */
function anyOf(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}

/** An answer that may be used. */
async function judged(target: Target, response: Response): Promise<Response> {
  const { status } = response;
  if (status === 404 || status === 412 || status === 416) return response;
  if (status < 400) {
    await response.body?.cancel();
    throw new RemoteError(
      "redirect-loop",
      `Cannot read ${target.name}: its server redirects in a circle, or to where it can't (HTTP ${status}); ` +
        "look at the URL in a browser",
      { path: target.name, status },
    );
  }
  const text = await beginning(response);
  const what = `HTTP ${status}${text}`;
  const isRefused = status === 401 || status === 403 ||
    // What S3 says of what has expired.
    status === 400 && /^ (Expired|Invalid)Token/.test(text);
  if (isRefused) {
    throw new RemoteError(
      "access-denied",
      `Cannot read ${target.name}: access denied (${what}); ${target.advice}`,
      { path: target.name, status },
    );
  }
  const isSlowDown = status === 408 || status === 425 || status === 429;
  if (isSlowDown || status >= 500 && status !== 501 && status !== 505) {
    throw new Transient(`the server answered ${what}`, {
      status,
      after: retryAfter(response.headers.get("retry-after")),
    });
  }
  throw badAnswer(target.name, status, text);
}

function badAnswer(name: string, status: number, text: string): RemoteError {
  return new RemoteError(
    "bad-answer",
    `Cannot read ${name}: the server answered HTTP ${status}${text}`,
    { path: name, status },
  );
}

/** The code that a bucket's server gives for a refusal, in XML: `<Code>NoSuchBucket</Code>`. */
async function beginning(response: Response): Promise<string> {
  let text = "";
  try {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > LOOK) break;
    }
  } catch {
    // There is the status.
  }
  const code = /<Code>([A-Za-z]{1,60})<\/Code>/.exec(text)?.[1];
  return code === undefined ? "" : ` ${code}`;
}

/** Milliseconds of a `Retry-After` (RFC 9110, 10.2.3): seconds, or a date. */
function retryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  const wait = /^\d+$/.test(value)
    ? Number(value) * 1000
    : Date.parse(value) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

/** What fetch says, with the host in place of the URL, which may hold what is signed. */
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

/**
 * The certificates of a file that may hold several.
 *
 * @param from Who names it.
 */
function certificates(path: string, from: string): string[] {
  let pem: string;
  try {
    pem = readFileSync(path, "utf8");
  } catch (cause) {
    const why = whatIsWrong(cause);
    throw badCertificates(`${path} (${from}) can't be read: ${why}`, {
      path,
      cause,
    });
  }
  const all = pem.match(
    /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g,
  );
  if (all !== null) return all;
  const what = `${path} (${from}) holds no certificate in PEM`;
  throw badCertificates(`${what}; look whether it is the right file`, { path });
}

function badCertificates(
  what: string,
  facts: { readonly path: string; readonly cause?: unknown },
): RecordfsError {
  return new RecordfsError(
    "bad-certificates",
    `The file of certificates ${what}`,
    facts,
  );
}
