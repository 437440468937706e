/** `--nested` of `ls`, `tree`, `stat`, `cat`, `extract` and `serve`. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { gzipSync } from "node:zlib";
import { recordfs, run } from "../run_cli.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { startServing } from "../../support/serve/serving_command.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";
import { makeZip } from "../../support/zip/make_zip.ts";

const hello = tarBytes([{ name: "hello.txt", data: "hello" }]);

async function withMixed(use: (dir: string) => Promise<void>): Promise<void> {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/in/sub`, { recursive: true });
    const zip = makeZip([
      { name: "t.tgz", data: gzipSync(hello) },
      { name: "d/plain.txt", data: "plain", method: 8 },
    ]);
    fs.writeFileSync(`${dir}/in/sub/z.zip`, zip);
    fs.writeFileSync(`${dir}/in/a.tar`, hello);
    fs.writeFileSync(`${dir}/in/readme`, "read me");
    await use(dir);
  });
}

const ok = async (...args: string[]) => {
  const { stdout, stderr, code } = await recordfs(args);
  assert.deepEqual([stderr, code], ["", 0], args.join(" "));
  return stdout;
};

Deno.test("ls, tree, stat and cat look into containers", async () => {
  await withMixed(async (dir) => {
    const source = `${dir}/in`;
    assert.equal(await ok("ls", "--nested", source), "a.tar\nreadme\nsub\n");
    assert.equal(
      await ok("ls", "-R", "--nested", source),
      [
        ...["a.tar", "a.tar/hello.txt", "readme", "sub", "sub/z.zip"],
        ...["sub/z.zip/t.tgz", "sub/z.zip/t.tgz/hello.txt", "sub/z.zip/d"],
        ...["sub/z.zip/d/plain.txt", ""],
      ].join("\n"),
    );
    assert.equal(await ok("ls", source, "sub/z.zip", "--nested"), "t.tgz\nd\n");
    assert.equal(
      await ok("ls", "--nested", "--strip-suffix", source, "sub/z/t"),
      "hello.txt\n",
    );
    assert.equal(
      await ok("ls", "-R", "--nested=.tgz,zip", source, "sub"),
      "z.zip\nz.zip/t.tgz\nz.zip/t.tgz/hello.txt\nz.zip/d\nz.zip/d/plain.txt\n",
    );
    assert.equal(
      await ok("cat", "--nested", source, "sub/z.zip/t.tgz/hello.txt"),
      "hello",
    );
    assert.match(
      await ok("stat", "--nested", source, "a.tar"),
      /directory/,
    );
    assert.match(await ok("tree", "--nested", source), /hello\.txt/);
  });
});

Deno.test("what is extracted equals what tar and unzip extract", {
  ...needs("tar", "unzip"),
}, async () => {
  await withMixed(async (dir) => {
    const said = await ok("extract", "--nested", `${dir}/in`, `${dir}/out`);
    assert.match(said, /4 files/);
    const expected = `${dir}/expected`;
    fs.mkdirSync(`${expected}/a.tar`, { recursive: true });
    fs.mkdirSync(`${expected}/sub/z.zip`, { recursive: true });
    fs.copyFileSync(`${dir}/in/readme`, `${expected}/readme`);
    const inner = `${expected}/sub/z.zip`;
    const programs = [
      ["tar", "xf", `${dir}/in/a.tar`, "-C", `${expected}/a.tar`],
      ["unzip", "-q", `${dir}/in/sub/z.zip`, "-d", inner],
      ["mv", `${inner}/t.tgz`, `${dir}/t.tgz`],
      ["mkdir", `${inner}/t.tgz`],
      ["tar", "xf", `${dir}/t.tgz`, "-C", `${inner}/t.tgz`],
      ["diff", "-r", expected, `${dir}/out`],
    ];
    for (const command of programs) {
      const { stderr, stdout, code } = await run(command);
      assert.deepEqual([stdout, stderr, code], ["", "", 0], command.join(" "));
    }
    fs.writeFileSync(`${dir}/in/bad.zip`, "bad");
    const args = ["extract", "--nested", `${dir}/in`, `${dir}/some`];
    const { stderr, code } = await recordfs(args);
    assert.equal(code, 1);
    assert.match(stderr, /bad\.zip[^]*1 file or directory was not extracted/);
    assert.equal(
      fs.readFileSync(`${dir}/some/a.tar/hello.txt`, "utf8"),
      "hello",
    );
  });
});

Deno.test("a wrong command line is named", async () => {
  await withMixed(async (dir) => {
    const wrong: [args: string[], says: RegExp][] = [
      [["ls", "--strip-suffix", dir], /--strip-suffix needs --nested/],
      [["ls", "--nested=a/b", dir], /--nested=a\/b: 'a\/b' is not a suffix/],
      [["mount", "-o", "nested=*", dir, dir], /'\*' is not a suffix/],
      [["mount", "--strip-suffix", dir, dir], /--strip-suffix needs --nested/],
    ];
    for (const [args, says] of wrong) {
      const { stderr, code } = await recordfs(args);
      assert.match(stderr, says);
      assert.equal(code, 2);
    }
  });
});

Deno.test("serve and view show what is nested", async () => {
  await withMixed(async (dir) => {
    for (
      const command of [["serve", "--port=0", "--quiet", "--workers=2"], [
        "view",
        "--no-open",
      ]]
    ) {
      const [name, ...flags] = command as [string, ...string[]];
      const args = [name, ...flags, "--nested", "--no-token", `${dir}/in`];
      const served = await startServing(args);
      try {
        const file = await fetch(
          `${served.url}files/sub/z.zip/t.tgz/hello.txt`,
        );
        assert.deepEqual([file.status, await file.text()], [200, "hello"]);
        const list = await fetch(`${served.url}files/sub/z.zip/`);
        assert.match(await list.text(), /t\.tgz/);
      } finally {
        const { code } = await served.end("SIGTERM");
        assert.equal(code, 0);
      }
    }
  });
});
