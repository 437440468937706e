/** Temporary keys of credential services. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { setTimeout } from "node:timers/promises";
import { open } from "../../mod.ts";
import { Credentials } from "../../src/io/remote/s3/credentials.ts";
import { type Variables, withAwsEnvironment } from "../support/environment.ts";
import { ffrBytes } from "../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../support/paths.ts";
import { BucketServer } from "../support/remote/bucket_server.ts";
import { CredentialServer } from "../support/remote/credential_server.ts";

const samples = Array.from(
  { length: 20 },
  (_, i) => new Uint8Array(99_999).fill(i),
);

/** Environment that points programs to each service. */
const SERVICES: Record<
  string,
  (server: CredentialServer, dir: string) => Variables
> = {
  "web identity": (server, dir) => {
    server.identity = "token-1";
    fs.writeFileSync(`${dir}/identity`, server.identity);
    return {
      AWS_WEB_IDENTITY_TOKEN_FILE: `${dir}/identity`,
      AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/reader",
      AWS_ENDPOINT_URL_STS: server.url,
    };
  },
  "the machine's metadata": ({ url }) => ({
    AWS_EC2_METADATA_SERVICE_ENDPOINT: url,
  }),
  "a container's metadata": ({ url }) => ({
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/container`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: "let me in",
  }),
  "a profile with a role": (server, dir) => {
    server.identity = "token-1";
    fs.writeFileSync(`${dir}/identity`, server.identity);
    fs.writeFileSync(
      `${dir}/config`,
      "[profile training]\nrole_arn = arn:aws:iam::123456789012:role/reader\n" +
        `web_identity_token_file = ${dir}/identity\n`,
    );
    return {
      AWS_CONFIG_FILE: `${dir}/config`,
      AWS_PROFILE: "training",
      AWS_ENDPOINT_URL_STS: server.url,
    };
  },
};

/** Runs with a service, and a bucket that accepts only its current keys. */
async function withService(
  variables: (server: CredentialServer, dir: string) => Variables,
  use: (service: CredentialServer, bucket: BucketServer) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    await using service = await CredentialServer.start();
    await using bucket = await BucketServer.start({
      "a.ffr": ffrBytes(samples),
    });
    bucket.keys = service.keys;
    const none = { AWS_REGION: "us-east-1", HOME: dir };
    await withAwsEnvironment(
      { ...none, ...variables(service, dir) },
      () => use(service, bucket),
    );
  });
}

for (const [what, variables] of Object.entries(SERVICES)) {
  Deno.test(`keys of ${what} are used, and renewed when they expire`, async () => {
    await withService(variables, async (service, bucket) => {
      const s3 = { endpoint: bucket.url };
      const remote = { s3, cache: false as const };
      using container = await open("s3://bucket/a.ffr", { remote });
      assert.deepEqual(await container.read("000005"), samples[5]);
      assert.equal(service.given, 1); // one set of keys for all requests
      // The bucket rejects them before they expire.
      service.renew();
      bucket.keys = service.keys;
      const reads = [8, 11, 14].map((i) =>
        container.read(String(i).padStart(6, "0"))
      );
      assert.deepEqual(
        await Promise.all(reads),
        [samples[8], samples[11], samples[14]],
      );
      assert.equal(service.given, 2);
    });
  });
}

Deno.test("keys are renewed minutes before they expire, once for all requests, and kept while no others are available", async () => {
  const { "the machine's metadata": variables } = SERVICES;
  await withService(variables!, async (service) => {
    const { now } = Date;
    let passed = 0;
    Date.now = () => now.call(Date) + passed;
    try {
      const credentials = new Credentials({});
      const tokens = async () => {
        const all = await Promise.all(
          Array.from({ length: 5 }, () => credentials.keys("it")),
        );
        return new Set(all.map((keys) => keys!.sessionToken));
      };
      assert.deepEqual(await tokens(), new Set(["session1"]));
      service.renew();
      passed = 50 * 60_000;
      assert.deepEqual(await tokens(), new Set(["session1"]));
      assert.equal(service.given, 1);
      passed = 56 * 60_000;
      assert.deepEqual(await tokens(), new Set(["session2"]));
      assert.equal(service.given, 2);
      // These expire in the 116th minute.
      service.isAway = true;
      passed = 112 * 60_000;
      assert.deepEqual(await tokens(), new Set(["session2"]));
      const { length } = service.asked;
      assert.deepEqual(await tokens(), new Set(["session2"]));
      assert.equal(service.asked.length, length); // no retry for a while
      passed = 118 * 60_000;
      await assert.rejects(credentials.keys("it"), { // then retried
        message: "the keys have expired, and no newer ones were found",
      });
      service.isAway = false;
      service.renew();
      assert.deepEqual(await tokens(), new Set(["session3"]));
    } finally {
      Date.now = now;
    }
  });
});

Deno.test("a service that repeats keys shortly before they expire is not asked for each request", async () => {
  const { "a container's metadata": variables } = SERVICES;
  await withService(variables!, async (service) => {
    service.lifetime = 60_000;
    const credentials = new Credentials({});
    for (let i = 0; i < 5; i++) {
      assert.equal((await credentials.keys("it"))!.sessionToken, "session1");
    }
    assert.equal(service.given, 1);
  });
});

Deno.test("while a key service is unavailable, readers wait for it", async () => {
  const { "the machine's metadata": variables } = SERVICES;
  await withService(variables!, async (service, bucket) => {
    const s3 = { endpoint: bucket.url };
    const remote = { s3, cache: false as const };
    using container = await open("s3://bucket/a.ffr", { remote });
    service.renew();
    bucket.keys = service.keys;
    service.isAway = true;
    const { length } = service.asked;
    const reading = container.read("000011");
    while (service.asked.length === length) await setTimeout(5);
    service.isAway = false;
    assert.deepEqual(await reading, samples[11]);
  });
});

Deno.test("new keys that another program writes to the profile's file are used", async () => {
  await withTempDir(async (dir) => {
    await using bucket = await BucketServer.start({
      "a.ffr": ffrBytes(samples),
    });
    const file = `${dir}/credentials`;
    const put = (token: string) => {
      const keys = { accessKeyId: "AKID", secretAccessKey: "hidden" };
      bucket.keys = { ...keys, sessionToken: token };
      fs.writeFileSync(
        file,
        "[mine]\naws_access_key_id = AKID\naws_secret_access_key = hidden\n" +
          `aws_session_token = ${token}\n`,
      );
    };
    put("first");
    await withAwsEnvironment(
      { AWS_SHARED_CREDENTIALS_FILE: file },
      async () => {
        const s3 = { endpoint: bucket.url, profile: "mine" };
        const remote = { s3, cache: false as const };
        using container = await open("s3://bucket/a.ffr", { remote });
        assert.deepEqual(await container.read("000005"), samples[5]);
        put("second");
        assert.deepEqual(await container.read("000014"), samples[14]);
      },
    );
  });
});
