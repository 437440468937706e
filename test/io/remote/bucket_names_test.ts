/** Keys of a bucket that are not valid file names. */
import assert from "node:assert/strict";
import { runAsync } from "../../../src/io/concurrency/steps.ts";
import { RemoteStorage } from "../../../src/io/remote/remote_storage.ts";
import { BucketServer } from "../../support/remote/bucket_server.ts";

const EMPTY = new Uint8Array();

/** Lists a directory of a bucket with these keys. Returns its names, and the warnings. */
async function listed(
  keys: readonly string[],
  directory = "",
  encodes = true,
): Promise<{ names: readonly string[]; warnings: string[] }> {
  await using server = await BucketServer.start(
    Object.fromEntries(keys.map((key) => [key, EMPTY])),
  );
  server.encodes = encodes;
  const warnings: string[] = [];
  const storage = new RemoteStorage(`s3://bucket/${directory}`, {
    cache: false,
    s3: { endpoint: server.url, anonymous: true },
    onWarning: (text) => warnings.push(text),
  });
  const names = (await runAsync(storage.list(storage.root)))!;
  await runAsync(storage.list(storage.root));
  return { names: [...names].sort(), warnings };
}

const odd: Record<string, { key: string; shown?: string; encodes?: boolean }> =
  {
    "begins with a slash": { key: "/x" },
    "has nothing between two slashes": { key: "a//x" },
    "is two dots": { key: "a/.." },
    "goes up": { key: "a/../x" },
    "is a dot": { key: "a/." },
    "goes nowhere": { key: "a/./x" },
    "has a NUL": { key: "a/x\0y" },
    "is that of a directory as well": { key: "a/sub", shown: "sub" },
    "has nothing between two slashes, of a server that does not encode": {
      key: "a//x",
      encodes: false,
    },
  };

for (const [what, { key, shown, encodes }] of Object.entries(odd)) {
  Deno.test(`a key that ${what} is skipped, with one warning`, async () => {
    const directory = key.startsWith("a/") ? "a/" : "";
    const keys = [`${directory}b.ffr`, `${directory}sub/c.ffr`, key];
    const { names, warnings } = await listed(keys, directory, encodes);
    assert.deepEqual(names, ["b.ffr", "sub"]);
    assert.equal(warnings.length, 1, warnings.join("\n"));
    assert.match(warnings[0]!, /^1 key is skipped in s3:\/\/bucket/);
    if (shown !== undefined) {
      assert.match(warnings[0]!, /s3:\/\/bucket\/a\/sub/);
    }
  });
}

Deno.test("a key that represents a directory is neither skipped nor reported", async () => {
  const { names, warnings } = await listed(["a/", "a/b.ffr", "a/c/"], "a/");
  assert.deepEqual(names, ["b.ffr", "c"]);
  assert.deepEqual(warnings, []);
});

Deno.test("a directory of only such keys is empty", async () => {
  const { names, warnings } = await listed(["a//x", "a//y", "a/../z"], "a/");
  assert.deepEqual(names, []);
  assert.match(warnings[0]!, /^2 keys are skipped in s3:\/\/bucket\/a/);
});
