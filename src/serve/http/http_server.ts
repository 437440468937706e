import { messageOf } from "../../base/message_text.ts";
import { setTimeout } from "node:timers/promises";
import { RecordfsError } from "../../base/errors.ts";
import { giveBackFreedMemory } from "../../io/libc/new_memory.ts";
import {
  descriptorBudget,
  openFilesLimit,
} from "../../io/storage/descriptor_budget.ts";
import type { RequestHandler } from "../handler.ts";
import type { Access } from "../options.ts";
import { PATIENCE } from "../streams.ts";
import { ResponseBuffers } from "./response_buffer.ts";
import { Connection, type ConnectionContext } from "./connection.ts";
import { ServerMemory } from "./memory.ts";

/** Time to drain what a client sends after its last response, in milliseconds. */
const ENDING = 1000;
/** Interval of idle checks, in milliseconds. */
const LOOKING = 500;
/** Delay after a failed accept, in milliseconds. */
const PAUSE = 50;
/** Idle time after which a connection may be dropped in favour of a new one, in milliseconds. */
const IDLE = 200;
/** Maximum number of connections of all threads. */
const MOST_CONNECTIONS = 8192;
/** File descriptors reserved for Deno and the rest of the process. */
const OTHER_DESCRIPTORS = 64;
/** Estimated bytes per connection, in addition to budgeted memory. */
const CONNECTION = 16 << 10;
/** Bytes that must have been freed before they are returned to the operating system. */
const MUCH = 16 << 20;

export interface HttpOptions {
  readonly answerer: RequestHandler;
  /** Timeout in milliseconds for the next request, for all of it, and for the next part of a response. */
  readonly patience: number | undefined;
  /** Number of serving threads, including this one. */
  readonly threads: number;
  readonly onAccess: ((access: Access) => void) | undefined;
  readonly onError: (error: unknown) => void;
}

interface Watched {
  readonly connection: Connection;
  since: number;
  readonly running: Promise<void>;
}

export class HttpServer {
  readonly #listener: Deno.Listener<Deno.TcpConn | Deno.TlsConn>;
  readonly #options: HttpOptions;
  readonly #patience: number;
  readonly #connections = new Set<Watched>();
  readonly #mostConnections: number;
  readonly #memory: ServerMemory;
  readonly #buffers: ResponseBuffers;
  readonly #looking: ReturnType<typeof setInterval>;
  #isEnding = false;
  readonly addr: Deno.NetAddr;
  /** Resolves when the server and all its connections are closed. */
  readonly finished: Promise<void>;

  /** Serves a listener's connections from now on. The server closes the listener. */
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
    this.#buffers = new ResponseBuffers(this.#memory);
    this.addr = listener.addr as Deno.NetAddr;
    this.#looking = setInterval(() => this.#look(), LOOKING);
    Deno.unrefTimer(this.#looking);
    this.finished = this.#run(scheme);
  }

  /** Stops accepting connections, and closes each after its response in progress. */
  async shutdown(): Promise<void> {
    if (!this.#isEnding) {
      this.#isEnding = true;
      this.#listener.close();
      for (const { connection } of this.#connections) connection.end();
    }
    await this.finished;
  }

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
      if (this.#isEnding) connection.end(); // accepted just before
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
            `Cannot accept a connection: ${why}. If too many files are open, raise the limit with \`ulimit -n\``,
            { cause },
          ),
        );
      }
      await setTimeout(isDropped ? 0 : PAUSE);
      return undefined;
    }
  }

  /** Closes the connection that has been idle longest. Returns whether there was one. */
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

  /** Closes connections that have timed out, and returns freed memory to the system. */
  #look(): void {
    const now = performance.now();
    for (const watched of this.#connections) {
      const { connection } = watched;
      const still = stillFor(watched, now);
      const { doing } = connection;
      if (doing === "answering") continue; // handled by the code that makes the response
      const most = doing === "ending" ? ENDING : this.#patience;
      if (still >= most) connection.close();
    }
    this.#buffers.trim();
    const others = this.#connections.size * CONNECTION;
    if (this.#memory.hasGivenBack(MUCH, others)) giveBackFreedMemory();
  }
}

/** Returns how long a client has been idle, in milliseconds: 0 if it was active since the last check. */
function stillFor(watched: Watched, now: number): number {
  const { connection } = watched;
  if (connection.hasMoved) {
    connection.hasMoved = false;
    watched.since = now;
  }
  return now - watched.since;
}

/** Maximum number of connections of a thread, leaving file descriptors for everything else. */
function mostConnections(threads: number): number {
  const descriptors = openFilesLimit() ?? Infinity;
  const files = threads * descriptorBudget().mostIdle;
  const rest = descriptors - OTHER_DESCRIPTORS - files;
  const most = Math.min(MOST_CONNECTIONS, Math.max(rest, descriptors / 4));
  return Math.max(1, Math.floor(most / threads));
}
