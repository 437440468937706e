import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import { handler } from "../../../src/serve/mod.ts";
import { open } from "../../../src/open/open.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import {
  packed,
  raw,
  served,
  serveFolder,
} from "../../support/serve/served_folder.ts";

const LARGE = Uint8Array.from({ length: 3_000_000 }, (_, i) => i * i >> 3);

Deno.test("a file is sent with its ETag, whole and in parts", async () => {
  const content = "0123456789";
  await using folder = await serveFolder({ "a.txt": content });
  const whole = await folder.get("files/a.txt");
  assert.equal(whole.status, 200);
  assert.equal(await whole.text(), content);
  assert.equal(whole.headers.get("content-type"), "text/plain; charset=utf-8");
  assert.equal(whole.headers.get("content-length"), "10");
  assert.equal(whole.headers.get("accept-ranges"), "bytes");
  const etag = whole.headers.get("etag")!;
  assert.match(etag, /^"[^"]+"$/);

  const part = await folder.get("files/a.txt", {
    headers: { range: "bytes=2-4", "if-range": etag },
  });
  assert.equal(part.status, 206);
  assert.equal(part.headers.get("content-range"), "bytes 2-4/10");
  assert.equal(part.headers.get("content-length"), "3");
  assert.equal(await part.text(), "234");

  const other = await folder.get("files/a.txt", {
    headers: { range: "bytes=2-4", "if-range": '"other"' },
  });
  assert.equal(other.status, 200);
  assert.equal(await other.text(), content);

  const same = await folder.get("files/a.txt", {
    headers: { "if-none-match": etag },
  });
  assert.equal(same.status, 304);
  assert.equal(same.headers.get("etag"), etag);
  assert.equal(await same.text(), "");

  const changed = await folder.get("files/a.txt", {
    headers: { "if-match": '"other"' },
  });
  assert.equal(changed.status, 412);
  assert.match(await changed.text(), /^changed: /);

  const beyond = await folder.get("files/a.txt", {
    headers: { range: "bytes=10-" },
  });
  assert.equal(beyond.status, 416);
  assert.equal(beyond.headers.get("content-range"), "bytes */10");
  assert.match(await beyond.text(), /^no-such-range: /);
});

Deno.test("HEAD returns the headers of GET, also of large files, and has no ranges", async () => {
  await using folder = await serveFolder({
    "a.jpg": "abc",
    "large.bin": LARGE,
  });
  for (const name of ["a.jpg", "large.bin"]) {
    const [head, get] = await Promise.all([
      folder.get(`files/${name}`, {
        method: "HEAD",
        headers: { range: "bytes=0-1" },
      }),
      folder.get(`files/${name}`),
    ]);
    assert.equal(head.status, 200);
    assert.equal((await head.bytes()).length, 0);
    await get.bytes();
    const facts = (response: Response) =>
      [...response.headers].filter(([header]) => header !== "date");
    assert.deepEqual(facts(head), facts(get));
  }
});

Deno.test("HEAD omits a length that is known only at the end", async () => {
  await using folder = await serveFolder({ "a.txt": "abc" }, { token: null });
  for (
    const [path, accept] of [
      ["files/?tar", "*/*"],
      ["files/", "text/html"],
      ["files/", "application/json"],
      ["dav/", "text/html"],
      ["page/main.ts", "*/*"],
    ] as const
  ) {
    const { head } = await raw(folder.server, [
      `HEAD /${path} HTTP/1.1`,
      "Host: localhost",
      `Accept: ${accept}`,
    ]);
    assert.match(head, /^HTTP\/1\.1 200 /, path);
    assert.doesNotMatch(head, /content-length/i, path);
  }
});

Deno.test("several ranges are sent as parts, also of large files", async () => {
  await using folder = await serveFolder({ "large.bin": LARGE });
  const response = await folder.get("files/large.bin", {
    headers: { range: "bytes=5-9,1000000-2900000,-3" },
  });
  assert.equal(response.status, 206);
  const type = response.headers.get("content-type")!;
  const [, boundary] = /^multipart\/byteranges; boundary=(\w+)$/.exec(type)!;
  const body = await response.bytes();
  assert.equal(response.headers.get("content-length"), String(body.length));
  const text = new TextDecoder("latin1").decode(body);
  const parts = text.split(`\r\n--${boundary}`);
  assert.equal(parts.length, 5);
  assert.equal(parts[0], "");
  assert.equal(parts[4], "--\r\n");
  const ranges = [[5, 10], [1_000_000, 2_900_001], [2_999_997, 3_000_000]];
  for (const [i, [start, end]] of ranges.entries()) {
    const [head, ...rest] = parts[i + 1]!.split("\r\n\r\n");
    assert.match(
      head!,
      new RegExp(`\r\nContent-Range: bytes ${start}-${end! - 1}/3000000$`),
    );
    const sent = Uint8Array.from(rest.join("\r\n\r\n"), (char) => {
      const code = char.charCodeAt(0);
      return code < 256 ? code : LATIN.indexOf(char);
    });
    assert.equal(crc32(sent), crc32(LARGE.subarray(start, end)));
  }
});

/** Decodes each byte by `TextDecoder`'s "latin1", which is windows-1252. */
const LATIN = new TextDecoder("latin1").decode(
  Uint8Array.from({ length: 256 }, (_, i) => i),
);

Deno.test("files of any size are sent whole", async () => {
  const sizes = [0, 1, 4096, 1 << 20, (1 << 20) + 1, 3_000_000];
  const files = Object.fromEntries(
    sizes.map((size) => [`${size}.bin`, LARGE.slice(0, size)]),
  );
  await using folder = await serveFolder(files);
  for (const size of sizes) {
    for (let round = 0; round < 2; round++) { // with its checksum unknown, then known
      const response = await folder.get(`files/${size}.bin`);
      const bytes = await response.bytes();
      assert.equal(bytes.length, size);
      assert.equal(crc32(bytes), crc32(LARGE.subarray(0, size)));
      assert.equal(response.headers.get("content-length"), String(size));
    }
  }
});

Deno.test("an unread response keeps its bytes while others are made", async () => {
  const files = { "a.jpg": "first", "b.jpg": "second one", "c.jpg": "" };
  using container = await open(packed(files));
  const answer = handler(container, { token: null });
  const answers = Object.keys(files).map((name) =>
    answer(new Request(`http://localhost/files/${name}`))
  );
  for (const [i, content] of Object.values(files).entries()) {
    assert.equal(await (await answers[i]!).text(), content);
  }
});

Deno.test("no wrong byte is sent: small files and ranges fail, large files end early", async () => {
  const archive = packed({
    "good.bin": "good",
    "large.bin": LARGE,
    "small.bin": "small",
  });
  const start = indexOf(archive, new TextEncoder().encode("small"));
  archive[start]! ^= 1;
  archive[start - 10]! ^= 1; // the last part of the large file
  const errors: unknown[] = [];
  await using folder = served(await open(archive), {
    onError: (error) => errors.push(error),
  });
  assert.equal(await (await folder.get("files/good.bin")).text(), "good");
  const small = await folder.get("files/small.bin");
  assert.equal(small.status, 500);
  assert.match(await small.text(), /^damaged: .*checksum mismatch/);
  const range = await folder.get("files/large.bin", {
    headers: { range: "bytes=0-9" },
  });
  assert.equal(range.status, 500);
  await range.body?.cancel();
  await assert.rejects(
    async () => await (await folder.get("files/large.bin")).bytes(),
  );
  assert.equal(errors.length, 3);
  for (const error of errors) {
    assert.match(String(error), /checksum mismatch/);
  }
});

Deno.test("without verification, bytes are sent unchanged", async () => {
  const archive = packed({ "a.bin": "small" });
  archive[indexOf(archive, new TextEncoder().encode("small"))]! ^= 0x20;
  await using folder = served(await open(archive, { checkData: false }));
  assert.equal(await (await folder.get("files/a.bin")).text(), "Small");
});

Deno.test("types are detected by names, else by the first bytes", async () => {
  const png = Uint8Array.from([
    0x89,
    ...new TextEncoder().encode("PNG\r\n\x1a\n"),
    0,
  ]);
  await using folder = served(
    await open(Uint8Array.from(ffrBytes([
      Uint8Array.from([0xff, 0xd8, 0xff, 0xe0]),
      png,
      new TextEncoder().encode("plain text, äö"),
      Uint8Array.of(0, 1, 2),
      new TextEncoder().encode("%PDF-1.7"),
      new TextEncoder().encode("<svg xmlns='http://www.w3.org/2000/svg'>"),
    ]))),
  );
  const types = [
    ...["image/jpeg", "image/png", "text/plain; charset=utf-8"],
    ...[
      "application/octet-stream",
      "application/pdf",
      "text/plain; charset=utf-8",
    ],
  ];
  const { entries } = await (await folder.get("api/list")).json();
  assert.equal(entries.length, types.length);
  for (const [i, type] of types.entries()) {
    const response = await folder.get(`files/${entries[i].url}`);
    assert.equal(response.headers.get("content-type"), type, `${i}`);
    await response.bytes();
  }
});

function indexOf(bytes: Uint8Array, part: Uint8Array): number {
  return bytes.findIndex((_, at) =>
    part.every((byte, i) => bytes[at + i] === byte)
  );
}
