/** The command lines for stores in docs/remote.md: each sends requests to its own store only. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { recordfs } from "../cli/run_cli.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";

/** The first request of each line, as the proxy sees it. */
const ASKED: Readonly<Record<string, string>> = {
  "AWS": "bucket.s3.eu-central-1.amazonaws.com:443",
  "Ceph": "http://gateway:7480/bucket/x.ffr",
  "MinIO": "http://minio:9000/bucket/x.ffr",
  "Cloudflare R2": "account.r2.cloudflarestorage.com:443",
  "Google Cloud": "storage.googleapis.com:443",
  "Backblaze B2": "s3.us-west-004.backblazeb2.com:443",
  "Hugging Face": "huggingface.co:443",
  "Azure": "account.blob.core.windows.net:443",
};

/** Returns store and arguments of each line, with capitalized placeholders in lower case. */
function storeLines(): [string, string[]][] {
  const text = fs.readFileSync(`${REPOSITORY}docs/remote.md`, "utf8");
  const rows = text.matchAll(
    /^\| (\w[\w ]*\w) +\| `('?(?:s3|https):[^`]+)` +\|$/gm,
  );
  return [...rows].map(([, store, line]) => [
    store!,
    line!.replaceAll("'", "").replace(
      /\b[A-Z]{3,}\b/g,
      (name) => name.toLowerCase(),
    ).split(" "),
  ]);
}

Deno.test("the line of each store sends requests only to that store", async () => {
  const lines = storeLines();
  assert.deepEqual(lines.map(([store]) => store), Object.keys(ASKED));
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/token`, "Authorization: Bearer hf_x\n");
    await Promise.all(lines.map(async ([store, words]) => {
      const asked = new Set<string>();
      // A proxy that refuses everything.
      const proxy = http.createServer(({ url }, response) => {
        asked.add(url!);
        response.writeHead(404).end();
      }).on("connect", ({ url }, socket) => {
        asked.add(url!);
        socket.on("error", () => {}); // the client has disconnected
        socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      });
      await new Promise<void>((resolve) =>
        proxy.listen(0, "127.0.0.1", resolve)
      );
      const { port } = proxy.address() as AddressInfo;
      const url = `http://127.0.0.1:${port}`;
      const { code, stderr } = await recordfs(
        ["info", ...words, "--no-cache", "--timeout", "0.001"],
        {
          cwd: dir,
          env: {
            DENO_NO_UPDATE_CHECK: "1", // the update check would use the proxy as well
            ...{ HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: "" },
            ...{ AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "hidden" },
          },
        },
      );
      assert.equal(code, 1, `${store}: ${stderr}`);
      const [first, ...others] = [...asked].map((url) => url.split("?")[0]!);
      assert.equal(first, ASKED[store], `${store}: ${stderr}`);
      // If an object is missing, its bucket is listed as well.
      const hosts = new Set(others.map((url) => new URL(url).host));
      hosts.delete(new URL(first!.replace(/^(?!http)/, "https://")).host);
      assert.deepEqual([...hosts], [], store);
      await new Promise((resolve) => proxy.close(resolve));
    }));
  });
});
