import { createHash } from "node:crypto";
import { backoffTable } from "./backoff_table.ts";

/** State of a store, in memory that threads share. Times are in milliseconds. */
const Field = {
  /** Hash of the store's name; 0 if the entry is free. */
  KEY: 0,
  /** Until when no requests are sent; 0 while the store answers. */
  CLOSED_UNTIL: 1,
  CLOSED_AT: 2,
  /** Consecutive failures; simultaneous ones count as one. */
  ROUNDS: 3,
  /** Last response. */
  HEARD: 4,
  /** Requests that may be sent at once, minus {@linkcode FIRST_REQUESTS}. */
  CREDITS: 5,
  SENT: 6,
  /** When responses begin to add credits. */
  GROWS_FROM: 7,
} as const;
const FIELDS = Object.keys(Field).length;

/** Requests sent at once to a store that has not responded yet. */
const FIRST_REQUESTS = 4;
/** Credits per response, so that the number of requests doubles with each round trip. */
const EACH_ANSWER = 2;
/** Credits from which on requests are not limited any more. */
const UNCOUNTED = 128;
/** Time between requests without credits: less than ten a second, including the first ones. */
const PACE = 150;
/** Time after a slow-down (such as HTTP 429) in which responses add no credits. */
const SLOW = 1000;

/** First wait for a store that fails, and for one with too many requests; and the longest wait. */
const FIRST_WAIT = 100;
const FIRST_WAIT_SLOW = 250;
const LONGEST_WAIT = 1000;
/** Longest wait that a store may request. After it, the store is probed. */
const LONGEST_ASKED = 60_000;
/** Interval of checking what other threads have recorded. */
const LOOK = 100;

export interface StoreFailure {
  readonly begun: number;
  /** Wait that the store requests, in milliseconds. */
  readonly after: number | undefined;
  /** Whether the store reported too many requests. */
  readonly isSlowDown: boolean;
  readonly reason: Error;
}

interface Waiter {
  readonly send: () => void;
}

/**
 * Back-off of a store, shared by all requests of a program. While the store fails, single requests probe it at least
 * once a second, and all others wait for the result. A store that is new or has recovered gets a few requests at first,
 * and more with each response.
 */
export class StoreBackoff {
  readonly #state: BigInt64Array;
  readonly #waiting = new Set<Waiter>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  reason: Error | undefined;

  constructor(
    state: BigInt64Array = new BigInt64Array(new SharedArrayBuffer(FIELDS * 8)),
  ) {
    this.#state = state;
  }

  /** Waits until a request may be sent, first come first served. */
  pass(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#waiting.size === 0 && this.#timeLeft() === 0) {
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#waiting.delete(waiter);
        reject(signal.reason);
      };
      const waiter = {
        send() {
          signal.removeEventListener("abort", giveUp);
          resolve();
        },
      };
      signal.addEventListener("abort", giveUp, { once: true });
      this.#waiting.add(waiter);
      this.#sendDue();
    });
  }

  /** Records a response to a request sent at `begun`. */
  answered(begun: number): void {
    const now = timeNow();
    this.#set(Field.HEARD, now);
    if (this.#get(Field.CLOSED_UNTIL) !== 0) {
      // A request sent before the store was closed does not show that it accepts more.
      if (begun < this.#get(Field.CLOSED_AT)) return;
      this.#set(Field.ROUNDS, 0);
      this.#set(Field.CLOSED_UNTIL, 0);
    }
    this.reason = undefined;
    const credits = this.#get(Field.CREDITS);
    if (credits < UNCOUNTED && now >= this.#get(Field.GROWS_FROM)) {
      this.#add(Field.CREDITS, EACH_ANSWER);
    }
    if (this.#waiting.size > 0) this.#sendDue();
  }

  /** Records a request that failed before it was answered. Returns `false` if the store answers others. */
  failed({ begun, after = 0, isSlowDown, reason }: StoreFailure): boolean {
    if (!isSlowDown && this.#get(Field.HEARD) > begun) return false;
    this.reason = reason;
    const now = timeNow();
    const until = this.#get(Field.CLOSED_UNTIL);
    let wait = Math.min(after, LONGEST_ASKED);
    if (until === 0 || begun >= this.#get(Field.CLOSED_AT)) {
      const round = this.#add(Field.ROUNDS, 1);
      const first = isSlowDown ? FIRST_WAIT_SLOW : FIRST_WAIT;
      const own = Math.min(first * 2 ** Math.min(round, 10), LONGEST_WAIT);
      // Random, so that programs that failed together do not come back together.
      wait = Math.max(wait, own * (0.75 + Math.random() / 2));
      this.#set(Field.CLOSED_AT, now);
    }
    this.#set(Field.CREDITS, -FIRST_REQUESTS);
    if (isSlowDown) this.#set(Field.GROWS_FROM, now + wait + SLOW);
    this.#set(Field.CLOSED_UNTIL, Math.max(until, now + wait));
    return true;
  }

  #sendDue(): void {
    clearTimeout(this.#timer);
    for (const waiter of this.#waiting) {
      const left = this.#timeLeft();
      if (left > 0) {
        const wait = Math.min(left, LOOK);
        this.#timer = setTimeout(() => this.#sendDue(), wait);
        return;
      }
      this.#waiting.delete(waiter);
      waiter.send();
    }
  }

  /** Returns how long a request must wait, in milliseconds. At 0 it counts as sent. */
  #timeLeft(): number {
    const now = timeNow();
    const until = this.#get(Field.CLOSED_UNTIL);
    if (until !== 0) {
      const left = until - now;
      // More only if the clocks of threads differ.
      if (left > 0 && left <= 2 * LONGEST_ASKED) return left;
      // One request probes the store, and another one if that takes long.
      return this.#exchange(Field.CLOSED_UNTIL, until, now + LONGEST_WAIT)
        ? 0
        : 1;
    }
    const credits = this.#get(Field.CREDITS);
    if (credits >= UNCOUNTED) return 0;
    if (credits > -FIRST_REQUESTS) {
      if (!this.#exchange(Field.CREDITS, credits, credits - 1)) return 1;
      this.#set(Field.SENT, now);
      return 0;
    }
    const sent = this.#get(Field.SENT);
    const left = sent + PACE - now;
    if (left > 0 && left <= PACE) return left;
    return this.#exchange(Field.SENT, sent, now) ? 0 : 1;
  }

  #get(field: number): number {
    return Number(Atomics.load(this.#state, field));
  }

  #set(field: number, value: number): void {
    Atomics.store(this.#state, field, BigInt(Math.ceil(value)));
  }

  /** Adds to a field, and returns its previous value. */
  #add(field: number, value: number): number {
    return Number(Atomics.add(this.#state, field, BigInt(value)));
  }

  /** Changes a field unless another thread was first. */
  #exchange(field: number, from: number, to: number): boolean {
    const before = BigInt(from);
    return Atomics.compareExchange(
      this.#state,
      field,
      before,
      BigInt(Math.ceil(to)),
    ) === before;
  }
}

/** Returns the time in whole milliseconds, by one clock for all threads. */
export function timeNow(): number {
  return Math.round(performance.timeOrigin + performance.now());
}

/** Back-off of each store, and the table it uses. */
let known = new Map<string, StoreBackoff>();
let knownIn = backoffTable();

/** Returns the back-off of a store, by its unique name. */
export function backoffOf(store: string): StoreBackoff {
  const table = backoffTable();
  if (table !== knownIn) {
    known = new Map();
    knownIn = table;
  }
  let backoff = known.get(store);
  if (backoff === undefined) {
    backoff = new StoreBackoff(stateIn(table, store));
    known.set(store, backoff);
  }
  return backoff;
}

/** Returns a store's entry in the table; `undefined` if the table is full, so that threads do not share its state. */
function stateIn(
  table: SharedArrayBuffer,
  store: string,
): BigInt64Array | undefined {
  const hash = createHash("sha256").update(store).digest();
  const key = hash.readBigInt64LE(0) | 1n; // 0 marks a free entry
  const size = FIELDS * BigInt64Array.BYTES_PER_ELEMENT;
  for (let at = 0; at < table.byteLength; at += size) {
    const state = new BigInt64Array(table, at, FIELDS);
    const before = Atomics.compareExchange(state, Field.KEY, 0n, key);
    if (before === 0n || before === key) return state;
  }
  return undefined;
}
