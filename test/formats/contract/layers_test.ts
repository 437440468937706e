/** Compressed and nested containers of every format read the same as plain ones. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { basename, dirname, relative } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { mount } from "../../../fuse/mount_container.ts";
import { openDataset } from "../../../mod.ts";
import { check, open } from "../../../src/open/open.ts";
import { type ContainerOptions, openSync } from "../../../src/open/mod.ts";
import type { VirtualFs } from "../../../src/tree/vfs/virtual_fs.ts";
import { reopenHandle } from "../../../src/tree/tree.ts";
import { assertPortable } from "../../data/support/in_thread.ts";
import { mountTest, withMountpoint } from "../../fuse/support/mounting.ts";
import { inMemory } from "../../support/far_away.ts";
import { FULL } from "../../support/long.ts";
import { descriptorsBelowNow } from "../../support/programs/descriptors.ts";
import { FileServer } from "../../support/remote/file_server.ts";
import { slowStorage } from "../../support/slow_storage.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";
import { filesBelow, type FormatCase, withSmall } from "./format_case.ts";
import { CASES } from "./formats.ts";

const quiet = { onWarning() {}, onLog() {} };

/** Returns paths to a container in various layers, all in one directory. */
function layersOf(path: string, dir: string): string[] {
  const name = basename(path);
  const root = dirname(path);
  const members = filesBelow(root).map((file) => ({
    name: `sub!/${relative(root, file)}`,
    data: fs.readFileSync(file),
  }));
  const tar = tarBytes(members);
  const out = `${dir}/layers`;
  fs.mkdirSync(out);
  fs.writeFileSync(`${out}/o.tar`, tar);
  fs.writeFileSync(`${out}/o.tar.gz`, gzipSync(tar));
  const twice = [{ name: "o.tar.gz", data: gzipSync(tar) }];
  fs.writeFileSync(`${out}/p.tar.zst`, zstdCompressSync(tarBytes(twice)));
  const below = `sub!/${name}`;
  const paths = [
    `${out}/o.tar!/${below}`,
    `${out}/o.tar.gz!/${below}`,
    `${out}/p.tar.zst!/o.tar.gz!/${below}`,
  ];
  if (!fs.statSync(path).isFile()) return paths;
  const bytes = fs.readFileSync(path);
  fs.writeFileSync(`${out}/${name}.gz`, gzipSync(bytes));
  fs.writeFileSync(`${out}/${name}.zst`, zstdCompressSync(bytes));
  const compressed = [`${out}/${name}.gz`, `${out}/${name}.zst`];
  // Bags and Bagz may begin with any bytes, so that only the extension identifies a compressed one.
  if (!/\.bagz?$/.test(name)) {
    fs.writeFileSync(`${out}/${name}`, zstdCompressSync(gzipSync(bytes)));
    compressed.push(`${out}/${name}`);
  }
  return [...compressed, ...paths];
}

async function contentsOf(shown: VirtualFs): Promise<unknown[]> {
  const contents: unknown[] = [];
  for await (const entry of shown.walk()) {
    const { path, isFile } = entry;
    contents.push([path, isFile ? await shown.read(entry) : undefined]);
  }
  return contents;
}

/** Runs `body` with a small container, and with all layered paths to it. */
function withLayers(
  format: FormatCase,
  body: (
    path: string,
    layered: readonly string[],
    dir: string,
  ) => Promise<void>,
): Promise<void> {
  return withSmall(format, async (path, dir) => {
    const all = layersOf(path, dir);
    await body(path, FULL ? all : all.filter((_, i) => i % 3 !== 1), dir);
    assert.equal(descriptorsBelowNow(dir), 0);
  });
}

for (const [title, format] of CASES) {
  const as = { format: format.name };

  Deno.test(`${title}: compressed or in other containers, from any storage, the content is the same`, () =>
    withLayers(format, async (path, layered, dir) => {
      using plain = await open(path, as);
      const expected = await contentsOf(plain);
      const compare = async (path: string, options: ContainerOptions) => {
        using shown = await open(path, { ...options, ...quiet });
        assert.deepEqual(await contentsOf(shown), expected, path);
        assert.equal(shown.info.format, format.name);
      };
      await using server = await FileServer.start(dir);
      const remote = { cache: { directory: `${dir}/cache` } };
      const memory = inMemory(`${dir}/layers`);
      for (const [seed, layer] of layered.entries()) {
        await compare(layer, as);
        await compare(layer, {});
        await compare(layer, { ...as, storage: memory });
        await compare(layer, { ...as, storage: slowStorage(seed, memory) });
        const url = layer.replace(dir, server.url).replaceAll(" ", "%20");
        await compare(url, { remote });
        using now = openSync(layer, as);
        assert.deepEqual(await contentsOf(now), expected, layer);
      }
    }));

  Deno.test(`${title}: compressed or in other containers, the samples are the same, in other threads too`, () =>
    withLayers(format, async (path, layered) => {
      using plain = await openDataset(path, as);
      const indices = [...Array(plain.length).keys()];
      const expected = await plain.get(indices);
      for (const layer of layered) {
        using dataset = await openDataset(layer, { ...as, ...quiet });
        assert.deepEqual(await dataset.get(indices), expected, layer);
        await assertPortable(dataset, indices);
        using shown = await open(layer, { ...as, ...quiet });
        const handle = structuredClone(shown.tree.share());
        const again = await reopenHandle(handle);
        assert.equal(again.nodeCount, shown.tree.nodeCount);
        again.close();
        const { damaged } = await check(layer, { ...as, ...quiet });
        assert.equal(damaged, 0, layer);
      }
    }));

  mountTest(
    `${title}: compressed or in other containers, from disk and from a server, the mount is the same`,
    () =>
      withLayers(format, async (path, layered, dir) => {
        using plain = await open(path, as);
        const expected = await contentsOf(plain);
        await using server = await FileServer.start(dir);
        const remote = { cache: { directory: `${dir}/cache` } };
        for (const layer of layered) {
          const url = layer.replace(dir, server.url).replaceAll(" ", "%20");
          for (const location of FULL ? [layer, url] : [url]) {
            await withMountpoint(async (mountpoint) => {
              const options = { ...as, ...quiet, remote };
              await using _mounted = await mount(location, mountpoint, options);
              for (const [name, content] of expected as [string, unknown][]) {
                if (content === undefined) continue;
                const read = new Uint8Array(
                  fs.readFileSync(`${mountpoint}/${name}`),
                );
                assert.deepEqual(read, content, `${location} ${name}`);
              }
            });
          }
        }
      }),
  );
}
