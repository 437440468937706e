/** `mount --nested`, read by other programs, also after a crash of its server. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { gzipSync } from "node:zlib";
import { run } from "../cli/run_cli.ts";
import { until } from "../cli/mount/mount_place.ts";
import { tarBytes } from "../support/tar/make_tar.ts";
import { makeZip } from "../support/zip/make_zip.ts";
import { found, killServer, mounted, output, test } from "./shown.ts";

const hello = tarBytes([{ name: "hello.txt", data: "hello" }]);
const large = new Uint8Array(3 << 20).map((_, i) => i * i >> 3);

/** Makes a directory with containers in each other. */
function makeMixed(dir: string): void {
  fs.mkdirSync(`${dir}/sub`, { recursive: true });
  const zip = makeZip([
    { name: "stored.tar", data: hello },
    { name: "deflated.tar", data: hello, method: 8 },
    { name: "large.bin", data: large },
    { name: "deflated.bin", data: large, method: 8 },
  ]);
  fs.writeFileSync(`${dir}/zips.tar`, tarBytes([{ name: "z.zip", data: zip }]));
  const tgz = gzipSync(hello);
  fs.writeFileSync(`${dir}/sub/t.zip`, makeZip([{ name: "t.tgz", data: tgz }]));
  fs.writeFileSync(`${dir}/bad.zip`, "no zip at all");
  fs.writeFileSync(`${dir}/plain.txt`, "plain");
}

const FILES = [
  "plain.txt",
  "sub/t.zip/t.tgz/hello.txt",
  "zips.tar/z.zip/deflated.bin",
  "zips.tar/z.zip/deflated.tar/hello.txt",
  "zips.tar/z.zip/large.bin",
  "zips.tar/z.zip/stored.tar/hello.txt",
];

test("containers in a directory and in each other are directories, also after a crash", async (place) => {
  const { dir, mountpoint: at } = place;
  makeMixed(`${dir}/in`);
  const inodes = async () => {
    const listed = await output(
      at,
      ...["find", "plain.txt", "sub", "zips.tar", "-printf", "%p %i %y %s\n"],
    );
    return listed.trim().split("\n").sort();
  };
  await mounted(
    place,
    ["--nested", "--workers", "3", `${dir}/in`],
    async () => {
      assert.equal(fs.statSync(`${at}/bad.zip`).isDirectory(), true);
      assert.deepEqual((await output(at, "ls")).trim().split("\n"), [
        ...["bad.zip", "plain.txt", "sub", "zips.tar"],
      ]);
      const refused = await run(["ls", "bad.zip"], {
        cwd: at,
        env: { LC_ALL: "C" },
      });
      assert.match(refused.stderr, /bad\.zip.*: Input\/output error/);
      const log = () =>
        fs.readFileSync(`${place.state}/${logName(place.state)}`, "utf8");
      await until(() => Promise.resolve(log().includes("bad.zip")));
      const before = await inodes();
      const readAll = async () => {
        const files = (await found(`${at}/sub`, "f")).concat(
          await found(`${at}/zips.tar`, "f"),
        );
        assert.equal(files.length, FILES.length - 1);
        for (const path of FILES) {
          const bytes = new Uint8Array(fs.readFileSync(`${at}/${path}`));
          if (path.endsWith(".bin")) assert.deepEqual(bytes, large);
          else assert.match(new TextDecoder().decode(bytes), /^(hello|plain)$/);
        }
      };
      await readAll();
      const open = fs.openSync(`${at}/zips.tar/z.zip/deflated.bin`, "r");
      await killServer(place);
      const rest = new Uint8Array(1000);
      fs.readSync(open, rest, 0, 1000, 2 << 20);
      fs.closeSync(open);
      assert.deepEqual(rest, large.slice(2 << 20, (2 << 20) + 1000));
      assert.deepEqual(await inodes(), before);
      await readAll();
    },
  );
});

function logName(state: string): string {
  return fs.readdirSync(state).find((name) => name.endsWith(".log"))!;
}
