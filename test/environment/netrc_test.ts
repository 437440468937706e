/** User names and passwords of servers in the user's `.netrc`. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../mod.ts";
import type { RemoteOptions } from "../../src/io/remote/remote_options.ts";
import { recordfsProcess } from "../cli/run_cli.ts";
import { ffrBytes } from "../support/ffrecord/make_ffr.ts";
import { withEnvironment } from "../support/environment.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";
import { FileServer } from "../support/remote/file_server.ts";

/** Serves a file with that `.netrc` in the home directory, and returns the credentials of a request for it. */
async function asked(
  text: string,
  userinfo = "",
  options: RemoteOptions = {},
): Promise<string | undefined> {
  let sent: string | undefined;
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/www`);
    fs.writeFileSync(`${dir}/www/a.ffr`, ffrBytes([Uint8Array.of(1)]));
    // Readable by other users, which curl accepts silently too.
    fs.writeFileSync(`${dir}/.netrc`, text);
    fs.chmodSync(`${dir}/.netrc`, 0o644);
    await using server = await FileServer.start(`${dir}/www`);
    const url = `${server.url.replace("//", `//${userinfo}`)}/a.ffr`;
    await withEnvironment({ HOME: dir, NETRC: undefined }, async () => {
      const remote = { cache: false as const, ...options };
      using _ = await open(url, { remote });
    });
    sent = server.asked[0]!.headers.authorization;
    assert.ok(server.asked.every((one) => one.headers.authorization === sent));
  });
  return sent?.replace(/^Basic (.*)$/, (_, base64) => atob(base64));
}

// Each with the credentials that curl 7.88 sends (`curl --netrc-optional --netrc-file FILE URL`).
const FILES: Record<string, [text: string, sent: string | undefined]> = {
  "an entry": ["machine 127.0.0.1 login me password secret", "me:secret"],
  "over several lines, among others": [
    "machine other.org\n\tlogin no\n\tpassword no\n\n" +
    "machine 127.0.0.1\r\n  password  secret\r\n  login me\r\n",
    "me:secret",
  ],
  "the first of two": [
    "machine 127.0.0.1 login a password b\nmachine 127.0.0.1 login c password d",
    "a:b",
  ],
  "quotes and escapes": [
    'machine 127.0.0.1 login "my self" password "a\\"b\\\\c d#e\\tf"',
    'my self:a"b\\c d#e\tf',
  ],
  "a comment": [
    "# machine 127.0.0.1 login no password no\n" +
    "machine 127.0.0.1 # ours\nlogin me password a#b",
    "me:a#b",
  ],
  "an account": [
    "machine 127.0.0.1 account mine login me password secret",
    "me:secret",
  ],
  "a macro, whose lines are not entries": [
    "macdef init\npassword no\nmachine 127.0.0.1 login no password no\n\n" +
    "machine 127.0.0.1 login me password secret",
    "me:secret",
  ],
  "the default, of hosts without an entry": [
    "machine other.org login no password no default login anyone password a@b",
    "anyone:a@b",
  ],
  "no entry of the host": ["machine 127.0.0.10 login me password x", undefined],
  "a password without a name, and a name without": [
    "machine other.org login x\nmachine 127.0.0.1 password x",
    ":x",
  ],
  "an invalid file": ['login me password "x\nmachine', undefined],
  "nothing": ["", undefined],
};

for (const [what, [text, sent]] of Object.entries(FILES)) {
  Deno.test(`.netrc: ${what}`, async () => {
    assert.equal(await asked(text), sent);
  });
}

Deno.test("credentials in the URL or a header take precedence over .netrc, which adds the password of a name", async () => {
  const text = "machine 127.0.0.1 login first password no\n" +
    "machine 127.0.0.1 login me password secret";
  assert.equal(await asked(text, "you:word@"), "you:word");
  assert.equal(await asked(text, "me@"), "me:secret");
  assert.equal(await asked(text, "you@"), "you:");
  for (const name of ["Authorization", "authorization"]) {
    const headers = { [name]: "Bearer token" };
    assert.equal(await asked(text, "", { headers }), "Bearer token");
  }
});

Deno.test("$NETRC replaces ~/.netrc; its credentials are not sent to redirected servers", async () => {
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/a.ffr`, ffrBytes([Uint8Array.of(1)]));
    fs.writeFileSync(`${dir}/mine`, "default login me password s3cr3t");
    await using elsewhere = await FileServer.start(dir);
    await using server = await FileServer.start(dir);
    server.fault = ({ path }, response) => {
      response.writeHead(302, { location: `${elsewhere.url}${path}` }).end();
      return true;
    };
    const line = ["info", `${server.url}/a.ffr`, "--no-cache"];
    const env = { HOME: dir, NETRC: `${dir}/mine` };
    const ran = await recordfsProcess(line, { env });
    assert.equal(ran.code, 0, ran.stderr);
    assert.ok(!(ran.stdout + ran.stderr).includes("s3cr3t"));
    const [first] = server.asked;
    assert.equal(first!.headers.authorization, `Basic ${btoa("me:s3cr3t")}`);
    assert.ok(elsewhere.asked.length > 0);
    for (const { headers } of elsewhere.asked) {
      assert.equal(headers.authorization, undefined);
    }
  });
});

Deno.test("an unreadable environment or file is ignored silently", async () => {
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/a.ffr`, ffrBytes([Uint8Array.of(1)]));
    fs.writeFileSync(`${dir}/.netrc`, "default login me password s3cr3t");
    fs.writeFileSync(
      `${dir}/program.ts`,
      `import { open } from ${JSON.stringify(`${REPOSITORY}mod.ts`)};
      using container = await open(Deno.args[0], { remote: { cache: false } });
      console.log(container.info.files);`,
    );
    await using server = await FileServer.start(dir);
    const net = "--allow-net=127.0.0.1";
    for (const flags of [[net], [net, "--allow-env"]]) {
      const { stdout, stderr, code } = await new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "--no-prompt", "--no-check", "--quiet", ...flags],
          ...[`--config=${REPOSITORY}deno.json`, `${dir}/program.ts`],
          `${server.url}/a.ffr`,
        ],
        env: { HOME: dir, AWS_CA_BUNDLE: "" },
      }).output();
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
      assert.deepEqual([text(stdout), text(stderr), code], ["1\n", "", 0]);
    }
    for (const { headers } of server.asked) {
      assert.equal(headers.authorization, undefined);
    }
  });
});
