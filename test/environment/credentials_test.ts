/** Sources of access keys for buckets. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import type http from "node:http";
import { open } from "../../mod.ts";
import { ffrBytes } from "../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../support/paths.ts";
import { LocalServer } from "../support/remote/local_server.ts";
import { KEYS, SIGNED, withBucket } from "../support/remote/with_bucket.ts";

const container = ffrBytes([Uint8Array.of(1, 2, 3), new Uint8Array(200_000)]);

Deno.test("the region that the server names is used, and the profile's keys", async () => {
  await withTempDir(async (dir) => {
    fs.writeFileSync(
      `${dir}/credentials`,
      "[mine]\naws_access_key_id = AKID\naws_secret_access_key = hidden\n" +
        "aws_session_token = first\n",
    );
    const variables = {
      AWS_SHARED_CREDENTIALS_FILE: `${dir}/credentials`,
      AWS_CONFIG_FILE: `${dir}/none`,
    };
    await withBucket(
      { "a.ffr": container },
      variables,
      async (server, options) => {
        server.region = "eu-south-7";
        server.keys = { ...KEYS, sessionToken: "first" };
        using found = await open(
          "s3://bucket/a.ffr",
          options({ profile: "mine" }),
        );
        assert.equal((await found.read("000000")).length, 3);
      },
    );
  });
});

Deno.test("expired keys are looked up again", async () => {
  await withTempDir(async (dir) => {
    // Prints new keys each time, as AWS' tools take them from `credential_process`.
    const script = `${dir}/keys.sh`;
    fs.writeFileSync(
      script,
      `#!/bin/sh\necho x >> ${dir}/calls\nn=$(wc -l < ${dir}/calls)\n` +
        `echo '{"Version":1,"AccessKeyId":"AKID","SecretAccessKey":"hidden","SessionToken":"'$n'"}'\n`,
      { mode: 0o755 },
    );
    fs.writeFileSync(
      `${dir}/config`,
      `[profile mine]\ncredential_process = ${script}\n`,
    );
    const variables = {
      AWS_SHARED_CREDENTIALS_FILE: `${dir}/none`,
      AWS_CONFIG_FILE: `${dir}/config`,
    };
    const samples = Array.from({ length: 40 }, () => new Uint8Array(99_999));
    const objects = { "a.ffr": ffrBytes(samples) };
    await withBucket(objects, variables, async (server, options) => {
      server.keys = { ...KEYS, sessionToken: "1" };
      using found = await open(
        "s3://bucket/a.ffr",
        options({ profile: "mine" }),
      );
      // Services reject expired keys with different status codes.
      for (const [i, status] of [403, 401, 400].entries()) {
        server.refusedStatus = status;
        server.keys = { ...KEYS, sessionToken: String(i + 2) };
        const name = String(39 - 12 * i).padStart(6, "0");
        const before = server.asked.length;
        assert.deepEqual(await found.read(name), samples[0]);
        assert.equal(server.asked.length, before + 2, String(status));
      }
      server.keys = { ...KEYS, secretAccessKey: "another" };
      await assert.rejects(found.read("000008"), {
        code: "access-denied",
        message:
          /^Cannot read s3:\/\/bucket\/a\.ffr: access denied \(HTTP 400 ExpiredToken\)/,
      });
    });
  });
});

/** The metadata service that provides keys of a machine in AWS' cloud (IMDSv2). */
class MetadataServer extends LocalServer {
  readonly asked: string[] = [];

  static async start(): Promise<MetadataServer> {
    return await new MetadataServer().listen();
  }

  protected answer(
    { method, url }: http.IncomingMessage,
    response: http.ServerResponse,
  ): void {
    this.asked.push(`${method} ${url}`);
    const role = "/latest/meta-data/iam/security-credentials/";
    const answers: Record<string, string> = {
      "/latest/api/token": "a-token",
      [role]: "reader",
      [`${role}reader`]: JSON.stringify({
        Code: "Success",
        AccessKeyId: KEYS.accessKeyId,
        SecretAccessKey: KEYS.secretAccessKey,
        Token: "from-the-machine",
        Expiration: new Date(Date.now() + 3_600_000).toISOString(),
      }),
    };
    const answer = answers[url!];
    response.writeHead(answer === undefined ? 404 : 200).end(answer);
  }
}

Deno.test("the machine's metadata is asked for keys only if there are no others", async () => {
  await using machine = await MetadataServer.start();
  const nowhere = {
    AWS_EC2_METADATA_SERVICE_ENDPOINT: machine.url,
    AWS_SHARED_CREDENTIALS_FILE: "/nonexistent/credentials",
    AWS_CONFIG_FILE: "/nonexistent/config",
  };
  for (const isThere of [true, false]) {
    const variables = { ...nowhere, ...isThere ? SIGNED : {} };
    await withBucket(
      { "a.ffr": container },
      variables,
      async (server, options) => {
        if (!isThere) {
          server.keys = { ...KEYS, sessionToken: "from-the-machine" };
        }
        using found = await open("s3://bucket/a.ffr", options());
        assert.equal((await found.read("000000")).length, 3);
      },
    );
    assert.equal(machine.asked.length > 0, !isThere, machine.asked.join());
  }
});

Deno.test("with keys of the environment, only the network of the endpoint must be allowed", async () => {
  await withBucket({ "a.ffr": container }, SIGNED, async ({ url }) => {
    const mod = new URL("../../mod.ts", import.meta.url).href;
    const s3 = { endpoint: url };
    const script = `import { open } from ${JSON.stringify(mod)};
      const remote = { s3: ${JSON.stringify(s3)}, cache: false };
      using container = await open("s3://bucket/a.ffr", { remote });
      console.log((await container.read("000001")).length);`;
    const deno = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--no-prompt", `--allow-net=${new URL(url).host}`],
        ...["--allow-env=AWS_ACCESS_KEY_ID,AWS_SECRET_ACCESS_KEY", "-"],
      ],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    await new Blob([script]).stream().pipeTo(deno.stdin);
    const { stdout, stderr } = await deno.output();
    const said = new TextDecoder();
    assert.equal(said.decode(stdout), "200000\n", said.decode(stderr));
  });
});
