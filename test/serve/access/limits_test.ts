import assert from "node:assert/strict";
import { raw, serveFolder } from "../../support/serve/served_folder.ts";

const LARGE = new Uint8Array(8 << 20).fill(7);

Deno.test("requests over the limit are rejected with Retry-After", async () => {
  await using folder = await serveFolder({
    "large.bin": LARGE,
    "small.txt": "small",
  }, { maxRequests: 3 });
  const slow = await Promise.all(
    Array.from({ length: 3 }, () => folder.get("files/large.bin")),
  );
  for (const { status } of slow) assert.equal(status, 200);
  const more = await folder.get("files/large.bin");
  assert.equal(more.status, 503);
  assert.equal(more.headers.get("retry-after"), "1");
  assert.match(await more.text(), /^too-many-requests: /);
  // Small files do not count towards the limit.
  assert.equal(await (await folder.get("files/small.txt")).text(), "small");
  for (const { body } of slow) await body!.cancel();
  await waitUntil(async () => {
    const response = await folder.get("files/large.bin");
    await response.body?.cancel();
    return response.status === 200;
  });
});

Deno.test("a client that reads nothing is disconnected", async () => {
  const errors: unknown[] = [];
  await using folder = await serveFolder({ "large.bin": LARGE }, {
    maxRequests: 1,
    patience: 200,
    token: null,
    onError: (error) => errors.push(error),
  });
  using connection = await Deno.connect({
    hostname: "127.0.0.1",
    port: folder.server.port,
  });
  const request = "GET /files/large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n";
  await connection.write(new TextEncoder().encode(request));
  // The request counts until it times out.
  await waitUntil(async () => {
    const response = await folder.get("files/large.bin");
    const { status } = response;
    await response.body?.cancel();
    return status === 200;
  });
  const received = await new Response(connection.readable).bytes().catch(() =>
    new Uint8Array()
  );
  assert.ok(received.length < LARGE.length);
});

Deno.test("a thousand connections are served at a time", async () => {
  await using folder = await serveFolder({ "a.txt": "content" }, {
    token: null,
  });
  const { port } = folder.server;
  const connections = await Promise.all(
    Array.from(
      { length: 1000 },
      () => Deno.connect({ hostname: "127.0.0.1", port }),
    ),
  );
  const request = new TextEncoder().encode(
    "GET /files/a.txt HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
  );
  const answers = await Promise.all(connections.map(async (connection) => {
    await connection.write(request);
    return await new Response(connection.readable).text();
  }));
  for (const answer of answers) {
    assert.match(answer, /^HTTP\/1\.1 200 /);
    assert.match(answer, /content$/);
  }
});

Deno.test("absurd requests are rejected by name, and the server continues", async () => {
  await using folder = await serveFolder({ "a.txt": "content" }, {
    token: null,
  });
  const { server } = folder;
  const ranges = `bytes=${"0-0,".repeat(9_999)}0-0`;
  const cases: readonly (readonly [readonly string[], number])[] = [
    [["GET /files/a.txt HTTP/1.1", "Host: localhost", `Range: ${ranges}`], 416],
    [[
      "GET /files/a.txt HTTP/1.1",
      "Host: localhost",
      "Range: bytes=0-18446744073709551616",
    ], 206],
    [["GET /api/list?limit=10001 HTTP/1.1", "Host: localhost"], 400],
    [["GET /api/list?limit=-1 HTTP/1.1", "Host: localhost"], 400],
    [["GET /api/list?at=1e9 HTTP/1.1", "Host: localhost"], 400],
    [["GET /api/nothing HTTP/1.1", "Host: localhost"], 404],
    [["GET /api/constructor HTTP/1.1", "Host: localhost"], 404],
    [["DELETE /files/a.txt HTTP/1.1", "Host: localhost"], 405],
    [["POST /api/info HTTP/1.1", "Host: localhost"], 405],
    [["GET /api/check HTTP/1.1", "Host: localhost"], 405],
    [["BREW / HTTP/1.1", "Host: localhost"], 405],
    [[
      "GET /api/search?glob=" + "*a".repeat(400) + " HTTP/1.1",
      "Host: localhost",
    ], 400],
    [["GET /api/search?glob=[ HTTP/1.1", "Host: localhost"], 400],
  ];
  for (const [lines, expected] of cases) {
    const { status, body } = await raw(server, lines);
    assert.equal(
      status,
      expected,
      `${lines[0]!.slice(0, 100)}: ${body.slice(0, 200)}`,
    );
  }
  assert.equal(await (await folder.get("files/a.txt")).text(), "content");
});

Deno.test("no search blocks a server, whatever it requests", async () => {
  const long = "a".repeat(160);
  await using folder = await serveFolder({
    [`${long}.txt`]: "1",
    [`${"😀".repeat(36)}.txt`]: "2",
    "b.txt": "3",
  });
  const cases: [glob: string, found: number | undefined][] = [
    ["*a*a*a*a*a*a*a*b", 0],
    ["*a*a*a*a*a*a*a*t", 1],
    ["a*", 1],
    ["*a.txt", 1],
    ["*a.txt*txt", 0],
    ["*y", 0],
    ["😀*", 1],
    ["*.txt", 3],
    ["b*b.txt", 0],
    ["{a,b}*.txt", 2],
    ["**/*a*b", 0],
    ["[a]*a*a*a*a*a*b", undefined],
    [`*${"{x,xx}".repeat(20)}y`, undefined],
    [`${"{a,aa}".repeat(20)}b`, undefined],
    ["**/".repeat(20) + "y", undefined],
  ];
  for (const [glob, found] of cases) {
    const start = performance.now();
    const path = `api/search?glob=${encodeURIComponent(glob)}`;
    const response = await folder.get(path);
    const text = await response.text();
    assert.equal(response.status, found === undefined ? 400 : 200, text);
    const took = performance.now() - start;
    assert.ok(took < 2000, `${glob} took ${took} ms`);
    if (found === undefined) continue;
    const last = JSON.parse(text.trimEnd().split("\n").at(-1)!);
    assert.equal(last.found, found, glob);
  }
});

/** Waits for a condition, with a timeout long enough for a busy machine. */
async function waitUntil(holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 30_000;
  while (!(await holds())) {
    assert.ok(Date.now() < end, "it does not come to be");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
