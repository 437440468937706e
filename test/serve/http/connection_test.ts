import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import type { ServeOptions } from "../../../src/serve/options.ts";
import {
  type Files,
  type ServedFolder,
  serveFolder,
} from "../../support/serve/served_folder.ts";

const LARGE = Uint8Array.from({ length: 3_000_000 }, (_, i) => i * i >> 5);
const FILES: Files = {
  "a.txt": "content of a",
  "b.jpg": Uint8Array.from({ length: 5000 }, (_, i) => i * i >> 3),
  "large.bin": LARGE,
  "empty.txt": "",
};

/** A response of HTTP/1.1. */
interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** A connection that sends exact bytes, and parses responses by RFC 9112. */
class Client implements Disposable {
  readonly #conn: Deno.TcpConn;
  #received = Buffer.alloc(0);

  private constructor(conn: Deno.TcpConn) {
    this.#conn = conn;
  }

  static async of({ server: { port } }: ServedFolder): Promise<Client> {
    const conn = await Deno.connect({ hostname: "127.0.0.1", port });
    conn.setNoDelay(true);
    return new Client(conn);
  }

  async send(text: string): Promise<void> {
    for (let rest: Uint8Array = Buffer.from(text, "latin1"); rest.length > 0;) {
      rest = rest.subarray(await this.#conn.write(rest));
    }
  }

  async answer(method = "GET"): Promise<Answer> {
    let end: number;
    while ((end = this.#received.indexOf("\r\n\r\n")) < 0) await this.#more();
    const [line, ...fields] = this.#take(end + 4).toString("latin1")
      .trimEnd().split("\r\n");
    const [, status, reason] = /^HTTP\/1\.1 (\d{3}) (.*)$/.exec(line!)!;
    assert.notEqual(reason, "");
    const headers = new Map(
      fields.map((field) => field.split(": ") as [string, string]),
    );
    assert.equal(headers.size, fields.length, "headers are said once");
    assert.ok(Math.abs(Date.parse(headers.get("date")!) - Date.now()) < 60_000);
    const body = method === "HEAD" || status === "304" || status === "204"
      ? Buffer.alloc(0)
      : await this.#body(headers);
    return { status: Number(status), headers, body };
  }

  /** Whether the server has closed the connection, with nothing left to read. */
  async isEnded(): Promise<boolean> {
    if (this.#received.length > 0) return false;
    return await this.#conn.read(new Uint8Array(1)) === null;
  }

  async waitFor(text: string): Promise<void> {
    while (!this.#received.includes(text)) await this.#more();
    this.#take(this.#received.indexOf(text) + text.length);
  }

  async #body(headers: ReadonlyMap<string, string>): Promise<Buffer> {
    const length = headers.get("content-length");
    if (headers.get("transfer-encoding") === "chunked") {
      assert.equal(length, undefined);
      const chunks: Buffer[] = [];
      for (;;) {
        let end: number;
        while ((end = this.#received.indexOf("\r\n")) < 0) await this.#more();
        const size = parseInt(this.#take(end + 2).toString(), 16);
        while (this.#received.length < size + 2) await this.#more();
        const chunk = this.#take(size + 2);
        assert.equal(chunk.subarray(size).toString(), "\r\n");
        if (size === 0) return Buffer.concat(chunks);
        chunks.push(chunk.subarray(0, size));
      }
    }
    assert.match(length ?? "", /^\d+$/);
    while (this.#received.length < Number(length)) await this.#more();
    return this.#take(Number(length));
  }

  #take(length: number): Buffer {
    const taken = this.#received.subarray(0, length);
    this.#received = this.#received.subarray(length);
    return taken;
  }

  async #more(): Promise<void> {
    const into = new Uint8Array(1 << 16);
    const got = await this.#conn.read(into);
    assert.notEqual(got, null, "the server has ended the connection");
    this.#received = Buffer.concat([this.#received, into.subarray(0, got!)]);
  }

  [Symbol.dispose](): void {
    this.#conn.close();
  }
}

async function withFolder(
  run: (folder: ServedFolder) => Promise<void>,
  options: ServeOptions = {},
): Promise<void> {
  await using folder = await serveFolder(FILES, { token: null, ...options });
  await run(folder);
}

function get(path: string, ...headers: string[]): string {
  return request("GET", path, ...headers);
}

function request(method: string, path: string, ...headers: string[]): string {
  return [`${method} ${path} HTTP/1.1`, "Host: localhost", ...headers, "", ""]
    .join("\r\n");
}

function bytesOf(name: string): Buffer {
  return Buffer.from(FILES[name] as Uint8Array);
}

Deno.test("a connection accepts successive requests of every kind", async () => {
  await withFolder(async (folder) => {
    using client = await Client.of(folder);
    for (let round = 0; round < 3; round++) {
      await client.send(get("/files/b.jpg"));
      const hot = await client.answer();
      assert.equal(hot.status, 200);
      assert.equal(hot.headers.get("content-type"), "image/jpeg");
      assert.equal(hot.headers.get("content-length"), "5000");
      assert.ok(hot.body.equals(bytesOf("b.jpg")));

      await client.send(get("/files/large.bin"));
      assert.ok((await client.answer()).body.equals(Buffer.from(LARGE)));

      await client.send(request("HEAD", "/files/large.bin"));
      const head = await client.answer("HEAD");
      assert.equal(head.headers.get("content-length"), `${LARGE.length}`);

      await client.send(get("/files/b.jpg", "Range: bytes=10-19"));
      const part = await client.answer();
      assert.equal(part.status, 206);
      assert.ok(part.body.equals(bytesOf("b.jpg").subarray(10, 20)));

      const etag = hot.headers.get("etag")!;
      await client.send(get("/files/b.jpg", `If-None-Match: ${etag}`));
      assert.equal((await client.answer()).status, 304);

      await client.send(get("/files/empty.txt"));
      assert.equal((await client.answer()).headers.get("content-length"), "0");

      await client.send(get("/files/?json"));
      const listing = await client.answer();
      assert.equal(listing.headers.get("transfer-encoding"), "chunked");
      assert.equal(JSON.parse(listing.body.toString()).length, 4);

      await client.send(get("/files/none"));
      assert.equal((await client.answer()).status, 404);

      await client.send(get("/files"));
      const redirected = await client.answer();
      assert.equal(redirected.status, 301);
      assert.equal(redirected.headers.get("content-length"), "0");

      const find = "<propfind xmlns='DAV:'><allprop/></propfind>";
      const length = `Content-Length: ${find.length}`;
      await client.send(
        request("PROPFIND", "/dav/", "Depth: 0", length) + find,
      );
      assert.equal((await client.answer()).status, 207);
    }
  });
});

Deno.test("responses are the same for available and slow files", async () => {
  await withFolder(async (folder) => {
    using client = await Client.of(folder);
    await client.send(get("/files/b.jpg"));
    const hot = await client.answer();
    await client.send(get("/files/./b.jpg")); // a path that is not normalized takes the slow path
    const cold = await client.answer();
    const headers = (answer: Answer) =>
      [...answer.headers].filter(([name]) => name !== "date").sort();
    assert.deepEqual(headers(hot), headers(cold));
    assert.ok(hot.body.equals(cold.body));
  });
});

Deno.test("requests that arrive together, or in pieces, are answered in order", async () => {
  await withFolder(async (folder) => {
    const asked = fc.array(
      fc.constantFrom("a.txt", "b.jpg", "empty.txt", "large.bin", "none.jpg"),
      { minLength: 1, maxLength: 12 },
    );
    const cuts = fc.array(fc.nat(1000), { maxLength: 8 });
    const property = fc.asyncProperty(asked, cuts, async (names, cuts) => {
      using client = await Client.of(folder);
      const text = names.map((name) => get(`/files/${name}`)).join("");
      const ends = cuts.map((cut) => cut % text.length).sort((a, b) => a - b);
      const sending = (async () => {
        let start = 0;
        for (const end of [...ends, text.length]) {
          await client.send(text.slice(start, end));
          await new Promise((resolve) => setTimeout(resolve));
          start = end;
        }
      })();
      for (const name of names) {
        const { status, body } = await client.answer();
        assert.equal(status, name === "none.jpg" ? 404 : 200);
        if (status === 200) {
          assert.ok(body.equals(Buffer.from(FILES[name] as string)), name);
        }
      }
      await sending;
    });
    await fc.assert(property, { numRuns: 40 });
  });
});

Deno.test("a connection ends on request, and with HTTP/1.0 by default", async () => {
  await withFolder(async (folder) => {
    const ending = [
      get("/files/b.jpg", "Connection: close"),
      get("/files/?json", "Connection: close"),
      "GET /files/b.jpg HTTP/1.0\r\n\r\n",
    ];
    for (const text of ending) {
      using client = await Client.of(folder);
      await client.send(text);
      const { status, headers } = await client.answer();
      assert.equal(status, 200);
      assert.equal(headers.get("connection"), "close");
      assert.ok(await client.isEnded());
    }
    using client = await Client.of(folder);
    for (let i = 0; i < 2; i++) {
      await client.send(
        "GET /files/b.jpg HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
      );
      const { headers } = await client.answer();
      assert.equal(headers.get("connection"), "keep-alive");
    }
  });
});

Deno.test("clients of HTTP/1.0 receive bodies without a length up to the end of the connection", async () => {
  await withFolder(async ({ server: { port } }) => {
    using conn = await Deno.connect({ hostname: "127.0.0.1", port });
    const asked = "GET /files/?json HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    await conn.write(new TextEncoder().encode(asked));
    const answer = await new Response(conn.readable).text();
    assert.doesNotMatch(answer, /transfer-encoding|content-length/);
    assert.match(answer, /^connection: close\r$/m);
    const body = answer.slice(answer.indexOf("\r\n\r\n"));
    assert.equal(JSON.parse(body).length, 4);
  });
});

Deno.test("a body is read if the handler reads it, and otherwise ends the connection", async () => {
  await withFolder(async (folder) => {
    const find = "<propfind xmlns='DAV:'><allprop/></propfind>";
    const length = `Content-Length: ${find.length}`;
    {
      using client = await Client.of(folder);
      const headers = ["Depth: 0", length, "Expect: 100-continue"];
      await client.send(request("PROPFIND", "/dav/", ...headers));
      await client.waitFor("HTTP/1.1 100 Continue\r\n\r\n");
      // The rest of the body, and the next request, arrive together.
      await client.send(find.slice(0, 10));
      await client.send(find.slice(10) + get("/files/a.txt"));
      assert.equal((await client.answer()).status, 207);
      assert.equal((await client.answer()).body.toString(), "content of a");
    }
    const refused: readonly [status: number, method: string, ...string[]][] = [
      [403, "PUT", "Content-Length: 10000000"],
      [403, "PUT", "Transfer-Encoding: chunked"],
      [403, "PUT", "Content-Length: 100", "Expect: 100-continue"],
      [411, "PROPFIND", "Transfer-Encoding: chunked", "Depth: 0"],
      [413, "PROPFIND", "Content-Length: 10000000", "Depth: 0"],
    ];
    for (const [status, method, ...headers] of refused) {
      using client = await Client.of(folder);
      await client.send(request(method, "/dav/a.txt", ...headers));
      // An unread body is not parsed as another request.
      const body = get("/files/a.txt").repeat(2000);
      await client.send(body).catch(() => {});
      const answer = await client.answer();
      assert.equal(answer.status, status, `${method} ${headers[0]}`);
      assert.equal(answer.headers.get("connection"), "close");
      assert.ok(await client.isEnded().catch(() => true));
    }
  });
});

Deno.test("an invalid request gets an error, and is the last", async () => {
  await withFolder(async (folder) => {
    const cases: readonly [status: number, text: string][] = [
      [400, "GARBAGE\r\n\r\n"],
      [400, "GET /files/a.txt HTTP/1.1\r\n\r\n"],
      [400, "\r\n\r\n"],
      [505, "GET / HTTP/3.0\r\nHost: h\r\n\r\n"],
      [431, get("/files/a.txt", `X: ${"x".repeat(300 << 10)}`)],
      [431, `GET /${"x".repeat(300 << 10)}`],
    ];
    for (const [status, text] of cases) {
      using client = await Client.of(folder);
      await client.send(text + get("/files/a.txt"));
      const answer = await client.answer();
      assert.equal(answer.status, status, text.slice(0, 40));
      assert.match(answer.body.toString(), /^[a-z-]+: [A-Z].*\n$/);
      assert.equal(answer.headers.get("connection"), "close");
      assert.ok(await client.isEnded());
    }
  });
});

Deno.test("slow clients are disconnected, and active ones are not", async () => {
  await withFolder(async (folder) => {
    using silent = await Client.of(folder);
    using slow = await Client.of(folder);
    using lasting = await Client.of(folder);
    const dripping = (async () => {
      for (const char of get("/files/a.txt", `X: ${"x".repeat(500)}`)) {
        await slow.send(char);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })().catch(() => {});
    for (let i = 0; i < 20; i++) {
      await lasting.send(get("/files/a.txt"));
      assert.equal((await lasting.answer()).status, 200);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.ok(await silent.isEnded().catch(() => true));
    assert.ok(await slow.isEnded().catch(() => true));
    await dripping;
  }, { patience: 600 });
});

Deno.test("a server that ends closes idle connections, and completes responses", async () => {
  await withFolder(async (folder) => {
    using waiting = await Client.of(folder);
    await waiting.send(get("/files/b.jpg"));
    await waiting.answer();
    using asking = await Client.of(folder);
    await asking.send(get("/files/large.bin"));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const ended = folder.server.close();
    assert.ok(await waiting.isEnded());
    assert.ok((await asking.answer()).body.equals(Buffer.from(LARGE)));
    assert.ok(await asking.isEnded());
    await ended;
  });
});

Deno.test("a client that leaves frees the memory of its response", async () => {
  await withFolder(async (folder) => {
    for (let i = 0; i < 20; i++) {
      using client = await Client.of(folder);
      await client.send(get("/files/large.bin").repeat(3));
    }
    const end = Date.now() + 20_000;
    for (let status = 0; status !== 200;) {
      assert.ok(Date.now() < end, "they still count");
      const response = await folder.get("files/large.bin");
      await response.body?.cancel();
      status = response.status;
    }
  }, { maxRequests: 1 });
});
