/** Containers that a command line places in a tree. */
import assert from "node:assert/strict";
import { parsePlaced } from "../../../src/cli/input/given.ts";
import { fromFileUrl } from "../../support/paths.ts";
import { FileServer } from "../../support/remote/file_server.ts";
import { succeed } from "../run_cli.ts";

const ROOT = fromFileUrl(new URL("../../golden/", import.meta.url));

Deno.test("a URL may contain equals signs; only one after its end separates a path", () => {
  const whole = [
    "https://h/a.ffr?versionId=3",
    "https://h/a.ffr?signature=abc.ffr=train",
    "s3://b/date=2024/a.ffr",
    "s3://b/x=y",
    "s3://b/x=y/",
  ];
  for (const location of whole) {
    assert.deepEqual(parsePlaced(location), { location });
  }
  const placed = [
    ["https://h/a.ffr", "train"],
    ["https://h/gulp/", "deep/er"],
    ["s3://b/date=2024/data_0.gulp", "x=y"],
    ["s3://b/date=2024/", "train"],
    ["s3://b/", "all"],
  ];
  for (const [location, path] of placed) {
    assert.deepEqual(parsePlaced(`${location}=${path}`), { location, path });
  }
  assert.throws(
    () => parsePlaced("https://me:s3cr3t@h/a.ffr="),
    { message: "https://h/a.ffr=: the path after the equals sign is empty" },
  );
});

Deno.test("several containers on servers and the disk are shown in one tree", async () => {
  await using server = await FileServer.start(ROOT);
  const packed = "ffrecord/packed_tree/sample_10.ffr";
  const add = [
    ...["--add", `${server.url}/gulp/v2_chunks/gulp/=videos/all`],
    ...["--add", `${ROOT}bags/types/data=types`],
  ];
  const line = ["ls", `${server.url}/${packed}`, ...add, "--no-cache"];
  assert.equal((await succeed(line)).stdout, "sample_10\nvideos\ntypes\n");
  const inner = await succeed([...line, "videos/all"]);
  const alone = await succeed(["ls", `${ROOT}gulp/v2_chunks/gulp`]);
  assert.equal(inner.stdout, alone.stdout);
});
