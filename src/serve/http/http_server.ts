import { setTimeout } from "node:timers/promises";
import { RecordfsError } from "../../errors.ts";
import type { Answerer } from "../handler.ts";
import type { Access } from "../options.ts";
import { PATIENCE } from "../streams.ts";
import { AnswerBuffers } from "./answer_buffer.ts";
import { Connection, type ConnectionContext } from "./connection.ts";

/** How long is waited for what a client still sends behind its last answer, in milliseconds. */
const ENDING = 1000;
/** How often is looked, in milliseconds. */
const LOOKING = 500;
/** How long no connection is taken where that has failed, in milliseconds. */
const PAUSE = 100;

/** How connections are answered. */
export interface HttpOptions {
  readonly answerer: Answerer;
  /** How long a client may take for the next request, for all of it, or for the next part of an answer, in milliseconds. */
  readonly patience: number | undefined;
  readonly onAccess: ((access: Access) => void) | undefined;
  readonly onError: (error: unknown) => void;
}

/** What answers the connections of a port. */
export class HttpServer {
  readonly #listener: Deno.TcpListener;
  readonly #options: HttpOptions;
  readonly #patience: number;
  /** Since when each has done what it does, and what resolves when it has ended. */
  readonly #connections = new Map<
    Connection,
    { since: number; readonly running: Promise<void> }
  >();
  readonly #looking: ReturnType<typeof setInterval>;
  #isEnding = false;
  /** Where it listens. */
  readonly addr: Deno.NetAddr;
  /** Resolves when it has ended, and all connections with it. */
  readonly finished: Promise<void>;

  /** Answers a listener's connections from now on; it is closed at the end. */
  constructor(listener: Deno.TcpListener, options: HttpOptions) {
    this.#listener = listener;
    this.#options = options;
    this.#patience = options.patience ?? PATIENCE;
    this.addr = listener.addr;
    this.#looking = setInterval(() => this.#look(), LOOKING);
    Deno.unrefTimer(this.#looking);
    this.finished = this.#run();
  }

  /** Takes no more connections, and ends each behind the answer that is under way. */
  async shutdown(): Promise<void> {
    if (!this.#isEnding) {
      this.#isEnding = true;
      this.#listener.close();
      for (const connection of this.#connections.keys()) connection.end();
    }
    await this.finished;
  }

  /** Ends it at once. */
  close(): void {
    void this.shutdown();
    for (const connection of this.#connections.keys()) connection.close();
  }

  async #run(): Promise<void> {
    const { hostname, port } = this.addr;
    const context: ConnectionContext = {
      ...this.#options,
      buffers: new AnswerBuffers(),
      ownAuthority: `${
        hostname.includes(":") ? `[${hostname}]` : hostname
      }:${port}`,
    };
    while (!this.#isEnding) {
      const conn = await this.#accept();
      if (conn === undefined) continue;
      const connection = new Connection(conn, context);
      const running = connection.run().then(() => {
        this.#connections.delete(connection);
      });
      this.#connections.set(connection, { since: performance.now(), running });
      if (this.#isEnding) connection.end(); // it came just before
    }
    const all = [...this.#connections.values()];
    await Promise.all(all.map(({ running }) => running));
    clearInterval(this.#looking);
  }

  async #accept(): Promise<Deno.TcpConn | undefined> {
    try {
      const conn = await this.#listener.accept();
      conn.setNoDelay(true);
      return conn;
    } catch (cause) {
      if (this.#isEnding) return undefined;
      const why = cause instanceof Error ? cause.message : String(cause);
      this.#options.onError(
        new RecordfsError(
          "cannot-accept",
          `Cannot take another connection: ${why}; where these are too many files, \`ulimit -n\` allows more`,
          { cause },
        ),
      );
      await setTimeout(PAUSE);
      return undefined;
    }
  }

  /** Ends connections that have taken too long for what they are about. */
  #look(): void {
    const now = performance.now();
    for (const [connection, looked] of this.#connections) {
      if (connection.hasMoved) {
        connection.hasMoved = false;
        looked.since = now;
        continue;
      }
      const { doing } = connection;
      if (doing === "answering") continue; // what makes the answer sees to that
      const most = doing === "ending" ? ENDING : this.#patience;
      if (now - looked.since >= most) connection.close();
    }
  }
}
