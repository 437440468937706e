/** Clients that close their sending half, or send invalid or oversized heads, over HTTP and HTTPS. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { ServeOptions } from "../../../src/serve/options.ts";
import { Authority } from "../../support/remote/authority.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import {
  headOf,
  RawClient,
  type Reached,
} from "../../support/serve/raw_client.ts";
import {
  type Files,
  type ServedFolder,
  serveFolder,
} from "../../support/serve/served_folder.ts";

const TOKEN = "a-token-of-a-test";
const LARGE = Uint8Array.from({ length: 12 << 20 }, (_, i) => i * i >> 7);
const FILES: Files = { "a.txt": "content of a", "large.bin": LARGE };
const LIMIT = 256 << 10;
const UNKNOWN_LIMIT = 16 << 10;

type Use = (reached: Reached, folder: ServedFolder) => Promise<void>;

/** Runs a test over HTTP and over HTTPS. */
function overBoth(name: string, options: ServeOptions, use: Use): void {
  Deno.test(`over HTTP, ${name}`, async () => {
    await using folder = await serveFolder(FILES, options);
    await use({ port: folder.server.port }, folder);
  });
  Deno.test({
    name: `over HTTPS, ${name}`,
    ...needs("openssl"),
    fn: () =>
      withTempDir(async (dir) => {
        const authority = new Authority(`${dir}/ca`);
        const all = { ...options, ...authority.certify() };
        await using folder = await serveFolder(FILES, all);
        await use({ port: folder.server.port, authority }, folder);
      }),
  });
}

/** Sends bytes, closes the sending half if `isEnded`, and reads the response. */
async function answerTo(
  reached: Reached,
  text: string,
  isEnded = true,
): Promise<Buffer> {
  using client = await RawClient.of(reached);
  const sending = client.send(text).catch(() => {}); // the server may disconnect early
  if (isEnded) await sending.then(() => client.end()).catch(() => {});
  return await client.rest();
}

function statusOf(answer: Buffer): number {
  const head = answer.subarray(0, 12).toString("latin1");
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
}

function bodyOf(answer: Buffer): Buffer {
  return answer.subarray(answer.indexOf("\r\n\r\n") + 4);
}

overBoth("a client that closes its sending half gets the whole response", {
  token: null,
}, async (reached) => {
  const file = await answerTo(reached, headOf("/files/large.bin"));
  assert.ok(bodyOf(file).equals(Buffer.from(LARGE)));

  const range = headOf("/files/large.bin", "Range: bytes=5-");
  const part = await answerTo(reached, range);
  assert.ok(bodyOf(part).equals(Buffer.from(LARGE.subarray(5))));

  const tar = await answerTo(reached, headOf("/files/?tar"));
  assert.ok(tar.length > LARGE.length);
  assert.equal(tar.subarray(-7).toString(), "\r\n0\r\n\r\n");

  const two = headOf("/files/large.bin") + headOf("/files/a.txt");
  const both = await answerTo(reached, two);
  assert.equal(both.subarray(-12).toString(), "content of a");
  assert.ok(both.length > LARGE.length);
});

overBoth("bytes that cannot become a request are rejected at once", {
  token: null,
}, async (reached) => {
  const whole = headOf("/files/a.txt");
  const cases = [
    whole.replaceAll("\r\n", "\n"),
    whole.replace("\r\n", "\n"),
    "GET / HTTP/1.1\n",
    "\x16\x03\x01\x02\0\x01",
    "\0\0\0\0",
    "HELLO\r\n",
    "GET / HTTP/1.1\r\nno header\r\n",
    "GET / HTTP/1.1\r\nX: \0",
  ];
  for (const text of cases) {
    const answer = await answerTo(reached, text, false); // the client keeps its sending half open
    assert.equal(statusOf(answer), 400, JSON.stringify(text));
  }
  const body = "<propfind xmlns='DAV:'/>";
  const cut = [
    "GET / HTTP/1.1",
    whole.slice(0, -1),
    "GET /aaa",
    headOf("/dav/", `Content-Length: ${body.length + 1}`, "Depth: 0")
      .replace("GET", "PROPFIND") + body,
  ];
  for (const text of cut) {
    const answer = await answerTo(reached, text);
    assert.equal(statusOf(answer), 400, JSON.stringify(text));
  }
  assert.equal((await answerTo(reached, "")).length, 0);
});

/** Returns a GET request whose head has this size; the given headers come first. */
function headOfSize(size: number, ...headers: string[]): string {
  const bare = headOf("/files/a.txt", ...headers, "X: ").length;
  return headOf("/files/a.txt", ...headers, `X: ${"x".repeat(size - bare)}`);
}

/** Sends text in pieces of this size, or at once, and returns the status of the response. */
async function statusFor(
  reached: Reached,
  text: string,
  piece: number,
): Promise<number> {
  using client = await RawClient.of(reached);
  const sending = (async () => {
    for (let at = 0; at < text.length; at += piece) {
      await client.send(text.slice(at, at + piece));
      if (piece < text.length) await new Promise((done) => setTimeout(done));
    }
  })().catch(() => {});
  const status = await client.status();
  await sending;
  return status;
}

for (
  const [whose, limit, token, headers] of [
    ["of every client of a server without a token", LIMIT, null, []],
    ["of a client that sends the token first", LIMIT, TOKEN, [
      `Authorization: Bearer ${TOKEN}`,
    ]],
    ["of a client that sends it as a password", LIMIT, TOKEN, [
      `Authorization: Basic ${btoa(`any:${TOKEN}`)}`,
    ]],
    ["of a client that does not send it", UNKNOWN_LIMIT, TOKEN, []],
    ["of a client that sends another one", UNKNOWN_LIMIT, TOKEN, [
      "Authorization: Bearer something-that-is-wrong",
    ]],
  ] as const
) {
  overBoth(
    `the head ${whose} has ${
      limit >> 10
    } KiB at most, however its bytes arrive`,
    {
      token,
    },
    async (reached) => {
      const isKnown = limit === LIMIT;
      for (const piece of [Infinity, 5000, 40_000]) {
        const right = headOfSize(limit, ...headers);
        const status = await statusFor(reached, right, piece);
        assert.equal(status, isKnown ? 200 : 401, `${piece}`);
        const wrong = headOfSize(limit + 1, ...headers);
        assert.equal(await statusFor(reached, wrong, piece), 431, `${piece}`);
        const far = headOfSize(limit + 300_000, ...headers);
        assert.equal(await statusFor(reached, far, piece), 431, `${piece}`);
        const endless = `GET /${"x".repeat(LIMIT)}`;
        assert.equal(await statusFor(reached, endless, piece), 431, `${piece}`);
      }
    },
  );
}

overBoth("a token after the limit in a large head is not seen", {
  token: TOKEN,
}, async (reached) => {
  const large = `X: ${"x".repeat(UNKNOWN_LIMIT)}`;
  const text = headOf("/files/a.txt", large, `Authorization: Bearer ${TOKEN}`);
  assert.equal(await statusFor(reached, text, Infinity), 431);
});

overBoth("a client that sends one byte at a time times out", {
  token: null,
  patience: 500,
}, async (reached) => {
  using client = await RawClient.of(reached);
  let isOver = false;
  const dripping = (async () => {
    for (const char of headOf("/files/a.txt", `X: ${"x".repeat(5000)}`)) {
      if (isOver) return;
      await client.send(char);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })().catch(() => {});
  assert.equal((await client.rest().catch(() => Buffer.alloc(0))).length, 0);
  isOver = true;
  await dripping;
});
