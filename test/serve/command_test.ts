import assert from "node:assert/strict";
import { CLI, run } from "../cli/run_cli.ts";
import { Authority } from "../support/remote/authority.ts";
import { packed } from "../support/serve/served_folder.ts";
import { needs } from "../support/programs/programs.ts";
import {
  startServing,
  withContainers,
} from "../support/serve/serving_command.ts";

Deno.test("serve ends after three seconds if a client does not read", async () => {
  await withContainers(async (dir) => {
    const content = new Uint8Array(32 << 20);
    await Deno.writeFile(`${dir}/large.ffr`, packed({ "large.bin": content }));
    for (const workers of ["1", "2"]) {
      const server = await startServing([
        ...["serve", "--port", "0", "--no-token", "--workers", workers],
        `${dir}/large.ffr`,
      ]);
      const { port } = new URL(server.url);
      using client = await Deno.connect({ port: Number(port) });
      const request =
        "GET /files/large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n";
      await client.write(new TextEncoder().encode(request));
      await client.read(new Uint8Array(1));
      const { code, stderr } = await server.end("SIGTERM");
      assert.equal(code, 0, stderr);
      assert.doesNotMatch(stderr, /Uncaught/);
    }
  });
});

Deno.test("serve responds until a signal ends it, and logs requests, but no token", async () => {
  await withContainers(async (dir) => {
    const server = await startServing([
      "serve",
      "--port",
      "0",
      `${dir}/a.ffr`,
      `${dir}/b.ffr=below/b`,
    ]);
    const headers = { authorization: `Bearer ${server.token}` };
    const get = async (path: string) =>
      await (await fetch(server.url + path, { headers })).text();
    assert.equal(await get("files/a/a.txt"), "content of a");
    assert.equal(await get("files/below/b/b.txt"), "content of b");
    const login = await fetch(server.link, { redirect: "manual" });
    assert.equal(login.status, 303);
    const { code, stderr } = await server.end("SIGTERM");
    assert.equal(code, 0);
    assert.match(
      stderr,
      /is served at http:\/\/127\.0\.0\.1:\d+\/; Ctrl-C ends it/,
    );
    assert.match(
      stderr,
      /^\S+Z 127\.0\.0\.1 GET \/files\/a\/a\.txt 200 [\d.]+ ms$/m,
    );
    assert.match(stderr, /^\S+Z 127\.0\.0\.1 GET \/s\/\*\/ 303 /m);
    assert.ok(!stderr.includes(server.token));
    assert.ok(!stderr.includes("token="));
    const [, path] = /\/s\/([\w-]{22})\//.exec(server.link)!;
    assert.ok(!stderr.includes(path!));
  });
});

Deno.test("serve --quiet prints its address, and no requests", async () => {
  await withContainers(async (dir) => {
    const server = await startServing([
      ...["serve", "--quiet", "--port", "0", `${dir}/a.ffr`],
    ]);
    const headers = { authorization: `Bearer ${server.token}` };
    const response = await fetch(`${server.url}files/a.txt`, { headers });
    assert.equal(await response.text(), "content of a");
    const { code, stderr } = await server.end("SIGTERM");
    assert.equal(code, 0);
    assert.match(stderr, /^.* is served at http:\S+; Ctrl-C ends it\n$/);
  });
});

Deno.test("serve reads its token from a file, which it creates, and does not print it", async () => {
  await withContainers(async (dir) => {
    const file = `${dir}/token`;
    const args = [
      "serve",
      "--port",
      "0",
      "--token-file",
      file,
      "--base-path",
      "/data",
      `${dir}/a.ffr`,
    ];
    const server = await startServing(args);
    const token = (await Deno.readTextFile(file)).trim();
    assert.equal((await Deno.stat(file)).mode! & 0o777, 0o600);
    assert.ok(token.length >= 43);
    assert.match(server.link, /\/data\/$/);
    const response = await fetch(`${server.url}files/a.txt`, {
      headers: { authorization: `Bearer ${token}` },
    });
    assert.equal(await response.text(), "content of a");
    const { code, stderr } = await server.end("SIGINT");
    assert.equal(code, 0);
    assert.ok(!stderr.includes(token));
  });
});

Deno.test("serve trusts a proxy about HTTPS only with --trust-proxy", async () => {
  await withContainers(async (dir) => {
    const cookieOf = async (...flags: string[]) => {
      const server = await startServing([
        ...["serve", "--port", "0", ...flags, `${dir}/a.ffr`],
      ]);
      const headers = { "x-forwarded-proto": "https" };
      const login = await fetch(server.link, { redirect: "manual", headers });
      assert.equal((await server.end("SIGTERM")).code, 0);
      return login.headers.get("set-cookie")!;
    };
    const [trusted, plain] = await Promise.all([
      cookieOf("--trust-proxy"),
      cookieOf(),
    ]);
    assert.match(trusted, /^__Secure-recordfs=.*; Secure$/);
    assert.match(plain, /^recordfs=.*; SameSite=Strict$/);
  });
});

Deno.test({
  name: "serve speaks HTTPS with a certificate",
  ...needs("openssl"),
  async fn() {
    await withContainers(async (dir) => {
      const authority = new Authority(`${dir}/authority`);
      const { cert, key } = authority.certify();
      await Deno.writeTextFile(`${dir}/cert`, cert);
      await Deno.writeTextFile(`${dir}/key`, key);
      const server = await startServing([
        "serve",
        "--port",
        "0",
        "--tls-cert",
        `${dir}/cert`,
        "--tls-key",
        `${dir}/key`,
        `${dir}/a.ffr`,
      ]);
      const caCerts = [await Deno.readTextFile(authority.path)];
      using client = Deno.createHttpClient({ caCerts });
      const url = new URL("files/a.txt", server.url);
      assert.equal(url.protocol, "https:");
      const headers = { authorization: `Bearer ${server.token}` };
      const response = await fetch(url, { client, headers });
      assert.equal(await response.text(), "content of a");
      const answer = await fetch(server.link, { client, redirect: "manual" });
      assert.match(
        answer.headers.get("set-cookie")!,
        /^__Secure-recordfs=.*; Secure$/,
      );
      await answer.body?.cancel();
      assert.equal((await server.end("SIGTERM")).code, 0);
    });
  },
});

Deno.test("errors of the command line, and unavailable ports, are reported", async () => {
  await withContainers(async (dir) => {
    const source = `${dir}/a.ffr`;
    await Deno.writeTextFile(`${dir}/short`, "short\n");
    using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = taken.addr as Deno.NetAddr;
    const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
      [["serve"], 2, /missing required argument 'source'/],
      [["serve", "--port", "65536", source], 2, /whole number from 0 to 65535/],
      [
        ["serve", "--tls-cert", source, source],
        2,
        /--tls-cert and --tls-key must be given together/,
      ],
      [["serve", "--token-file", `${dir}/short`, source], 2, /has no token/],
      [
        ["serve", "--no-token", "--token-file", `${dir}/x`, source],
        2,
        /exclude each other/,
      ],
      [
        ["serve", "--port", "0", "--base-path", "/a/../b", source],
        2,
        /is not a base path/,
      ],
      [["serve", source, `${dir}/a.ffr`], 2, /Cannot show both/],
      [
        ["serve", "--port", String(port), source],
        1,
        /another program uses that port\. Choose another with --port/,
      ],
      [
        ["serve", "--host", "192.0.2.1", "--port", "0", source],
        1,
        /no such address/,
      ],
      [["serve", `${dir}/none.ffr`], 1, /no such file/],
      [["view", `${dir}/none.ffr`], 1, /no such file/],
    ];
    const ended = await Promise.all(
      cases.map(([args]) =>
        run([Deno.execPath(), "run", "-A", "--no-check", CLI, ...args])
      ),
    );
    for (const [i, [args, code, message]] of cases.entries()) {
      assert.match(ended[i]!.stderr, message, args.join(" "));
      assert.equal(
        ended[i]!.code,
        code,
        `${args.join(" ")}: ${ended[i]!.stderr}`,
      );
      assert.doesNotMatch(ended[i]!.stderr, /\n {4}at /);
    }
  });
});

const NO_SCREEN = { DISPLAY: "", WAYLAND_DISPLAY: "", SSH_CONNECTION: "" };

Deno.test("view prints its link, and over ssh the command that forwards it", async () => {
  await withContainers(async (dir) => {
    const plain = await startServing(["view", `${dir}/a.ffr`], NO_SCREEN);
    assert.match(
      plain.link,
      /^http:\/\/127\.0\.0\.1:\d+\/s\/[\w-]{22}\/\?token=\S+$/,
    );
    const page = await fetch(`${plain.url}files/a.txt`, {
      headers: { authorization: `Bearer ${plain.token}` },
    });
    assert.equal(await page.text(), "content of a");
    const { code, stderr } = await plain.end("SIGINT");
    assert.equal(code, 0);
    assert.ok(!stderr.includes("ssh"));
    const far = await startServing(["view", `${dir}/a.ffr`], {
      ...NO_SCREEN,
      SSH_CONNECTION: "192.0.2.7 51234 198.51.100.3 22",
      USER: "somebody",
      DISPLAY: ":10", // X11 forwarding: a remote browser would be slow
    });
    const { port } = new URL(far.url);
    const ended = await far.end("SIGTERM");
    assert.ok(
      ended.stderr.includes(
        `ssh -N -L ${port}:127.0.0.1:${port} somebody@198.51.100.3`,
      ),
    );
  });
});

Deno.test({
  name:
    "view opens the browser through a file that only its owner can read, and removes it",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await withContainers(async (dir) => {
      await Deno.writeTextFile(
        `${dir}/xdg-open`,
        `#!/bin/sh\nstat -c %a "$1" > ${dir}/mode\ncat "$1" > ${dir}/page.part\necho "$@" > ${dir}/args\nmv ${dir}/page.part ${dir}/page\n`,
        { mode: 0o755 },
      );
      const env = {
        ...NO_SCREEN,
        DISPLAY: ":0",
        PATH: `${dir}:${Deno.env.get("PATH")}`,
      };
      const server = await startServing(["view", `${dir}/a.ffr`], env);
      const end = Date.now() + 30_000;
      let page: string | undefined;
      while (page === undefined) {
        assert.ok(Date.now() < end, "nothing was opened");
        page = await Deno.readTextFile(`${dir}/page`).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      assert.ok(page.includes(`url=${server.link}"`));
      assert.equal((await Deno.readTextFile(`${dir}/mode`)).trim(), "600");
      const opened = (await Deno.readTextFile(`${dir}/args`)).trim();
      assert.ok(!opened.includes(server.token));
      assert.equal((await server.end("SIGINT")).code, 0);
      await assert.rejects(Deno.stat(opened), Deno.errors.NotFound);
    });
  },
});

Deno.test("serve needs few permissions, and names a missing one", () =>
  withContainers(async (dir) => {
    const enough = ["--allow-read", "--allow-net=127.0.0.1"];
    const args = ["serve", "--port", "0", `${dir}/a.ffr`];
    const { url, token, end } = await startServing(args, {}, enough);
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${url}files/a.txt`, { headers });
    assert.equal(await response.text(), "content of a");
    assert.equal((await fetch(`${url}api/info`, { headers })).status, 200);
    await fetch(url, { headers }).then((page) => page.text());
    assert.equal((await end("SIGINT")).code, 0);
    const less = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "--allow-read", "--no-check", CLI, ...args],
      env: { NO_COLOR: "1" },
    });
    const { code, stderr } = await less.output();
    assert.equal(code, 1);
    assert.match(
      new TextDecoder().decode(stderr),
      /lacks a permission .* or at least with --allow-read --allow-net=127\.0\.0\.1\n$/,
    );
  }));
