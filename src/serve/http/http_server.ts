import { messageOf } from "../../base/message_text.ts";
import { setTimeout } from "node:timers/promises";
import { RecordfsError } from "../../base/errors.ts";
import { giveBackFreedMemory } from "../../io/libc/new_memory.ts";
import {
  descriptorBudget,
  openFilesLimit,
} from "../../io/storage/descriptor_budget.ts";
import type { Answerer } from "../handler.ts";
import type { Access } from "../options.ts";
import { PATIENCE } from "../streams.ts";
import { AnswerBuffers } from "./answer_buffer.ts";
import { Connection, type ConnectionContext } from "./connection.ts";
import { ServerMemory } from "./memory.ts";

/** How long is waited for what a client still sends behind its last answer, in milliseconds. */
const ENDING = 1000;
/** How often is looked, in milliseconds. */
const LOOKING = 500;
/** How long no connection is taken where that has failed, in milliseconds. */
const PAUSE = 50;
/** How long a client must have asked nothing, or taken nothing, before others get its connection, in milliseconds. */
const IDLE = 200;
/** Most connections of all threads together. */
const MOST_CONNECTIONS = 8192;
/** Descriptors that Deno and the rest of the process have. */
const OTHER_DESCRIPTORS = 64;
/** Bytes that a connection takes beside what is counted. */
const CONNECTION = 16 << 10;
/** Bytes that must have been given back until the system has them back, too. */
const MUCH = 16 << 20;

/** How connections are answered. */
export interface HttpOptions {
  readonly answerer: Answerer;
  /** How long a client may take for the next request, for all of it, or for the next part of an answer, in milliseconds. */
  readonly patience: number | undefined;
  /** How many threads answer, of which this is one. */
  readonly threads: number;
  readonly onAccess: ((access: Access) => void) | undefined;
  readonly onError: (error: unknown) => void;
}

/** A connection, and since when it has done what it does. */
interface Watched {
  readonly connection: Connection;
  since: number;
  readonly running: Promise<void>;
}

/** What answers the connections of a port. */
export class HttpServer {
  readonly #listener: Deno.Listener<Deno.TcpConn | Deno.TlsConn>;
  readonly #options: HttpOptions;
  readonly #patience: number;
  readonly #connections = new Set<Watched>();
  readonly #mostConnections: number;
  readonly #memory: ServerMemory;
  readonly #buffers: AnswerBuffers;
  readonly #looking: ReturnType<typeof setInterval>;
  #isEnding = false;
  /** Where it listens. */
  readonly addr: Deno.NetAddr;
  /** Resolves when it has ended, and all connections with it. */
  readonly finished: Promise<void>;

  /** Answers a listener's connections from now on; it is closed at the end. */
  constructor(
    listener: Deno.Listener<Deno.TcpConn | Deno.TlsConn>,
    scheme: "http" | "https",
    options: HttpOptions,
  ) {
    this.#listener = listener;
    this.#options = options;
    this.#patience = options.patience ?? PATIENCE;
    this.#mostConnections = mostConnections(options.threads);
    this.#memory = new ServerMemory(options.threads);
    this.#buffers = new AnswerBuffers(this.#memory);
    this.addr = listener.addr as Deno.NetAddr;
    this.#looking = setInterval(() => this.#look(), LOOKING);
    Deno.unrefTimer(this.#looking);
    this.finished = this.#run(scheme);
  }

  /** Takes no more connections, and ends each behind the answer that is under way. */
  async shutdown(): Promise<void> {
    if (!this.#isEnding) {
      this.#isEnding = true;
      this.#listener.close();
      for (const { connection } of this.#connections) connection.end();
    }
    await this.finished;
  }

  /** Ends it at once. */
  close(): void {
    void this.shutdown();
    for (const { connection } of this.#connections) connection.close();
  }

  async #run(scheme: "http" | "https"): Promise<void> {
    const { hostname, port } = this.addr;
    const host = hostname.includes(":") ? `[${hostname}]` : hostname;
    const context: ConnectionContext = {
      ...this.#options,
      memory: this.#memory,
      buffers: this.#buffers,
      own: { scheme, authority: `${host}:${port}` },
    };
    while (!this.#isEnding) {
      const isFull = this.#connections.size >= this.#mostConnections;
      if (isFull && !this.#dropOldest()) {
        await setTimeout(PAUSE);
        continue;
      }
      const conn = await this.#accept();
      if (conn === undefined) continue;
      const connection = new Connection(conn, context);
      const watched: Watched = {
        connection,
        since: performance.now(),
        running: connection.run().then(() => {
          this.#connections.delete(watched);
        }),
      };
      this.#connections.add(watched);
      if (this.#isEnding) connection.end(); // it came just before
    }
    await Promise.all([...this.#connections].map(({ running }) => running));
    clearInterval(this.#looking);
  }

  async #accept(): Promise<Deno.Conn | undefined> {
    try {
      const conn = await this.#listener.accept();
      if ("setNoDelay" in conn) conn.setNoDelay(true);
      return conn;
    } catch (cause) {
      if (this.#isEnding) return undefined;
      const isDropped = this.#dropOldest();
      const why = messageOf(cause);
      if (!isDropped) {
        this.#options.onError(
          new RecordfsError(
            "cannot-accept",
            `Cannot take another connection: ${why}; where these are too many files, \`ulimit -n\` allows more`,
            { cause },
          ),
        );
      }
      await setTimeout(isDropped ? 0 : PAUSE);
      return undefined;
    }
  }

  /** Ends the connection whose client has asked or taken nothing for longest; tells whether there was one. */
  #dropOldest(): boolean {
    const now = performance.now();
    let oldest: Watched | undefined;
    for (const watched of this.#connections) {
      const { connection } = watched;
      const isIdle = stillFor(watched, now) >= IDLE;
      if (connection.doing === "answering") continue;
      if (isIdle && watched.since < (oldest?.since ?? Infinity)) {
        oldest = watched;
      }
    }
    if (oldest === undefined) return false;
    oldest.connection.close();
    this.#connections.delete(oldest);
    return true;
  }

  /** Ends connections that have taken too long for what they are about, and gives back memory that nobody needs. */
  #look(): void {
    const now = performance.now();
    for (const watched of this.#connections) {
      const { connection } = watched;
      const still = stillFor(watched, now);
      const { doing } = connection;
      if (doing === "answering") continue; // what makes the answer sees to that
      const most = doing === "ending" ? ENDING : this.#patience;
      if (still >= most) connection.close();
    }
    this.#buffers.trim();
    const others = this.#connections.size * CONNECTION;
    if (this.#memory.hasGivenBack(MUCH, others)) giveBackFreedMemory();
  }
}

/** How long a client has asked and taken nothing, in milliseconds: 0 if it has since the last look. */
function stillFor(watched: Watched, now: number): number {
  const { connection } = watched;
  if (connection.hasMoved) {
    connection.hasMoved = false;
    watched.since = now;
  }
  return now - watched.since;
}

/** How many connections a thread has at most, so that descriptors are left for all else. */
function mostConnections(threads: number): number {
  const descriptors = openFilesLimit() ?? Infinity;
  const files = threads * descriptorBudget().mostIdle;
  const rest = descriptors - OTHER_DESCRIPTORS - files;
  const most = Math.min(MOST_CONNECTIONS, Math.max(rest, descriptors / 4));
  return Math.max(1, Math.floor(most / threads));
}
