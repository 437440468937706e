/** `mount` of compressed and nested containers: a server that is started after a crash shows the same tree. */
import assert from "node:assert/strict";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { tarBytes } from "../support/tar/make_tar.ts";
import { found, killServer, test } from "./shown.ts";

const inner = tarBytes([{ name: "a.txt", data: "a" }]);

test("compressed and nested containers are mounted, also after a crash", async (place) => {
  const { dir, mountpoint } = place;
  await Deno.mkdir(`${dir}/in`);
  const members = [{ name: "i.tar.zst", data: zstdCompressSync(inner) }];
  await Deno.writeFile(`${dir}/in/o.tar.gz`, gzipSync(tarBytes(members)));
  await Deno.writeFile(`${dir}/in/s0.tar.gz`, gzipSync(inner));
  const sources: [source: string, shown: string][] = [
    [`${dir}/in/s0.tar.gz`, "a.txt"],
    [`${dir}/in/o.tar.gz!/i.tar.zst`, "a.txt"],
    [`${dir}/in/s{0..0}.tar.gz`, "s0/a.txt"],
  ];
  for (const [source, shown] of sources) {
    const mounted = await place.recordfs("mount", source, mountpoint);
    assert.deepEqual([mounted.stderr, mounted.code], ["", 0], source);
    assert.deepEqual(await found(mountpoint, "f"), [shown]);
    await killServer(place);
    assert.deepEqual(await found(mountpoint, "f"), [shown]);
    assert.equal(await Deno.readTextFile(`${mountpoint}/${shown}`), "a");
    const ended = await place.recordfs("unmount", mountpoint);
    assert.deepEqual([ended.stderr, ended.code], ["", 0]);
  }
});
