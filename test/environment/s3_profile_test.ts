/** A bucket's server, set in the configuration files of AWS' own tools. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../mod.ts";
import type { S3Options } from "../../src/io/remote/remote_options.ts";
import { type Variables, withAwsEnvironment } from "../support/environment.ts";
import { ffrBytes } from "../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../support/paths.ts";
import { BucketServer } from "../support/remote/bucket_server.ts";
import { KEYS, SIGNED } from "../support/remote/with_bucket.ts";

/** A port without a listener. */
const ELSEWHERE = "http://127.0.0.1:9";

interface Case {
  /** Returns a configuration with the bucket's server at this URL. */
  readonly config: (url: string) => string;
  readonly s3?: S3Options;
  readonly variables?: (url: string) => Variables;
}

/** Ways to set the server; everything else that names one must be overridden. */
const CASES: Record<string, Case> = {
  "the selected profile": {
    config: (url) =>
      `[default]\nendpoint_url = ${ELSEWHERE}\n` +
      `[profile lab]\nendpoint_url = ${url}\nregion = lab-1\n`,
    s3: { profile: "lab" },
  },
  "the profile of the environment": {
    config: (url) => `[profile lab]\nendpoint_url = ${url}\n`,
    variables: () => ({ AWS_PROFILE: "lab" }),
  },
  "the default profile": {
    config: (url) => `[default]\nendpoint_url = ${url}\n`,
  },
  "the services of a profile, before the profile itself": {
    config: (url) =>
      `[default]\nendpoint_url = ${ELSEWHERE}\nservices = lab\n` +
      `[services lab]\ns3 =\n  endpoint_url = ${url}\n`,
  },
  "the environment, before a profile": {
    config: () => `[default]\nendpoint_url = ${ELSEWHERE}\n`,
    variables: (url) => ({ AWS_ENDPOINT_URL: url }),
  },
};

/** Runs with a configuration, and a bucket. */
async function withConfig(
  { config, variables = () => ({}) }: Case,
  use: (bucket: BucketServer) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    await using bucket = await BucketServer.start({
      "a.ffr": ffrBytes([new Uint8Array(1000).fill(7)]),
    });
    bucket.keys = KEYS;
    const { accessKeyId, secretAccessKey } = KEYS;
    const path = `${dir}/config`;
    fs.writeFileSync(path, config(bucket.url));
    const keys = `aws_access_key_id = ${accessKeyId}\n` +
      `aws_secret_access_key = ${secretAccessKey}\n`;
    const credentials = `${dir}/credentials`;
    fs.writeFileSync(credentials, `[default]\n${keys}[lab]\n${keys}`);
    await withAwsEnvironment({
      AWS_CONFIG_FILE: path,
      AWS_SHARED_CREDENTIALS_FILE: credentials,
      ...variables(bucket.url),
    }, () => use(bucket));
  });
}

for (const [what, one] of Object.entries(CASES)) {
  Deno.test(`a bucket's server is set by ${what}`, () =>
    withConfig(one, async (bucket) => {
      const remote = { ...one.s3 && { s3: one.s3 }, cache: false as const };
      using container = await open("s3://bucket/a.ffr", { remote });
      assert.equal((await container.read("000000"))[0], 7);
      assert.ok(bucket.asked.length > 0);
    }));
}

Deno.test("the option for the endpoint takes precedence over all files", () =>
  withConfig({
    config: () => `[default]\nendpoint_url = ${ELSEWHERE}\n`,
  }, async ({ url }) => {
    const remote = { s3: { endpoint: url }, cache: false as const };
    using container = await open("s3://bucket/a.ffr", { remote });
    assert.equal((await container.read("000000"))[0], 7);
  }));

Deno.test("endpoints in files are ignored if the environment requires it", () =>
  withConfig({
    config: (url) => `[default]\nendpoint_url = ${url}\nregion = lab-1\n`,
    variables: () => ({
      ...SIGNED,
      AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: "true",
      // Requests to Amazon would fail.
      HTTPS_PROXY: ELSEWHERE,
    }),
  }, async (bucket) => {
    const remote = { timeout: 100, cache: false as const };
    await assert.rejects(() => open("s3://bucket/a.ffr", { remote }));
    assert.equal(bucket.asked.length, 0);
  }));
