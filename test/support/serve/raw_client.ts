/** Raw connections to a server, for requests that no HTTP client would send. */
import { Buffer } from "node:buffer";
import type { Authority } from "../remote/authority.ts";

/** Port of a server, and its certificate authority if it speaks TLS. */
export interface Reached {
  readonly port: number;
  readonly authority?: Authority | undefined;
}

/** Connection to a server. */
export class RawClient implements Disposable {
  readonly #conn: Deno.Conn;

  private constructor(conn: Deno.Conn) {
    this.#conn = conn;
  }

  static async of({ port, authority }: Reached): Promise<RawClient> {
    const hostname = "127.0.0.1";
    if (authority === undefined) {
      const conn = await Deno.connect({ hostname, port });
      conn.setNoDelay(true);
      return new RawClient(conn);
    }
    const caCerts = [await Deno.readTextFile(authority.path)];
    return new RawClient(await Deno.connectTls({ hostname, port, caCerts }));
  }

  /** Sends text as Latin-1. */
  async send(text: string): Promise<void> {
    for (let rest: Uint8Array = Buffer.from(text, "latin1"); rest.length > 0;) {
      rest = rest.subarray(await this.#conn.write(rest));
    }
  }

  /** Closes the sending half. */
  async end(): Promise<void> {
    await this.#conn.closeWrite();
  }

  /** Reads until the connection ends. */
  async rest(): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for (;;) {
      const into = new Uint8Array(1 << 16);
      const got = await this.#conn.read(into);
      if (got === null) return Buffer.concat(parts);
      parts.push(into.subarray(0, got));
    }
  }

  /** Reads the status of a response, and no more. */
  async status(): Promise<number> {
    let text = "";
    while (text.length < 12) {
      const into = new Uint8Array(64);
      const got = await this.#conn.read(into);
      if (got === null) throw new Error(`it ends: ${JSON.stringify(text)}`);
      text += Buffer.from(into.subarray(0, got)).toString("latin1");
    }
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
  }

  [Symbol.dispose](): void {
    try {
      this.#conn.close();
    } catch {
      // The connection has failed.
    }
  }
}

/** Returns the head of a GET request. */
export function headOf(path: string, ...headers: string[]): string {
  const lines = [`GET ${path} HTTP/1.1`, "Host: localhost", ...headers];
  return [...lines, "", ""].join("\r\n");
}
