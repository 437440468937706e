import { createHash } from "node:crypto";
import { backoffTable } from "./backoff_table.ts";

/** What is known of a store, in memory that threads share: times are in milliseconds. */
const Field = {
  /** Hash of its name; 0 where no store has this place. */
  KEY: 0,
  /** Until when nobody asks it; 0 while it answers. */
  CLOSED_UNTIL: 1,
  /** When that began. */
  CLOSED_AT: 2,
  /** Failures in a row, of which those that happen together count as one. */
  ROUNDS: 3,
  /** When it answered last. */
  HEARD: 4,
  /** Requests that may be sent at once, less {@linkcode FIRST_REQUESTS}. */
  CREDITS: 5,
  /** When the last request was sent. */
  SENT: 6,
  /** When answers begin to bring credits. */
  GROWS_FROM: 7,
} as const;
const FIELDS = Object.keys(Field).length;

/** Requests that are sent at once to a store that has not answered yet. */
const FIRST_REQUESTS = 4;
/** Requests that are sent at once after each answer, so that there are twice as many after each round trip. */
const EACH_ANSWER = 2;
/** Requests at once from which on they are not counted any more. */
const UNCOUNTED = 128;
/** Without credits, time between requests: fewer than ten a second, with the first ones. */
const PACE = 150;
/** After HTTP 429, how long answers bring no credits. */
const SLOW = 1000;

/** The first wait for a store that fails, and for one that is asked too often; and the longest. */
const FIRST_WAIT = 100;
const FIRST_WAIT_SLOW = 250;
const LONGEST_WAIT = 1000;
/** What a store may ask for at most; after that it is asked whether that still holds. */
const LONGEST_ASKED = 60_000;
/** How often is looked what other threads have heard. */
const LOOK = 100;

/** A reason to ask a store less often. */
export interface StoreFailure {
  /** When the request was sent that failed. */
  readonly begun: number;
  /** What the store asks for, in milliseconds. */
  readonly after: number | undefined;
  /** Whether it said that it is asked too often. */
  readonly isSlowDown: boolean;
  /** What happened, for messages. */
  readonly reason: Error;
}

/** A request that waits until it may be sent. */
interface Waiter {
  readonly send: () => void;
}

/**
 * Back-off of a store, shared by all requests of a program. While the store fails, one request after the other asks
 * whether it is back, at least once a second, and all others wait for its answer. A store that is new, or back, gets a
 * few requests at first and more with each answer.
 */
export class StoreBackoff {
  readonly #state: BigInt64Array;
  readonly #waiting = new Set<Waiter>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What failed last, in this thread. */
  reason: Error | undefined;

  /** @param state Zeros, or what other threads know. */
  constructor(
    state: BigInt64Array = new BigInt64Array(new SharedArrayBuffer(FIELDS * 8)),
  ) {
    this.#state = state;
  }

  /** Waits until a request may be sent; in turn. */
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

  /** Notes that the store has answered a request that was sent then. */
  answered(begun: number): void {
    const now = timeNow();
    this.#set(Field.HEARD, now);
    if (this.#get(Field.CLOSED_UNTIL) !== 0) {
      // What was under way when it wanted fewer requests does not say that it takes more.
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

  /**
   * Notes that a request has failed before it was answered.
   *
   * @returns Whether the store is left alone for that; otherwise it answers others.
   */
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
      // By chance, so that programs that failed together do not come back together.
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

  /** How long a request has to wait, in milliseconds; at 0 it is taken for sent. */
  #timeLeft(): number {
    const now = timeNow();
    const until = this.#get(Field.CLOSED_UNTIL);
    if (until !== 0) {
      const left = until - now;
      // It is more where clocks of threads differ.
      if (left > 0 && left <= 2 * LONGEST_ASKED) return left;
      // One asks whether it is back, and another one if that takes long.
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

  /** Adds to a field, and says what it was. */
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

/** In whole milliseconds: of one clock for all threads. */
export function timeNow(): number {
  return Math.round(performance.timeOrigin + performance.now());
}

/** The back-off of each store, and the table that it is in. */
let known = new Map<string, StoreBackoff>();
let knownIn = backoffTable();

/**
 * The back-off of a store.
 *
 * @param store Tells it from all others.
 */
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

/** A store's place in the table; `undefined` where none is left, so that threads do not share what they know. */
function stateIn(
  table: SharedArrayBuffer,
  store: string,
): BigInt64Array | undefined {
  const hash = createHash("sha256").update(store).digest();
  const key = hash.readBigInt64LE(0) | 1n; // 0 is no store
  const size = FIELDS * BigInt64Array.BYTES_PER_ELEMENT;
  for (let at = 0; at < table.byteLength; at += size) {
    const state = new BigInt64Array(table, at, FIELDS);
    const before = Atomics.compareExchange(state, Field.KEY, 0n, key);
    if (before === 0n || before === key) return state;
  }
  return undefined;
}
