/** Nodes behind one nginx, configured as in "Containers on servers": the origin sends each byte once. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { open } from "../../../mod.ts";
import type { MountPlace } from "../../cli/mount/mount_place.ts";
import { assertFailed, recordfs, run } from "../../cli/run_cli.ts";
import { documentBlocks } from "../../documents/blocks.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import {
  type BucketKeys,
  BucketServer,
} from "../../support/remote/bucket_server.ts";
import { FileServer } from "../../support/remote/file_server.ts";
import { startNginx } from "../../support/remote/nginx.ts";
import type { WebProgram } from "../../support/remote/web_program.ts";
import { test } from "../shown.ts";

const KEYS: BucketKeys = { accessKeyId: "AKID", secretAccessKey: "hidden" };
const SIGNED = {
  AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
};
const NODES = 4;
const SAMPLES = Array.from({ length: 320 }, () => randomBytes(100_000));
const CONTAINER = ffrBytes(SAMPLES);

/** The document's configuration, and its addition for a store over HTTPS. */
const [CONFIGURATION, OVER_HTTPS] = documentBlocks()
  .filter(({ document, info }) =>
    document === "docs/remote.md" && info === "nginx"
  ).map(({ text }) => text);

/** Replaces all occurrences of a text, whose number must be as given. */
function replace(text: string, from: string, to: string, times = 1): string {
  assert.equal(text.split(from).length, times + 1, from);
  return text.replaceAll(from, () => to);
}

/** Starts an nginx with the document's configuration in front of an origin. */
async function sharedCache(
  origin: string,
  change = (text: string) => text,
): Promise<WebProgram> {
  return await startNginx((port, dir) => {
    let text = change(CONFIGURATION!);
    text = replace(text, "/var/cache/nginx-recordfs", `${dir}/cache`);
    text = replace(text, "listen 8080", `listen 127.0.0.1:${port}`);
    return replace(text, "store.example:7480", new URL(origin).host);
  });
}

/**
 * Mounts a container on several nodes, and reads and compares all samples on all nodes at once, in different orders.
 */
async function readOnNodes(
  { dir, env }: MountPlace,
  location: string,
  ...args: string[]
): Promise<void> {
  const nodes = Array.from({ length: NODES }, (_, i) => `${dir}/node-${i}`);
  const call = async (...args: string[]) => {
    const { stderr, code } = await recordfs(args, { env });
    assert.deepEqual([stderr, code], ["", 0]);
  };
  try {
    await Promise.all(nodes.map((node) => {
      fs.mkdirSync(node);
      const cache = ["--cache-dir", `${node}.cache`];
      return call("mount", location, node, ...cache, ...args);
    }));
    await Promise.all(nodes.map(async (node, i) => {
      for (let k = 0; k < SAMPLES.length; k++) {
        const sample = (k + i * SAMPLES.length / NODES) % SAMPLES.length;
        const name = String(sample).padStart(6, "0");
        const read = await fs.promises.readFile(`${node}/${name}`);
        assert.ok(read.equals(SAMPLES[sample]!), `${node}: ${sample}`);
      }
    }));
  } finally {
    for (const node of nodes) await recordfs(["unmount", node], { env });
  }
}

test(
  "four mounts of a web server's container through one nginx fetch its bytes from the origin once",
  async (place) => {
    const root = `${place.dir}/root`;
    fs.mkdirSync(`${root}/a b`, { recursive: true });
    fs.writeFileSync(`${root}/a b/x+y%.ffr`, CONTAINER);
    await using origin = await FileServer.start(root);
    await using cache = await sharedCache(origin.url);
    await readOnNodes(place, `${cache.url}/a%20b/x+y%25.ffr`);
    assert.ok(origin.sent < 1.1 * CONTAINER.length, `${origin.sent}`);
    assert.equal(cache.errors(), "");
  },
  "nginx",
);

test(
  "four mounts of an object with signed requests through one nginx do the same",
  async (place) => {
    await using origin = await BucketServer.start({
      "a b/x+y%.ffr": CONTAINER,
    });
    origin.keys = KEYS;
    await using cache = await sharedCache(origin.url);
    const env = { ...place.env, ...SIGNED };
    await readOnNodes(
      { ...place, env },
      "s3://bucket/a b/x+y%.ffr",
      ...["--endpoint", cache.url],
    );
    assert.ok(origin.sent < 1.1 * CONTAINER.length, `${origin.sent}`);
    assert.equal(cache.errors(), "");

    // A client whom the origin refuses cannot open the cached object.
    const wrong = { ...env, AWS_SECRET_ACCESS_KEY: "wrong" };
    const args = ["s3://bucket/a b/x+y%.ffr", "--endpoint", cache.url];
    const refused = await recordfs(["info", ...args, "--no-cache"], {
      env: wrong,
    });
    assertFailed(refused, 1, /access denied \(HTTP 403 SignatureDoesNotMatch/);
  },
  "nginx",
);

test(
  "a store that requires its own name is reached through the same nginx as a proxy",
  async (place) => {
    await using origin = await BucketServer.start({ "x.ffr": CONTAINER });
    origin.keys = KEYS;
    await using cache = await sharedCache(origin.url);
    const env = {
      ...{ ...place.env, ...SIGNED },
      ...{ HTTP_PROXY: cache.url, NO_PROXY: "" },
    };
    const asked: number[] = [];
    for (const node of ["a", "b"]) {
      const args = [
        ...["cat", "s3://bucket/x.ffr", "000100"],
        ...["--endpoint", "http://s3.eu-north-1.amazonaws.com"],
        ...["--cache-dir", `${place.dir}/${node}`],
      ];
      const { bytes, stderr, code } = await recordfs(args, { env });
      assert.deepEqual([stderr, code], ["", 0]);
      assert.ok(SAMPLES[100]!.equals(bytes));
      assert.equal(origin.headers.host, "s3.eu-north-1.amazonaws.com");
      asked.push(origin.asked.length);
    }
    // The second node sends one request to open the object, and finds its bytes in the cache.
    assert.equal(asked[1]! - asked[0]!, 1);
  },
  "nginx",
);

test(
  "behind the cache, too, a replaced object is a named error, and can be opened again",
  async ({ dir }) => {
    fs.mkdirSync(`${dir}/root`);
    fs.writeFileSync(`${dir}/root/x.ffr`, CONTAINER);
    await using origin = await FileServer.start(`${dir}/root`);
    await using cache = await sharedCache(origin.url);
    const remote = { cache: false } as const;
    const others = SAMPLES.toReversed();
    {
      using old = await open(`${cache.url}/x.ffr`, { remote });
      assert.ok(SAMPLES[50]!.equals(await old.read("000050")));
      fs.writeFileSync(`${dir}/root/x.ffr`, ffrBytes(others));
      await assert.rejects(old.read("000250"), { code: "changed" });
    }
    using anew = await open(`${cache.url}/x.ffr`, { remote });
    assert.ok(others[50]!.equals(await anew.read("000050")));
    assert.ok(others[250]!.equals(await anew.read("000250")));
  },
  "nginx",
);

test(
  "a store over HTTPS with a name is shared, and must prove its identity",
  async ({ dir }) => {
    fs.mkdirSync(`${dir}/root`);
    fs.writeFileSync(`${dir}/root/x.ffr`, CONTAINER);
    const [key, certificate] = [`${dir}/key`, `${dir}/certificate`];
    const { code, stderr } = await run([
      ...["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes"],
      ...["-subj", "/CN=store.example", "-days", "2"],
      ...["-addext", "subjectAltName=DNS:store.example"],
      ...["-keyout", key, "-out", certificate],
    ]);
    assert.equal(code, 0, stderr);
    await using origin = await startNginx((port) => `
    ssl_certificate ${certificate}; ssl_certificate_key ${key};
    server { listen 127.0.0.1:${port} ssl default_server; return 421; }
    server { listen 127.0.0.1:${port} ssl; server_name store.example; root ${dir}/root; }`);
    const overHttps = (authorities: string) => (text: string) => {
      const more = replace(
        OVER_HTTPS!,
        "/etc/ssl/certs/ca-certificates.crt",
        authorities,
      );
      const named = replace(text, "Host $http_host", "Host store.example", 2);
      const safe = replace(named, "http://origin", "https://origin", 2);
      return replace(safe, "listen 8080;", `listen 8080;\n${more}`);
    };
    await using cache = await sharedCache(origin.url, overHttps(certificate));
    const remote = { cache: false, timeout: 1 } as const;
    using found = await open(`${cache.url}/x.ffr`, { remote });
    assert.ok(SAMPLES[100]!.equals(await found.read("000100")));

    const nobody = overHttps("/etc/ssl/certs/ca-certificates.crt");
    await using strict = await sharedCache(origin.url, nobody);
    await assert.rejects(open(`${strict.url}/x.ffr`, { remote }), {
      message: /HTTP 502/,
    });
  },
  "nginx",
  "openssl",
);
