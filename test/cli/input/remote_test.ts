/** Commands that open a container on a server. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { fromFileUrl, withTempDir } from "../../support/paths.ts";
import { FileServer } from "../../support/remote/file_server.ts";
import { assertFailed, recordfs, succeed } from "../run_cli.ts";

const ROOT = fromFileUrl(new URL("../../golden/", import.meta.url));
const PACKED = "ffrecord/packed_tree/sample_10.ffr";

Deno.test("each command that opens containers takes a URL, and prints no secret", async () => {
  await withTempDir(async (dir) => {
    await using server = await FileServer.start(ROOT);
    const place = server.url.replace("//", "//name:s3cr3t@");
    const url = `${place}/${PACKED}?signature=s3cr3t`;
    const cache = ["--cache-dir", `${dir}/cache`];
    const lines = [
      ["ls", url],
      ["ls", "-l", url, "..."],
      ["tree", url],
      ["stat", url, "..."],
      ["cat", url, "..."],
      ["info", url],
      ["check", url],
      ["check", "--json", url],
      ["records", url],
      ["extract", url, `${dir}/out`],
      ["bench-loader", url, "--batches", "2", "--workers", "0"],
      ["convert", url, `${dir}/folder/`, "--json"],
      ["convert", url, `${dir}/again.ffr`, "--json", "--to", "ffrecord"],
      ["split", url, "--ratios", "1,1", "--out", `${dir}/split`],
    ];
    for (const line of lines) {
      const { stdout, stderr } = await succeed([...line, ...cache]);
      assert.ok(!(stdout + stderr).includes("s3cr3t"), line.join(" "));
    }
    const local = await succeed(["ls", `${ROOT}${PACKED}`]);
    assert.equal((await succeed(["ls", url, ...cache])).stdout, local.stdout);
    assert.ok(fs.readdirSync(`${dir}/out`).includes("words"));
    assert.ok(fs.readdirSync(`${dir}/folder`).includes("words"));
    const basic = `Basic ${btoa("name:s3cr3t")}`;
    for (const { headers } of server.asked) {
      assert.equal(headers.authorization, basic);
    }
  });
});

Deno.test("headers from the command line and from a file are sent; an invalid one is a usage error", async () => {
  await withTempDir(async (dir) => {
    await using server = await FileServer.start(ROOT);
    server.fault = ({ headers }, response) => {
      const isKnown = headers.authorization === "Bearer a:b" &&
        headers["x-more"] === "yes";
      if (!isKnown) response.writeHead(401).end();
      return !isKnown;
    };
    const line = ["ls", `${server.url}/${PACKED}`, "--no-cache"];
    fs.writeFileSync(`${dir}/headers`, "# mine\nAuthorization: Bearer a:b\n\n");
    const file = ["--header-file", `${dir}/headers`];
    await succeed([...line, ...file, "--header", "X-More: yes"]);
    assertFailed(await recordfs([...line, ...file]), 1, /access denied/);
    assertFailed(
      await recordfs([...line, "--header", "s3cr3t"]),
      2,
      /a header must be written as 'Name: value'/,
    );
    assertFailed(
      await recordfs([...line, "--header-file", `${dir}/none`]),
      2,
      /Cannot read --header-file .*none: /,
    );
    for (
      const [flag, value] of [
        ["--cache-size", "many"],
        ["--timeout", "-1"],
        ["--max-requests", "0"],
      ]
    ) {
      assertFailed(
        await recordfs([...line, flag!, value!]),
        2,
        /It must be a /,
      );
    }
  });
});

Deno.test("a server that does not respond is an error with the number of attempts", async () => {
  const line = ["ls", "http://127.0.0.1:9/x.ffr", "--timeout", "1"];
  assertFailed(
    await recordfs(line),
    1,
    /Cannot read http:\/\/127\.0\.0\.1:9\/x\.ffr: .*tried \d+ times in 1 s/,
  );
});
