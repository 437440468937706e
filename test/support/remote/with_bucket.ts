import type {
  CacheOptions,
  S3Options,
} from "../../../src/io/remote/remote_options.ts";
import { withAwsEnvironment } from "../environment.ts";
import { type BucketKeys, BucketServer } from "./bucket_server.ts";

/** Accepted credentials. */
export const KEYS: BucketKeys = {
  accessKeyId: "AKID",
  secretAccessKey: "hidden",
};

/** Environment variables with these credentials. */
export const SIGNED = {
  AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
};

/** Runs a test with a bucket that accepts {@linkcode KEYS}, with these AWS variables in the environment. */
export async function withBucket(
  objects: Readonly<Record<string, Uint8Array>>,
  variables: Readonly<Record<string, string>>,
  use: (
    server: BucketServer,
    remote: (
      s3?: S3Options,
    ) => { remote: { s3: S3Options; cache: CacheOptions | false } },
  ) => Promise<void>,
): Promise<void> {
  await using server = await BucketServer.start(objects);
  server.keys = KEYS;
  const { url: endpoint } = server;
  await withAwsEnvironment(variables, () =>
    use(server, (s3 = {}) => ({
      remote: { s3: { endpoint, ...s3 }, cache: false },
    })));
}
