import assert from "node:assert/strict";
import fc from "fast-check";
import { RequestHead } from "../../../src/serve/http/request_head.ts";
import { ServeError } from "../../../src/serve/serve_error.ts";

const OWN = { scheme: "http", authority: "127.0.0.1:8000" } as const;

function head(...lines: string[]): RequestHead {
  return new RequestHead([...lines, "", ""].join("\r\n"), OWN);
}

/** Returns the status that rejects a head, or 0. */
function statusOf(text: string): number {
  try {
    new RequestHead(text, OWN);
    return 0;
  } catch (error) {
    assert.ok(error instanceof ServeError, String(error));
    return error.status;
  }
}

Deno.test("a head is parsed by RFC 9112", () => {
  const plain = head(
    "GET /files/a%20b.jpg?x=1 HTTP/1.1",
    "Host: localhost:8000",
    "accept:text/html",
    "ACCEPT: \t image/*;q=0.8 \t",
    "X-Empty:",
    "Cookie: a=1",
    "Cookie: b=2",
    "X-Latin: caf\xe9",
  );
  assert.equal(plain.method, "GET");
  assert.equal(plain.url, "http://localhost:8000/files/a%20b.jpg?x=1");
  assert.equal(plain.headers.get("accept"), "text/html, image/*;q=0.8");
  assert.equal(plain.headers.get("cookie"), "a=1; b=2");
  assert.equal(plain.headers.get("x-empty"), "");
  assert.equal(plain.headers.get("x-latin"), "caf\xe9");
  assert.equal(plain.headers.has("x-empty"), true);
  assert.equal(plain.headers.get("range"), null);
  assert.equal(plain.headers.has("range"), false);
  assert.equal(plain.isCurrent, true);
  assert.equal(plain.keepsAlive, true);
  assert.equal(plain.bodyLength, 0);
  assert.equal(plain.body, null);
  const body = head(
    "PROPFIND /dav/ HTTP/1.1",
    "Host: h",
    "Content-Length: 12",
    "Expect: 100-Continue",
    "Connection: TE, Close",
  );
  assert.equal(body.bodyLength, 12);
  assert.equal(body.expectsContinue, true);
  assert.equal(body.keepsAlive, false);
  const chunked = head(
    "PUT / HTTP/1.1",
    "Host: h",
    "Transfer-Encoding: Chunked",
  );
  assert.equal(chunked.bodyLength, "chunked");
});

Deno.test("clients of HTTP/1.0 need no host, and keep a connection on request", () => {
  const old = head("GET /a HTTP/1.0");
  assert.equal(old.url, `http://${OWN.authority}/a`);
  assert.equal(old.isCurrent, false);
  assert.equal(old.keepsAlive, false);
  const kept = head("GET /a HTTP/1.0", "Connection: Keep-Alive");
  assert.equal(kept.keepsAlive, true);
  // An unknown minor version is treated as the highest known one (RFC 9110, 6.2).
  assert.equal(head("GET /a HTTP/1.7", "Host: h").isCurrent, true);
});

Deno.test("a target may be a path, a whole URL or the server", () => {
  const urls: readonly [target: string, url: string][] = [
    ["/", "http://h/"],
    ["//x/../y", "http://h//x/../y"],
    ["/?a=http://b/", "http://h/?a=http://b/"],
    ["*", "http://h/*"],
    ["http://other:80/a", "http://other:80/a"],
    ["HTTPS://other/a", "HTTPS://other/a"],
    ["/caf\xc3\xa9", "http://h/caf%C3%A9"],
  ];
  for (const [target, url] of urls) {
    assert.equal(head(`GET ${target} HTTP/1.1`, "Host: h").url, url);
  }
});

Deno.test("ambiguous and invalid requests are rejected", () => {
  const host = "Host: h";
  const refused: readonly [status: number, ...lines: string[]][] = [
    [400, ""],
    [400, "GET /"],
    [400, "GET / HTTP/1.1"], // no host
    [400, "GET  / HTTP/1.1", host],
    [400, " GET / HTTP/1.1", host],
    [400, "GET\t/ HTTP/1.1", host],
    [400, "GET / HTTP/1.1 ", host],
    [400, "GET /a b HTTP/1.1", host],
    [400, "GET / http/1.1", host],
    [400, "GET / HTTP/1.10", host],
    [505, "GET / HTTP/2.0", host],
    [400, "G(T / HTTP/1.1", host],
    [400, "GET / HTTP/1.1\nX: y", host],
    [400, "GET a/b HTTP/1.1", host],
    [400, "GET ftp://h/ HTTP/1.1", host],
    [400, "CONNECT h:80 HTTP/1.1", host],
    [400, "GET / HTTP/1.1", "Host: h/x"],
    [400, "GET / HTTP/1.1", "Host: h@x"],
    [400, "GET / HTTP/1.1", "Host: h x"],
    [400, "GET / HTTP/1.1", host, host],
    [400, "GET / HTTP/1.1", host, "Host: other"],
    [400, "GET / HTTP/1.1", host, "X : y"],
    [400, "GET / HTTP/1.1", host, "X"],
    [400, "GET / HTTP/1.1", host, ": y"],
    [400, "GET / HTTP/1.1", host, "X: a", " folded"],
    [400, "GET / HTTP/1.1", host, "X: a\0b"],
    [400, "GET / HTTP/1.1", host, "X: a\rb"],
    [400, "GET / HTTP/1.1", host, "X: a\nY: b"],
    [400, "GET / HTTP/1.1", host, "X: a\x7fb"],
    [400, "GET / HTTP/1.1", host, "X\xe9: a"],
    [400, "PUT / HTTP/1.1", host, "Content-Length: +1"],
    [400, "PUT / HTTP/1.1", host, "Content-Length: -1"],
    [400, "PUT / HTTP/1.1", host, "Content-Length: 1 2"],
    [400, "PUT / HTTP/1.1", host, "Content-Length: 0x10"],
    [400, "PUT / HTTP/1.1", host, "Content-Length:"],
    [400, "PUT / HTTP/1.1", host, "Content-Length: 1", "Content-Length: 1"],
    [400, "PUT / HTTP/1.1", host, "Content-Length: 1", "Content-Length: 2"],
    [400, "PUT / HTTP/1.1", host, "Content-Length: 9999999999999999"],
    [
      400,
      "PUT / HTTP/1.1",
      host,
      "Content-Length: 1",
      "Transfer-Encoding: chunked",
    ],
    [400, "PUT / HTTP/1.0", "Transfer-Encoding: chunked"],
    [501, "PUT / HTTP/1.1", host, "Transfer-Encoding: gzip, chunked"],
    [501, "PUT / HTTP/1.1", host, "Transfer-Encoding: chunked, chunked"],
  ];
  for (const [status, ...lines] of refused) {
    const text = [...lines, "", ""].join("\r\n");
    assert.equal(statusOf(text), status, JSON.stringify(text));
  }
});

Deno.test("any bytes are a request, or rejected", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...["GET", " ", "/", "HTTP/1.1", "\r\n", "\r", "\n", ":", "Host: h"],
      ...["Content-Length: 1", "Transfer-Encoding: chunked", "\t", "\0", "%"],
    ),
    fc.string({
      unit: fc.integer({ min: 0, max: 255 }).map((code) =>
        String.fromCharCode(code)
      ),
    }),
  );
  const heads = fc.array(piece, { maxLength: 20 });
  fc.assert(fc.property(heads, (pieces) => {
    const text = pieces.join("");
    assert.ok([0, 400, 501, 505].includes(statusOf(`${text}\r\n\r\n`)));
  }));
});

Deno.test("parsing a head takes linear time, whatever its content", () => {
  const length = 250_000;
  const fillers = [" ", "\t", "a ", "a\t ", ",", "a", "\xe9", " ;"];
  for (const filler of fillers) {
    const long = filler.repeat(length / filler.length);
    for (const end of ["", "\0", "\n", "\r"]) {
      const texts = [
        `GET / HTTP/1.1\r\nHost: h\r\nX: ${long}${end}\r\n\r\n`,
        `GET / HTTP/1.1\r\nHost: ${long}${end}\r\n\r\n`,
        `GET /${long}${end} HTTP/1.1\r\nHost: h\r\n\r\n`,
        `GET / HTTP/1.1\r\nHost: h\r\n${long}${end}: x\r\n\r\n`,
        `GET / HTTP/1.1\r\nHost: h\r\nConnection: ${long}${end}\r\n\r\n`,
      ];
      for (const text of texts) {
        const start = performance.now();
        statusOf(text);
        const took = performance.now() - start;
        assert.ok(took < 1000, `${JSON.stringify(filler)} took ${took} ms`);
      }
    }
  }
});
