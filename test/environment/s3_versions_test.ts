/** Versions of objects, and requester-pays buckets. */
import assert from "node:assert/strict";
import { open } from "../../mod.ts";
import { assertFailed, recordfs, succeed } from "../cli/run_cli.ts";
import { withAwsEnvironment } from "../support/environment.ts";
import { ffrBytes } from "../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../support/paths.ts";
import { BucketServer } from "../support/remote/bucket_server.ts";

const OLD = Uint8Array.of(1);
const NEW = Uint8Array.of(2);
/** A version id in AWS' form, and one that must be encoded. */
const VERSIONS = ["3sL4kqtJlcpXroDTDmJ.rmSpXd3dIbrHY_MTRCxf3vjVBH40", "a+b/c="];

/** Makes a bucket whose object has an older content under each of these versions. */
async function withBucket(
  use: (server: BucketServer) => Promise<void>,
): Promise<void> {
  await using server = await BucketServer.start({ "d/a.ffr": ffrBytes([NEW]) });
  server.keys = { accessKeyId: "AKID", secretAccessKey: "hidden" };
  server.versions = Object.fromEntries(
    VERSIONS.map((version) => [`d/a.ffr?${version}`, ffrBytes([OLD])]),
  );
  await withAwsEnvironment({
    AWS_ACCESS_KEY_ID: "AKID",
    AWS_SECRET_ACCESS_KEY: "hidden",
  }, () => use(server));
}

Deno.test("an older version is read, and cached next to the current one", async () => {
  await withTempDir(async (dir) => {
    await withBucket(async (server) => {
      const s3 = { endpoint: server.url };
      const remote = { s3, cache: { directory: dir } };
      const read = async (query: string) => {
        using found = await open(`s3://bucket/d/a.ffr${query}`, { remote });
        return await found.read("000000");
      };
      for (let again = 0; again < 2; again++) {
        assert.deepEqual(await read(""), NEW);
        for (const version of VERSIONS) {
          assert.deepEqual(await read(`?versionId=${version}`), OLD);
        }
      }
      await assert.rejects(read("?versionId=none"), { code: "ENOENT" });
    });
  });
});

Deno.test("with requester pays, each request states it, also listings, and signs it", async () => {
  await withBucket(async (server) => {
    server.isPaidByReaders = true;
    const line = ["--no-cache", "--endpoint", server.url];
    for (const place of ["s3://bucket/d/a.ffr", "s3://bucket/d"]) {
      assertFailed(
        await recordfs(["ls", place, ...line]),
        1,
        /access denied \(HTTP 403 AccessDenied\).*--requester-pays/,
      );
      const { stdout } = await succeed([
        ...["ls", place, "--requester-pays"],
        ...line,
      ]);
      assert.equal(stdout, "000000\n");
    }
  });
});
