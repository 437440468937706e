/** Position of buckets and keys in request URLs. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../mod.ts";
import type { S3Options } from "../../src/io/remote/remote_options.ts";
import { Bucket } from "../../src/io/remote/s3/bucket.ts";
import { assertFailed, recordfs, recordfsProcess } from "../cli/run_cli.ts";
import { withAwsEnvironment } from "../support/environment.ts";
import { ffrBytes } from "../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../support/paths.ts";
import {
  type BucketKeys,
  BucketServer,
} from "../support/remote/bucket_server.ts";
import { FileServer } from "../support/remote/file_server.ts";
import { ProxyServer } from "../support/remote/proxy_server.ts";

const KEYS: BucketKeys = { accessKeyId: "AKID", secretAccessKey: "hidden" };

const SIGNED = {
  AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
};

const container = ffrBytes([Uint8Array.of(1, 2, 3)]);

// From AWS's documentation: "Virtual hosting of buckets", "Path-style requests".
const URLS: [bucket: string, options: S3Options, url: string][] = [
  ["data", {}, "https://data.s3.us-east-1.amazonaws.com/a/b%2Bc"],
  [
    "data",
    { region: "eu-west-3" },
    "https://data.s3.eu-west-3.amazonaws.com/a/b%2Bc",
  ],
  // The wildcard certificate covers only one label before the service's name.
  ["my.data", {}, "https://s3.us-east-1.amazonaws.com/my.data/a/b%2Bc"],
  [
    "data",
    { addressing: "path" },
    "https://s3.us-east-1.amazonaws.com/data/a/b%2Bc",
  ],
  ["data", { endpoint: "http://h:7480" }, "http://h:7480/data/a/b%2Bc"],
  ["my.data", { endpoint: "https://h/" }, "https://h/my.data/a/b%2Bc"],
  ["data", { endpoint: "https://h/s3//" }, "https://h/s3/data/a/b%2Bc"],
  [
    "data",
    { endpoint: "https://h:1/s3/", addressing: "virtual" },
    "https://data.h:1/s3/a/b%2Bc",
  ],
];

Deno.test("buckets are in the host or the path of URLs, as their server requires", async () => {
  await withAwsEnvironment({}, async () => {
    for (const [name, options, url] of URLS) {
      const bucket = new Bucket(name, { ...options, anonymous: true });
      assert.equal(bucket.url("a/b+c").href, url);
      assert.ok(!(await bucket.sign(bucket.url(""), new Headers(), "")).keys);
    }
  });
});

Deno.test("after a redirect of Amazon, buckets keep their position", async () => {
  await withAwsEnvironment({}, async () => {
    const cases = [
      ["data", "https://data.s3-eu-west-3.amazonaws.com"],
      ["my.data", "https://s3-eu-west-3.amazonaws.com/my.data"],
    ] as const;
    for (const [name, place] of cases) {
      const bucket = new Bucket(name, { anonymous: true });
      const headers = { location: `${place}/key` };
      const response = new Response(null, { status: 307, headers });
      const asked = bucket.url("key");
      assert.ok(await bucket.react(response, asked, undefined, "it"));
      assert.equal(bucket.url("key").href, `${place}/key`);
      const other = { location: "https://elsewhere.example/key" };
      const away = new Response(null, { status: 307, headers: other });
      assert.ok(!await bucket.react(away, asked, undefined, "it"));
    }
  });
});

Deno.test("an endpoint may have a path, and a trailing slash", async () => {
  await using server = await BucketServer.start({ "a/b.ffr": container });
  server.keys = KEYS;
  await withAwsEnvironment(SIGNED, async () => {
    for (const [base, end] of [["", "/"], ["/s3", ""], ["/s3/v1", "/"]]) {
      server.base = base!;
      const s3 = { endpoint: `${server.url}${base}${end}` };
      const remote = { s3, cache: false as const };
      using found = await open("s3://bucket/a", { remote });
      assert.equal(found.info.files, 1);
    }
  });
});

Deno.test("an invalid endpoint is reported, without its secrets", async () => {
  for (
    const endpoint of ["h:7480", "https://me:s3cr3t@h", "https://h?key=s3cr3t"]
  ) {
    const line = ["ls", "s3://bucket/a", "--no-cache", "--endpoint", endpoint];
    const ran = await recordfs(line);
    assertFailed(ran, 1, /: it is not a URL such as https:\/\/HOST/);
    assert.ok(!ran.stderr.includes("s3cr3t"), ran.stderr);
  }
});

Deno.test("with --addressing virtual, the bucket is in the host of signed requests", async () => {
  await using server = await BucketServer.start({ "a b+c.ffr": container });
  await using proxy = await ProxyServer.start(); // resolves such hosts
  server.keys = KEYS;
  proxy.servers.set("bucket.s3.test:7480", server.url);
  const line = ["ls", "s3://bucket/a b+c.ffr", "--no-cache"];
  const endpoint = ["--endpoint", "http://s3.test:7480"];
  await withAwsEnvironment(SIGNED, async () => {
    const env = { HTTP_PROXY: proxy.url };
    const virtual = ["--addressing", "virtual"];
    const ran = await recordfsProcess([...line, ...endpoint, ...virtual], {
      env,
    });
    assert.deepEqual([ran.stdout, ran.stderr, ran.code], ["000000\n", "", 0]);
    const host = "http://bucket.s3.test:7480/a%20b%2Bc.ffr";
    assert.ok(proxy.asked.includes(`GET ${host}`));
  });
  const wrong = await recordfs([...line, ...endpoint, "--addressing", "host"]);
  assertFailed(wrong, 2, /Allowed choices are path, virtual/);
});

/** Names that users may choose. */
const NAMES = [
  "a b",
  "a+b",
  "a%20b",
  "100%",
  "a&b=c;d,e",
  "#?!'()*~",
  "ä ü 日本 😀",
  '"<>\\^`{|}',
  "[x]@:$",
];

Deno.test("any key is found, directly and in a listing", async () => {
  const objects = Object.fromEntries([
    ...NAMES.flatMap((name) => [
      [`${name}.ffr`, container],
      [`in ${name}/${name}.ffr`, container],
    ]),
    ["/first.ffr", container],
    ["a//b.ffr", container],
    ["a///", container],
  ]);
  await using server = await BucketServer.start(objects);
  server.keys = KEYS;
  await withAwsEnvironment(SIGNED, async () => {
    const s3 = { endpoint: server.url };
    const remote = { s3, cache: false as const };
    for (const key of Object.keys(objects)) {
      if (key.endsWith("/")) continue; // represents a directory
      using found = await open(`s3://bucket/${key}`, { remote });
      assert.deepEqual(await found.read("000000"), Uint8Array.of(1, 2, 3), key);
    }
    for (const name of NAMES) {
      using found = await open(`s3://bucket/in ${name}`, { remote });
      assert.equal(found.info.files, 1, name);
      assert.ok(found.info.parts[0]!.path.endsWith(`/${name}.ffr`), name);
    }
    for (const key of ["../b.ffr", "a/./b.ffr", "a/.."]) {
      await assert.rejects(open(`s3://bucket/${key}`, { remote }), {
        code: "bad-location",
        message: /a URL cannot have \. or \.\. as a name/,
      });
    }
  });
});

Deno.test("any file name of a web server is found, directly and in a directory", async () => {
  await withTempDir(async (dir) => {
    for (const name of NAMES) {
      fs.mkdirSync(`${dir}/in ${name}`);
      fs.writeFileSync(`${dir}/in ${name}/${name}.ffr`, container);
    }
    await using server = await FileServer.start(dir);
    const remote = { cache: false as const };
    for (const name of NAMES) {
      const directory = `${server.url}/${encodeURIComponent(`in ${name}`)}`;
      for (
        const url of [
          directory,
          `${directory}/`,
          `${directory}/${encodeURIComponent(name)}.ffr`,
          directory.replace(/\/([^/]*)$/, "//$1"),
        ]
      ) {
        using found = await open(url, { remote });
        assert.deepEqual(await found.read("000000"), Uint8Array.of(1, 2, 3));
      }
    }
    // As users type them.
    using typed = await open(`${server.url}/in ä ü 日本 😀/`, { remote });
    assert.equal(typed.info.files, 1);
    using plus = await open(`${server.url}/in a+b/a+b.ffr`, { remote });
    assert.equal(plus.info.files, 1);
  });
});
