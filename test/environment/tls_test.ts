/** Servers with certificates of a private authority. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../mod.ts";
import type { RemoteOptions } from "../../src/io/remote/remote_options.ts";
import { assertFailed, recordfs, succeed } from "../cli/run_cli.ts";
import { withEnvironment } from "../support/environment.ts";
import { ffrBytes } from "../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../support/paths.ts";
import { needs } from "../support/programs/programs.ts";
import { Authority } from "../support/remote/authority.ts";
import { FileServer } from "../support/remote/file_server.ts";

/** Serves a file over TLS, without authorities from the environment. */
async function withServer(
  use: (
    server: FileServer,
    url: string,
    authority: Authority,
    dir: string,
  ) => Promise<void>,
  name?: string,
): Promise<void> {
  await withTempDir(async (dir) => {
    const authority = new Authority(`${dir}/authority`);
    fs.mkdirSync(`${dir}/www`);
    fs.writeFileSync(`${dir}/www/a.ffr`, ffrBytes([Uint8Array.of(7)]));
    const tls = authority.certify(name);
    await using server = await FileServer.start(`${dir}/www`, tls);
    await withEnvironment(
      { AWS_CA_BUNDLE: undefined },
      () => use(server, `${server.url}/a.ffr`, authority, dir),
    );
  });
}

async function read(url: string, options: RemoteOptions): Promise<void> {
  const remote = { cache: false as const, ...options };
  using container = await open(url, { remote });
  assert.deepEqual(await container.read("000000"), Uint8Array.of(7));
}

Deno.test({
  name: "an authority is read from the option, --cacert, or AWS_CA_BUNDLE",
  ...needs("openssl"),
  async fn() {
    await withServer(async (server, url, { path }, dir) => {
      await read(url, { caCert: path });
      await withEnvironment(
        { AWS_CA_BUNDLE: path },
        () => read(url, {}),
      );
      // One authority of several, as in system bundles.
      const other = fs.readFileSync(new Authority(`${dir}/other`).path);
      const bundle = Buffer.concat([
        Buffer.from("# other\n"),
        other,
        Buffer.from("# ours\n"),
        fs.readFileSync(path),
      ]);
      fs.writeFileSync(`${dir}/bundle.pem`, bundle);
      await read(url, { caCert: `${dir}/bundle.pem` });
      const line = ["cat", url, "000000", "--no-cache", "--cacert", path];
      assert.deepEqual((await succeed(line)).bytes, Uint8Array.of(7));
      assert.ok(server.asked.length >= 4);
    });
  },
});

Deno.test({
  name:
    "without the authority, the certificate is reported as untrusted at once",
  ...needs("openssl"),
  async fn() {
    await withServer(async (server, url, _, dir) => {
      const line = ["info", `${url}?signature=s3cr3t`, "--no-cache"];
      const ran = await recordfs(line);
      assertFailed(
        ran,
        1,
        /a\.ffr: the certificate of its server is not trusted \(UnknownIssuer\)\. .* with --cacert$/m,
      );
      assert.ok(!ran.stderr.includes("s3cr3t"));
      const { path } = new Authority(`${dir}/other`);
      // Not retried, although the timeout is long.
      const error = { code: "untrusted", attempts: 1, message: /caCert/ };
      await assert.rejects(read(url, {}), error);
      await assert.rejects(read(url, { caCert: path }), error);
      assert.equal(server.asked.length, 0);
    });
  },
});

Deno.test({
  name: "a request over TLS is never repeated without TLS",
  ...needs("openssl"),
  async fn() {
    await withServer(async (server, url, { path }, dir) => {
      await using plain = await FileServer.start(`${dir}/www`);
      server.fault = (asked, response) => {
        const location = `${plain.url}${asked.path}?signature=s3cr3t`;
        response.writeHead(302, { location }).end();
        return true;
      };
      await assert.rejects(read(url, { caCert: path }), {
        code: "redirect-loop",
        message: /redirects in a circle, or to a URL that is not allowed/,
      });
      assert.equal(plain.asked.length, 0);
    });
  },
});

Deno.test({
  name: "a trusted authority does not excuse a certificate for another name",
  ...needs("openssl"),
  async fn() {
    await withServer(async (server, url, { path }) => {
      await assert.rejects(read(url, { caCert: path }), {
        code: "untrusted",
        message:
          /is not trusted \(.*elsewhere\.example.*\)\. Check the server's name/,
      });
      assert.equal(server.asked.length, 0);
    }, "DNS:elsewhere.example");
  },
});

Deno.test("a missing or invalid file of certificates is reported with the option or variable that names it", async () => {
  await withTempDir(async (dir) => {
    const url = "https://127.0.0.1:1/a.ffr";
    const none = `${dir}/none.pem`;
    const empty = `${dir}/empty.pem`;
    fs.writeFileSync(empty, "not a certificate\n");
    const cases = [
      [none, "there is no such file or directory"],
      [empty, "it has no certificate in PEM"],
    ] as const;
    for (const [path, words] of cases) {
      await assert.rejects(read(url, { caCert: path }), {
        code: "bad-certificates",
        message: new RegExp(
          `Cannot read the certificates of ${path}, given by the option .caCert.: ${words}`,
        ),
      });
      const line = ["cat", url, "000000", "--no-cache", "--cacert", path];
      assertFailed(
        await recordfs(line),
        1,
        new RegExp(`given by --cacert: ${words}`),
      );
    }
  });
});
