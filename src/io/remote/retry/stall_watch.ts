/** Bytes that a working server sends in {@linkcode StallWatch.silence}: 819 a second. */
const LEAST = 16 * 1024;
/** Shortest period in milliseconds, however short the timeout. */
const SHORTEST = 2000;
const SPANS = 16;

/** Aborts a request, or an attempt, that receives next to nothing over a whole period. */
export class StallWatch implements Disposable {
  /** Longest period of an attempt, in milliseconds. A new attempt may reach a better server. */
  static silence = 20_000;
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setInterval> | undefined;
  readonly #arrivals: Arrivals;
  readonly #request: StallWatch | undefined;
  readonly #others: (() => number) | undefined;
  /** Bytes of all requests at the last look, while this one waits for others. */
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

  /** Watches a request with all its attempts. `others` returns the bytes received by all requests. */
  static ofRequest(timeout: number, others: () => number): StallWatch {
    return new StallWatch(Math.max(timeout, SHORTEST), { others });
  }

  /** Watches an attempt of this request, from now on. Its bytes count for both. */
  attempt(timeout: number): StallWatch {
    const period = Math.min(StallWatch.silence, Math.max(timeout, SHORTEST));
    return new StallWatch(period, { request: this });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get reason(): string {
    return `the server sent ${this.#bytes} bytes and then almost nothing`;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    this.#arrivals.add(bytes);
    this.#request?.add(bytes);
  }

  /** Restarts the period, because the server has begun to respond. */
  restart(): void {
    this.#arrivals.restart();
  }

  /** Starts waiting for other requests, whose bytes count as progress until {@linkcode StallWatch.resume}. */
  queue(): void {
    this.#queuedAt = this.#others?.();
  }

  /** Stops the clock while something other than the server is waited for. */
  pause(): void {
    this.#arrivals.pause();
  }

  /** Resumes the clock; from now on only its own bytes count. */
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

export class Arrivals {
  readonly #span: number;
  readonly #least: number;
  readonly #now: () => number;
  /** Ring buffer of bytes per span: those of the period, and the current one. */
  readonly #counts = new Float64Array(SPANS + 1);
  #begun: number;
  #last = 0;
  #pausedAt: number | undefined;

  /** @param least Fewest bytes expected in a period. */
  constructor(period: number, least: number, now: () => number) {
    this.#span = period / SPANS;
    this.#least = least;
    this.#now = now;
    this.#begun = now();
  }

  add(bytes: number): void {
    const span = this.#advance();
    this.#counts[span % this.#counts.length]! += bytes;
  }

  /** Whether a whole period has passed, and too little arrived in the last one. */
  get areTooFew(): boolean {
    if (this.#pausedAt !== undefined || this.#advance() < SPANS) return false;
    return this.#counts.reduce((sum, bytes) => sum + bytes) < this.#least;
  }

  restart(): void {
    this.#begun = this.#now();
    this.#last = 0;
    this.#counts.fill(0);
  }

  pause(): void {
    this.#pausedAt ??= this.#now();
  }

  resume(): void {
    if (this.#pausedAt === undefined) return;
    this.#begun += this.#now() - this.#pausedAt;
    this.#pausedAt = undefined;
  }

  /** Returns the number of the current span, and drops spans older than the period. */
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
