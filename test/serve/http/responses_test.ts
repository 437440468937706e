import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { handler } from "../../../src/serve/mod.ts";
import { open } from "../../../src/open/open.ts";
import { packed, serveFolder } from "../../support/serve/served_folder.ts";

const CONTENT = Uint8Array.from({ length: 100_000 }, (_, i) => i * i >> 3);

/** Compares bytes. `deepEqual` takes minutes to describe a difference. */
function assertSame(actual: Uint8Array, expected: Uint8Array): void {
  assert.equal(actual.length, expected.length);
  assert.equal(Buffer.compare(actual, expected), 0);
}

/** Reads the first chunk of a response. */
async function sentOf(response: Response): Promise<Uint8Array> {
  const { value, done } = await response.body!.getReader().read();
  assert.equal(done, false);
  return value!;
}

Deno.test("responses of a handler stay valid, whatever is requested next", async () => {
  using container = await open(
    packed({ "a.jpg": CONTENT, "b.jpg": new Uint8Array(CONTENT.length) }),
  );
  const answer = handler(container, { token: null });
  const request = new Request("http://localhost/files/a.jpg");
  const sent = await sentOf(await answer(request));
  await answer(new Request("http://localhost/files/b.jpg"));
  assertSame(sent, CONTENT);
});

Deno.test("slow clients receive their bytes, while others come, go and are served", async () => {
  // More than the system buffers before the client reads.
  const contents = Array.from(
    { length: 12 },
    (_, i) => new Uint8Array(1_000_000).fill(i + 1),
  );
  await using folder = await serveFolder(
    Object.fromEntries(contents.map((bytes, i) => [`${i}.jpg`, bytes])),
    { token: null },
  );
  const ask = async (i: number) => {
    const { port } = folder.server;
    const connection = await Deno.connect({ hostname: "127.0.0.1", port });
    const request = [
      `GET /files/${i}.jpg HTTP/1.1`,
      "Host: localhost",
      "Connection: close",
    ];
    const lines = [...request, "", ""].join("\r\n");
    await connection.write(new TextEncoder().encode(lines));
    return connection;
  };
  const slow = await Promise.all(contents.map((_, i) => ask(i)));
  for (let round = 0; round < 3; round++) {
    const gone = await Promise.all(contents.map((_, i) => ask(i)));
    for (const connection of gone) connection.close();
    await Promise.all(contents.map(async (content, i) => {
      const answered = await folder.get(`files/${i}.jpg`);
      assertSame(await answered.bytes(), content);
    }));
  }
  await Promise.all(slow.map(async (connection, i) => {
    const answer = await new Response(connection.readable).bytes();
    assertSame(answer.subarray(-contents[i]!.length), contents[i]!);
  }));
});
