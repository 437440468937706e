/** Bytes that come in {@linkcode StallWatch.silence} of a server that works: 819 a second. */
const LEAST = 16 * 1024;
/** However short the timeout, a server has so long to answer, in milliseconds. */
const SHORTEST = 2000;
/** Spans of time that a period is counted in. */
const SPANS = 16;

/** Ends a request, or an attempt of one, of which next to nothing has come over a whole period. */
export class StallWatch implements Disposable {
  /** Longest period of an attempt, in milliseconds: another one may be answered by a better server. */
  static silence = 20_000;
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setInterval> | undefined;
  readonly #arrivals: Arrivals;
  readonly #request: StallWatch | undefined;
  readonly #others: (() => number) | undefined;
  /** What others have brought when it was looked last, while it is them that are waited for. */
  #queuedAt: number | undefined;
  #bytes = 0;

  private constructor(
    period: number,
    { request, others }: {
      readonly request?: StallWatch;
      readonly others?: () => number;
    },
  ) {
    this.#arrivals = new Arrivals(
      period,
      LEAST * period / StallWatch.silence,
      () => performance.now(),
    );
    this.#request = request;
    this.#others = others;
    this.#timer = setInterval(() => {
      this.#addOthers();
      if (this.#arrivals.areTooFew) this.#controller.abort();
    }, period / SPANS);
  }

  /**
   * Watches a request with all its attempts, from now on.
   *
   * @param timeout In milliseconds.
   * @param others Says how many bytes have come, of all requests.
   */
  static ofRequest(timeout: number, others: () => number): StallWatch {
    return new StallWatch(Math.max(timeout, SHORTEST), { others });
  }

  /** Watches an attempt of this request, from now on: what arrives is of both. */
  attempt(timeout: number): StallWatch {
    const period = Math.min(StallWatch.silence, Math.max(timeout, SHORTEST));
    return new StallWatch(period, { request: this });
  }

  /** Aborted when too little has come for too long. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What to say then. */
  get reason(): string {
    return `the server sent ${this.#bytes} bytes and then next to nothing`;
  }

  /** Bytes that have come. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts bytes that have come. */
  add(bytes: number): void {
    this.#bytes += bytes;
    this.#arrivals.add(bytes);
    this.#request?.add(bytes);
  }

  /** Begins its period anew: the server has begun to answer. */
  restart(): void {
    this.#arrivals.restart();
  }

  /** Waits for other requests to end: what comes of them counts, as long as they do. */
  queue(): void {
    this.#queuedAt = this.#others?.();
  }

  /** Stops the time, while it is not the server that is waited for. */
  pause(): void {
    this.#arrivals.pause();
  }

  /** Lets the time go on, or has its own bytes count alone. */
  resume(): void {
    this.#addOthers();
    this.#queuedAt = undefined;
    this.#arrivals.resume();
  }

  #addOthers(): void {
    if (this.#queuedAt === undefined) return;
    const now = this.#others!();
    this.#arrivals.add(now - this.#queuedAt);
    this.#queuedAt = now;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** What has arrived over the last period, which slides by a part of it. */
export class Arrivals {
  readonly #span: number;
  readonly #least: number;
  readonly #now: () => number;
  /** Bytes of the spans of the period and of the one that is not over, by their numbers. */
  readonly #counts = new Float64Array(SPANS + 1);
  #begun: number;
  /** Number of the last span that was counted in. */
  #last = 0;
  #pausedAt: number | undefined;

  /**
   * @param period In milliseconds.
   * @param least Bytes that arrive in that time at least.
   * @param now A clock in milliseconds.
   */
  constructor(period: number, least: number, now: () => number) {
    this.#span = period / SPANS;
    this.#least = least;
    this.#now = now;
    this.#begun = now();
  }

  /** Counts what arrives. */
  add(bytes: number): void {
    const span = this.#advance();
    this.#counts[span % this.#counts.length]! += bytes;
  }

  /** Whether a whole period is over, and less has arrived in the last one. */
  get areTooFew(): boolean {
    if (this.#pausedAt !== undefined || this.#advance() < SPANS) return false;
    return this.#counts.reduce((sum, bytes) => sum + bytes) < this.#least;
  }

  /** Begins anew. */
  restart(): void {
    this.#begun = this.#now();
    this.#last = 0;
    this.#counts.fill(0);
  }

  /** Stops the time. */
  pause(): void {
    this.#pausedAt ??= this.#now();
  }

  /** Lets it go on. */
  resume(): void {
    if (this.#pausedAt === undefined) return;
    this.#begun += this.#now() - this.#pausedAt;
    this.#pausedAt = undefined;
  }

  /** The number of the span that is under way; what is older than the period is dropped. */
  #advance(): number {
    const time = this.#pausedAt ?? this.#now();
    const span = Math.floor((time - this.#begun) / this.#span);
    const gone = Math.min(span - this.#last, this.#counts.length);
    for (let i = 1; i <= gone; i++) {
      this.#counts[(this.#last + i) % this.#counts.length] = 0;
    }
    return this.#last = Math.max(span, this.#last);
  }
}
