/** Proxies set by environment variables. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { assertFailed, type Ran, recordfsProcess } from "../cli/run_cli.ts";
import { withEnvironment } from "../support/environment.ts";
import { ffrBytes } from "../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../support/paths.ts";
import { needs } from "../support/programs/programs.ts";
import { Authority } from "../support/remote/authority.ts";
import { FileServer } from "../support/remote/file_server.ts";
import { ProxyServer } from "../support/remote/proxy_server.ts";

/** Credentials in the proxy's URL. */
const WHO = "me:s3cr3t";

/** Unsets the proxy variables of this machine. */
const NONE = Object.fromEntries(
  ["http_proxy", "https_proxy", "all_proxy", "no_proxy", "aws_ca_bundle"]
    .flatMap((name) => [name, name.toUpperCase()])
    .map((name) => [name, undefined]),
);

/** Serves a file with and without TLS, and a proxy. */
async function withProxy(
  use: (
    proxy: ProxyServer,
    /** URLs of the file. */
    urls: { readonly plain: string; readonly tls: string },
    /** Reads the file of a server in a process with that environment. */
    read: (
      url: string,
      env: Record<string, string>,
      more?: readonly string[],
    ) => Promise<Ran>,
  ) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    const authority = new Authority(`${dir}/authority`);
    fs.mkdirSync(`${dir}/www`);
    fs.writeFileSync(`${dir}/www/a.ffr`, ffrBytes([Uint8Array.of(7)]));
    const certificate = authority.certify();
    await using plain = await FileServer.start(`${dir}/www`);
    await using tls = await FileServer.start(`${dir}/www`, certificate);
    await using proxy = await ProxyServer.start();
    proxy.wants = `Basic ${btoa(WHO)}`;
    const run = () =>
      use(proxy, { plain: plain.url, tls: tls.url }, (url, env, more = []) => {
        // A custom authority needs another Deno HTTP client.
        const own = url === tls.url ? ["--cacert", authority.path] : [];
        const line = ["cat", `${url}/a.ffr`, "000000", "--no-cache"];
        return recordfsProcess([...line, ...own, ...more], { env });
      });
    await withEnvironment(NONE, run);
  });
}

function assertRead({ bytes, stderr, code }: Ran): void {
  assert.deepEqual([stderr, code], ["", 0]);
  assert.deepEqual(bytes, Uint8Array.of(7));
}

Deno.test({
  name:
    "requests use the proxy of their scheme, those over TLS through a tunnel",
  ...needs("openssl"),
  async fn() {
    await withProxy(async (proxy, { plain, tls }, read) => {
      const url = proxy.url.replace("//", `//${WHO}@`);
      const asked = {
        [plain]: `GET ${plain}/a.ffr`,
        [tls]: `CONNECT ${new URL(tls).host}`,
      };
      for (const change of ["toUpperCase", "toLowerCase"] as const) {
        for (const [server, scheme] of [[plain, "http"], [tls, "https"]]) {
          proxy.asked.length = 0;
          const name = `${scheme}_proxy`[change]();
          assertRead(await read(server!, { [name]: url }));
          assert.ok(proxy.asked.length > 0, name);
          for (const one of proxy.asked) assert.equal(one, asked[server!]);
        }
      }
    });
  },
});

Deno.test({
  name: "hosts in NO_PROXY are reached without a proxy",
  ...needs("openssl"),
  async fn() {
    await withProxy(async (proxy, { plain, tls }, read) => {
      const { url } = proxy;
      const proxies = { HTTP_PROXY: url, HTTPS_PROXY: url };
      for (const name of ["NO_PROXY", "no_proxy"]) {
        const env = { ...proxies, [name]: "example.org,127.0.0.1" };
        const both = [plain, tls].map((server) => read(server, env));
        (await Promise.all(both)).forEach(assertRead);
      }
      assert.deepEqual(proxy.asked, []);
    });
  },
});

Deno.test({
  name:
    "a proxy that rejects the request is an error without the proxy's password",
  ...needs("openssl"),
  async fn() {
    await withProxy(async (proxy, { plain, tls }, read) => {
      proxy.wants = "something else";
      const url = proxy.url.replace("//", `//${WHO}@`);
      const env = { HTTP_PROXY: url, HTTPS_PROXY: url };
      const words = [
        /answered HTTP 407/,
        /proxy authentication required/,
      ];
      for (const [i, server] of [plain, tls].entries()) {
        const ran = await read(server, env, ["--timeout", "0.5"]);
        assertFailed(ran, 1, words[i]!);
        assert.ok(!/s3cr3t/.test(ran.stderr), ran.stderr);
      }
    });
  },
});
