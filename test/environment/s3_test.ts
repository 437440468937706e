/** Buckets on a server that checks signatures. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../mod.ts";
import { ffrBytes } from "../support/ffrecord/make_ffr.ts";
import { goldenCase } from "../support/golden.ts";
import { SIGNED, withBucket } from "../support/remote/with_bucket.ts";

const container = ffrBytes([Uint8Array.of(1, 2, 3), new Uint8Array(200_000)]);

Deno.test("an object and a directory of objects are opened; any key is found", async () => {
  const packed = goldenCase("ffrecord/packed_tree");
  const names = ["a b", "a+b", "a%20b", "a#b?c", "ä/日本 =&", "x~!*'()"];
  const objects = {
    "packed.ffr": fs.readFileSync(packed.path),
    "parts/0.ffr": container,
    "parts/1.ffr": container,
    "parts/readme.txt": new Uint8Array(1),
    ...Object.fromEntries(names.map((name) => [`${name}.ffr`, container])),
  };
  await withBucket(objects, SIGNED, async (_, options) => {
    using one = await open("s3://bucket/packed.ffr", options());
    using local = await open(packed.path);
    assert.deepEqual(await one.list("/"), await local.list("/"));
    assert.equal((await one.read("...")).length, 28);
    using parts = await open("s3://bucket/parts", options());
    assert.equal(parts.info.files, 4);
    assert.deepEqual(await parts.read("000002"), Uint8Array.of(1, 2, 3));
    for (const name of names) {
      using found = await open(`s3://bucket/${name}.ffr`, options());
      assert.equal((await found.read("000001")).length, 200_000, name);
    }
    using deep = await open("s3://bucket/ä/", options());
    assert.equal(deep.info.files, 2);
    await assert.rejects(open("s3://bucket/nothing", options()), {
      code: "ENOENT",
      message:
        "Cannot open s3://bucket/nothing: there is no such file or directory",
    });
    await assert.rejects(open("s3://nobody/nothing", options()), {
      message: /^Cannot (list|read) s3:\/\/nobody\/.*no such bucket/,
    });
  });
});

Deno.test("a directory with more objects than a page is listed completely", async () => {
  const objects = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, i) => [`many/${i} & ü.txt`, container]),
  );
  const more = { ...objects, "many/zzz.ffr": container };
  await withBucket(more, SIGNED, async (server, options) => {
    using many = await open("s3://bucket/many/", options());
    assert.equal(many.info.files, 2);
    const pages = server.asked.filter((url) => url.includes("list-type=2"));
    assert.equal(pages.length, 11);
  });
});

Deno.test("keys from a server that does not encode them in listings are used unchanged", async () => {
  const names = ["a+b.ffr", "50%.ffr", "a%20b.ffr", "a & <b>.ffr"];
  const objects = Object.fromEntries(
    names.map((name) => [`parts/${name}`, container]),
  );
  await withBucket(objects, SIGNED, async (server, options) => {
    for (const encodes of [true, false]) {
      server.encodes = encodes;
      using parts = await open("s3://bucket/parts", options());
      assert.equal(parts.info.files, 2 * names.length);
      assert.equal((await parts.read("000007")).length, 200_000);
    }
  });
});

Deno.test("wrong keys, or none, are rejected by name, without the secret", async () => {
  const wrong = { ...SIGNED, AWS_SECRET_ACCESS_KEY: "not-the-secret" };
  await withBucket({ "a.ffr": container }, wrong, async (_, options) => {
    await assert.rejects(
      open("s3://bucket/a.ffr", options()),
      (error: Error & { code?: string }) =>
        error.code === "access-denied" &&
        /HTTP 403 SignatureDoesNotMatch/.test(error.message) &&
        !error.message.includes("not-the-secret"),
    );
    await assert.rejects(
      open("s3://bucket/a.ffr", options({ anonymous: true })),
      { code: "access-denied", message: /HTTP 403 AccessDenied/ },
    );
  });
});

Deno.test("public buckets need no keys", async () => {
  await withBucket({ "a.ffr": container }, {}, async (server, options) => {
    server.keys = undefined;
    using found = await open(
      "s3://bucket/a.ffr",
      options({ anonymous: true, requesterPays: true }),
    );
    assert.equal(found.info.files, 2);
    assert.equal(server.headers.authorization, undefined);
    assert.equal(server.headers["x-amz-request-payer"], "requester");
  });
});
