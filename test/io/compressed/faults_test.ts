/**
 * Compressed files under adverse conditions: killed and concurrent programs, decompression bombs, missing libraries,
 * servers without validators.
 */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { setTimeout } from "node:timers/promises";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { open } from "../../../src/open/open.ts";
import { CLI, type Ran, run } from "../../cli/run_cli.ts";
import { joined, mixedBytes, piped } from "../../support/compress.ts";
import { LONG } from "../../support/long.ts";
import { REPOSITORY, withMemoryDir, withTempDir } from "../../support/paths.ts";
import { send } from "../../support/programs/processes.ts";
import { needs } from "../../support/programs/programs.ts";
import { FileServer } from "../../support/remote/file_server.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";

const CONTENT = mixedBytes(20_000_000, 5);
const TAR = tarBytes([
  { name: "first", data: CONTENT.subarray(0, 19_000_000) },
  { name: "last", data: CONTENT.subarray(19_000_000) },
]);

/** Reads the last file of a container in a separate process, and compares it. */
function readLast(path: string, cache: string, ...flags: string[]) {
  const args = ["cat", "--cache-dir", cache, path, "last"];
  return new Deno.Command(Deno.execPath(), {
    args: ["run", ...flags.length > 0 ? flags : ["-A"], CLI, ...args],
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

function assertLast(
  { stdout, stderr }: { stdout: Uint8Array; stderr: Uint8Array },
): void {
  assert.equal(new TextDecoder().decode(stderr), "");
  const expected = CONTENT.subarray(19_000_000);
  assert.ok(Buffer.from(stdout).equals(expected));
}

for (
  const [name, compress] of [["gz", gzipSync], [
    "zst",
    zstdCompressSync,
  ]] as const
) {
  Deno.test(`.tar.${name}: programs that are killed while decompressing leave nothing incorrect`, () =>
    withMemoryDir(async (dir) => {
      const path = `${dir}/x.tar.${name}`;
      fs.writeFileSync(path, compress(TAR));
      for (let kill = 0; kill < (LONG ? 40 : 4); kill++) {
        const child = readLast(path, `${dir}/cache`);
        await setTimeout(300 + 60 * kill);
        try {
          send(child.pid, "SIGKILL");
        } catch {
          // Already ended.
        }
        await child.output();
      }
      assertLast(await readLast(path, `${dir}/cache`).output());
      assertLast(await readLast(path, `${dir}/cache`).output());
    }));

  Deno.test(`.tar.${name}: programs that open it concurrently read the same`, () =>
    withMemoryDir(async (dir) => {
      const path = `${dir}/x.tar.${name}`;
      fs.writeFileSync(path, compress(TAR));
      const children = Array.from(
        { length: LONG ? 16 : 4 },
        () => readLast(path, `${dir}/cache`),
      );
      for (const child of children) assertLast(await child.output());
      const indexes = fs.readdirSync(`${dir}/cache/indexes`);
      assert.ok(indexes.every((name) => !name.endsWith(".tmp")), `${indexes}`);
    }));

  Deno.test(`.tar.${name}: it is read without FFI as well`, () =>
    withTempDir(async (dir) => {
      const path = `${dir}/x.tar.${name}`;
      const half = TAR.length >> 1;
      const parts = [TAR.subarray(0, half), TAR.subarray(half)];
      fs.writeFileSync(path, joined(...parts.map((part) => compress(part))));
      const child = readLast(path, `${dir}/cache`, "-A", "--deny-ffi");
      assertLast(await child.output());
    }));
}

Deno.test({
  name: "without FFI, a compression that needs a library is rejected by name",
  ...needs("bzip2", "xz", "lz4"),
  fn: () =>
    withTempDir(async (dir) => {
      const small = tarBytes([{ name: "last", data: "1" }]);
      for (
        const [command, library] of [["bzip2", "libbz2"], ["xz", "liblzma"], [
          "lz4",
          "liblz4",
        ]] as const
      ) {
        const path = `${dir}/x.tar`;
        fs.writeFileSync(path, await piped(small, command, "-c"));
        const child = readLast(path, `${dir}/cache`, "-A", "--deny-ffi");
        const { code, stderr } = await child.output();
        assert.equal(code, 1);
        const said = new TextDecoder().decode(stderr);
        assert.match(
          said,
          new RegExp(`${command}, which needs ${library} .*--allow-ffi`),
        );
      }
    }),
});

/** Runs a program with Deno, and returns its output. */
function program(code: string): Promise<Ran> {
  const runner = [
    Deno.execPath(),
    "eval",
    "--no-check",
    `--config=${REPOSITORY}deno.json`,
  ];
  return run([...runner, code]);
}

Deno.test("a decompression bomb takes neither memory nor disk, and is rejected if a limit is set", async () => {
  await withMemoryDir(async (dir) => {
    const zeros = new Uint8Array(64 << 20);
    const header = tarBytes([{
      name: "zeros",
      size: (12 * zeros.length).toString(8).padStart(11, "0") + "\0",
    }], 0);
    for (
      const [name, compress] of [["gz", gzipSync], [
        "zst",
        zstdCompressSync,
      ]] as const
    ) {
      const piece = compress(zeros);
      const path = `${dir}/x.tar.${name}`;
      fs.writeFileSync(
        path,
        joined(
          compress(header),
          ...Array(12).fill(piece),
          compress(zeros.subarray(0, 1024)),
        ),
      );
      const { stdout, stderr } = await program(`
        import { open } from "${REPOSITORY}mod.ts";
        using shown = await open(${
        JSON.stringify(path)
      }, { remote: { cache: { directory: "${dir}/cache", size: 40e6 } }, onWarning() {} });
        const part = await shown.readRange("zeros", 700e6, 100);
        const [, peak] = /VmHWM:\\s+(\\d+) kB/.exec(Deno.readTextFileSync("/proc/self/status"));
        console.log(part.every((byte) => byte === 0), peak);`);
      const [isRight, peak] = stdout.trim().split(" ");
      assert.equal(isRight, "true", stderr);
      assert.ok(Number(peak) < 450_000, `${peak} kB`);
      let used = 0;
      for (const name of fs.readdirSync(dir, { recursive: true })) {
        used += 512 * fs.statSync(`${dir}/${name}`).blocks;
      }
      assert.ok(used < 60e6, `${used} bytes`);
      await assert.rejects(open(path, { maxRatio: 20 }), {
        code: "too-large",
        message: /expand to .* more than 20 times/,
      });
    }
  });
});

Deno.test("for a server without validators, no checkpoints are cached", async () => {
  await withMemoryDir(async (dir) => {
    const bytes = gzipSync(TAR);
    fs.mkdirSync(`${dir}/root`);
    fs.writeFileSync(`${dir}/root/x.tar.gz`, bytes);
    await using server = await FileServer.start(`${dir}/root`);
    server.fault = ({ range }, response, file) => {
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
      if (first === undefined || file === undefined) return false;
      const part = file.subarray(Number(first), Number(last) + 1);
      response.writeHead(206, {
        "content-range": `bytes ${first}-${
          Number(first) + part.length - 1
        }/${file.length}`,
        "content-length": part.length,
      });
      response.end(part);
      return true;
    };
    const remote = { cache: { directory: `${dir}/cache` }, onWarning() {} };
    using shown = await open(`${server.url}/x.tar.gz`, { remote });
    assert.deepEqual(await shown.read("last"), CONTENT.subarray(19_000_000));
    const made = fs.existsSync(`${dir}/cache/indexes`)
      ? fs.readdirSync(`${dir}/cache/indexes`)
      : [];
    assert.deepEqual(made, []);
    server.fault = undefined;
    using tagged = await open(`${server.url}/x.tar.gz`, { remote });
    assert.deepEqual(await tagged.read("last"), CONTENT.subarray(19_000_000));
    assert.notDeepEqual(fs.readdirSync(`${dir}/cache/indexes`), []);
  });
});
