/** Files on servers: how often they are asked, and for how many bytes. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open, openSamples } from "../../../../mod.ts";
import { asked, serving } from "../../../support/remote/serving.ts";
import { goldenSet } from "../../../support/golden.ts";
import { hdf5Case } from "../../../support/hdf5/hdf5_golden.ts";

Deno.test("of a file of 1 GiB, a row takes a few ranges", () =>
  serving(async (served) => {
    const { server, remote } = served;
    const { path, offset, size } = goldenSet<
      { path: string; offset: number; size: number }
    >("hdf5_large").one("large");
    assert.equal(size, offset + 2 ** 30);
    const head = fs.readFileSync(path);
    server.fault = ({ range }, response) => {
      const [, first, last] = /bytes=(\d+)-(\d+)/.exec(range ?? "") ?? [];
      if (first === undefined) {
        response.writeHead(200, { "content-length": size, etag: '"a"' }).end();
        return true;
      }
      const end = Math.min(Number(last) + 1, size);
      const bytes = Uint8Array.from(
        { length: end - Number(first) },
        // Each byte of a row is its index.
        (_, i) =>
          head[Number(first) + i] ?? (Number(first) + i - offset) / 1024,
      );
      response.writeHead(206, {
        "content-range": `bytes ${first}-${end - 1}/${size}`,
        "content-length": bytes.length,
        etag: '"a"',
      }).end(bytes);
      return true;
    };
    using samples = await openSamples(`${server.url}/a.h5`, { remote });
    assert.equal(samples.length, 2 ** 20);
    const { x } = await samples.get(777_777) as { x: { data: Uint8Array } };
    assert.ok(
      x.data.length === 1024 && x.data.every((byte) => byte === 777_777 % 256),
    );
    const { count, bytes } = asked(served);
    assert.ok(count <= 8, `${count} requests`);
    assert.ok(bytes <= 8 << 20, `${bytes} bytes`);
  }));

Deno.test("a file on a server is what it is on the disk", () =>
  serving(async ({ dir, server, remote }) => {
    for (const name of ["types", "layouts", "rows"]) {
      const { path } = hdf5Case(name);
      fs.copyFileSync(path, `${dir}/${name}.h5`);
      using far = await open(`${server.url}/${name}.h5`, { remote });
      using near = await open(path);
      for await (const entry of near.walk("")) {
        if (!entry.isFile) continue;
        const bytes = await near.read(entry.path);
        assert.deepEqual(await far.read(entry.path), bytes, entry.path);
      }
    }
  }));
