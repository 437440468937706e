import assert from "node:assert/strict";
import { XMLParser } from "fast-xml-parser";
import {
  type ServedFolder,
  serveFolder,
} from "../../support/serve/served_folder.ts";

const FILES = {
  "a.txt": "content",
  "dir": { "b c.jpg": "jpeg", "ü&<>": "odd" },
};

const ANSWERS = "OPTIONS, PROPFIND, GET, HEAD";

/** Method, path and `Depth` of requests, and the required status (RFC 4918, 9; RFC 9110, 9 and 15). */
const TABLE: readonly (readonly [
  method: string,
  path: string,
  depth: string,
  status: number,
])[] = [
  ["OPTIONS", "dav/", "", 200],
  ["OPTIONS", "dav/a.txt", "", 200],
  ["OPTIONS", "dav/none", "", 200],
  ["OPTIONS", "", "", 200],
  ["OPTIONS", "*", "", 200],
  ["GET", "dav/a.txt", "", 200],
  ["HEAD", "dav/a.txt", "", 200],
  ["GET", "dav/", "", 200],
  ["GET", "dav/dir", "", 301],
  ["GET", "dav/none", "", 404],
  ["GET", "dav/a.txt/", "", 404],
  ["PROPFIND", "dav/", "0", 207],
  ["PROPFIND", "dav/", "1", 207],
  ["PROPFIND", "dav", "1", 207],
  ["PROPFIND", "dav/dir", "1", 207],
  ["PROPFIND", "dav/a.txt", "0", 207],
  ["PROPFIND", "dav/a.txt", "1", 207],
  ["PROPFIND", "dav/none", "0", 404],
  ["PROPFIND", "dav/desktop.ini", "0", 404], // Windows requests it everywhere
  ["PROPFIND", "dav/._a.txt", "0", 404], // macOS
  ["PROPFIND", "dav/", "infinity", 403],
  ["PROPFIND", "dav/", "", 403], // a missing Depth means infinity
  ["PROPFIND", "dav/", "2", 400],
  ["PROPFIND", "", "0", 207],
  ["PROPFIND", "", "infinity", 403],
  ["PUT", "dav/new", "", 403],
  ["PUT", "dav/a.txt", "", 403],
  ["DELETE", "dav/a.txt", "", 403],
  ["MKCOL", "dav/new/", "", 403],
  ["COPY", "dav/a.txt", "", 403],
  ["MOVE", "dav/a.txt", "", 403],
  ["PROPPATCH", "dav/a.txt", "", 403],
  ["LOCK", "dav/a.txt", "0", 403],
  ["UNLOCK", "dav/a.txt", "", 403],
  ["PATCH", "dav/a.txt", "", 403],
  ["POST", "dav/a.txt", "", 403],
  ["REPORT", "dav/a.txt", "", 405],
  ["SEARCH", "dav/", "", 405],
  ["BREW", "dav/", "", 405],
];

Deno.test("methods are answered as RFC 4918 requires for read-only resources", async () => {
  await using folder = await serveFolder(FILES);
  for (const [method, path, depth, status] of TABLE) {
    const headers = depth === "" ? {} : { depth };
    const response = await folder.get(path, { method, headers });
    const text = await response.text();
    assert.equal(
      response.status,
      status,
      `${method} ${path} ${depth}: ${text}`,
    );
    if (method === "OPTIONS") {
      assert.equal(response.headers.get("dav"), "1");
      assert.equal(response.headers.get("ms-author-via"), "DAV");
      assert.equal(response.headers.get("allow"), ANSWERS);
    }
    if (status === 405) assert.equal(response.headers.get("allow"), ANSWERS);
    if (depth === "infinity") assert.match(text, /<D:propfind-finite-depth\/>/);
  }
  assert.equal(await (await folder.get("dav/a.txt")).text(), "content");
});

Deno.test("a directory and its entries are described", async () => {
  await using folder = await serveFolder(FILES);
  const responses = await propfind(folder, "dav/dir/", "1");
  assert.deepEqual(responses.map(({ href }) => href), [
    "/dav/dir/",
    "/dav/dir/b%20c.jpg",
    "/dav/dir/%C3%BC%26%3C%3E",
  ]);
  const [directory, picture, odd] = responses.map(({ found }) => found);
  assert.deepEqual(directory!.resourcetype, { "D:collection": "" });
  assert.equal(directory!.getcontentlength, undefined);
  assert.equal(picture!.resourcetype, "");
  assert.equal(picture!.displayname, "b c.jpg");
  assert.equal(picture!.getcontentlength, "4");
  assert.equal(picture!.getcontenttype, "image/jpeg");
  assert.equal(odd!.displayname, "ü&<>");
  const file = await folder.get("dav/dir/b%20c.jpg");
  await file.bytes();
  assert.equal(picture!.getetag, file.headers.get("etag"));
  assert.equal(picture!.getlastmodified, file.headers.get("last-modified"));
  assert.match(
    String(picture!.creationdate),
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
  );
});

Deno.test("requested properties are returned, and missing ones reported", async () => {
  await using folder = await serveFolder(FILES);
  const body =
    `<?xml version="1.0"?><x:propfind xmlns:x="DAV:" xmlns:o="urn:o&amp;x"><x:prop>
    <x:getcontentlength/><x:quota-used-bytes/><o:mine/><x:getetag/><plain xmlns=""/><x:toString/>
  </x:prop></x:propfind>`;
  const [file] = await propfind(folder, "dav/a.txt", "0", body);
  assert.deepEqual(Object.keys(file!.found), ["getcontentlength", "getetag"]);
  assert.deepEqual(Object.keys(file!.missing).sort(), [
    "mine",
    "plain",
    "quota-used-bytes",
    "toString",
  ]);
  const quota = body.replace("<o:mine/>", "<x:quota-available-bytes/>");
  const [root] = await propfind(folder, "dav/", "0", quota);
  assert.equal(root!.found["quota-available-bytes"], "0");
  assert.ok(Number(root!.found["quota-used-bytes"]) > 0);
  // RFC 4918, 14.8
  const [also] = await propfind(
    folder,
    "dav/",
    "0",
    `<propfind xmlns="DAV:"><allprop/><include><quota-used-bytes/><getetag/><mine/></include></propfind>`,
  );
  assert.equal(also!.found.displayname, "");
  assert.ok(Number(also!.found["quota-used-bytes"]) > 0);
  assert.deepEqual(Object.keys(also!.missing), ["mine"]);
  const names = `<propfind xmlns="DAV:"><propname/></propfind>`;
  const [named] = await propfind(folder, "dav/a.txt", "0", names);
  assert.equal(named!.found.getcontentlength, "");
});

Deno.test("invalid bodies are rejected, and entities are not expanded", async () => {
  await using folder = await serveFolder(FILES);
  const bomb =
    `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><propfind xmlns="DAV:"><allprop/>&b;</propfind>`;
  const file =
    `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><propfind xmlns="DAV:"><prop>&a;</prop></propfind>`;
  const bodies: readonly (readonly [string, number])[] = [
    ["rubbish", 400],
    ["<propfind>", 400],
    ["<propfind/>", 400], // without a namespace
    [`<propfind xmlns="DAV:"/>`, 400],
    [`<D:propfind><D:allprop/></D:propfind>`, 400],
    [`<D:propfind xmlns:D="DAV:"><D:prop><D:a:b/></D:prop></D:propfind>`, 400],
    [`<D:propfind xmlns:D="DAV:"><D:prop><D:/></D:prop></D:propfind>`, 400],
    [`<propfind xmlns="DAV:"><prop><:a/></prop></propfind>`, 400],
    [`<other xmlns="DAV:"><allprop/></other>`, 400],
    [bomb, 400],
    [file, 400],
    [
      `<propfind xmlns="DAV:"><prop>${"<x/>".repeat(1000)}</prop></propfind>`,
      413,
    ],
    [
      `<propfind xmlns="DAV:"><prop>${" ".repeat(100_000)}</prop></propfind>`,
      413,
    ],
    // Content of a property, and attributes, count towards the limits.
    [
      `<propfind xmlns="DAV:"><prop><x>${
        "<y/>".repeat(8000)
      }</x></prop></propfind>`,
      413,
    ],
    [
      `<propfind xmlns="DAV:"><prop>${
        `<x ${Array.from({ length: 400 }, (_, i) => `a${i}=""`).join(" ")}/>`
          .repeat(10)
      }</prop></propfind>`,
      413,
    ],
    [
      `<propfind xmlns="DAV:"><prop><x a="${
        "b".repeat(5000)
      }"/></prop></propfind>`,
      413,
    ],
    [
      `<propfind xmlns="DAV:"><prop>${"<x>".repeat(100)}${
        "</x>".repeat(100)
      }</prop></propfind>`,
      400,
    ],
    // The limit is in bytes, not characters.
    [
      `<propfind xmlns="DAV:"><prop>${"é".repeat(40_000)}</prop></propfind>`,
      413,
    ],
  ];
  for (const [body, status] of bodies) {
    const response = await folder.get("dav/", {
      method: "PROPFIND",
      headers: { depth: "0" },
      body,
    });
    const text = await response.text();
    assert.equal(response.status, status, `${body.slice(0, 80)}: ${text}`);
    assert.doesNotMatch(text, /root:/);
  }
});

/** A resource in a response: the properties found, and those missing. */
interface Described {
  readonly href: string;
  readonly found: Record<string, unknown>;
  readonly missing: Record<string, unknown>;
}

async function propfind(
  folder: ServedFolder,
  path: string,
  depth: string,
  body?: string,
): Promise<Described[]> {
  const response = await folder.get(path, {
    method: "PROPFIND",
    headers: { depth },
    ...body === undefined ? {} : { body },
  });
  assert.equal(response.status, 207);
  assert.match(response.headers.get("content-type")!, /^application\/xml/);
  const parser = new XMLParser({
    parseTagValue: false,
    isArray: (name) => name === "D:response" || name === "D:propstat",
  });
  const { "D:multistatus": { "D:response": responses } } = parser.parse(
    await response.text(),
  );
  // deno-lint-ignore no-explicit-any -- as the parser has it
  return responses.map((one: any) => {
    const of = (status: string) =>
      Object.assign(
        {},
        // deno-lint-ignore no-explicit-any
        ...one["D:propstat"].filter((part: any) =>
          part["D:status"].includes(status)
        )
          // deno-lint-ignore no-explicit-any
          .map((part: any) =>
            Object.fromEntries(
              Object.entries(part["D:prop"]).map(([name, value]) => [
                name.replace(/^D:/, ""),
                value,
              ]),
            )
          ),
      );
    return { href: one["D:href"], found: of(" 200 "), missing: of(" 404 ") };
  });
}
