import assert from "node:assert/strict";
import * as fs from "node:fs";
import { convert } from "../../../src/open/convert/convert.ts";
import { MDSWriter } from "../../../src/formats/mds/mod.ts";
import { open } from "../../../src/open/open.ts";
import { withTempDir } from "../../support/paths.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";
import { tarCase } from "../../support/tar/tar_golden.ts";

Deno.test("samples become files of a packed folder, and links become their targets", () =>
  withTempDir(async (dir) => {
    for (
      const [name, prefix] of [["webdataset", ""], ["shards", ""]] as const
    ) {
      const { path, content } = tarCase(name);
      const target = `${dir}/${name}.ffr`;
      await convert(path, target);
      using before = await open(path);
      using after = await open(target);
      const paths = content.entries.map(({ path }) => `${prefix}${path}`);
      assert.equal(after.info.files, paths.length);
      assert.deepEqual(await after.read(paths), await before.read(paths));
    }
    const shards = `${tarCase("shards").path}/train-{000001..000002}.tar`;
    await convert(shards, `${dir}/pattern.ffr`);
    using two = await open(`${dir}/pattern.ffr`);
    assert.deepEqual(await two.list(""), ["train-000001", "train-000002"]);
    const { path } = tarCase("python_gnu");
    await assert.rejects(
      convert(path, `${dir}/odd.ffr`),
      /links that lead to a directory/,
    );
    await convert(path, `${dir}/odd.ffr`, { lossy: true });
    using odd = await open(`${dir}/odd.ffr`);
    assert.deepEqual(
      await odd.read("d/soft"),
      new TextEncoder().encode("the last one wins"),
    );
    await convert(path, `${dir}/files/`, { lossy: true });
    assert.equal(
      await Deno.readTextFile(`${dir}/files/d/soft`),
      "the last one wins",
    );
  }));

Deno.test("members that no tree shows are lost, which needs the caller's consent; a missing end is reported", () =>
  withTempDir(async (dir) => {
    const members = [
      { name: "a", data: "1" },
      { name: "pipe", type: "6" },
      { name: "up", type: "2", link: "../x" },
    ];
    const path = `${dir}/t.tar`;
    await Deno.writeFile(path, tarBytes(members));
    await assert.rejects(convert(path, `${dir}/t.ffr`), {
      code: "would-lose",
      message: /'pipe' is skipped: .*'up' is skipped: .*nothing was written/,
    });
    assert.deepEqual(fs.readdirSync(dir), ["t.tar"]);
    await convert(path, `${dir}/t.ffr`, { lossy: true });
    const warnings: string[] = [];
    const onWarning = (message: string) => void warnings.push(message);
    await Deno.writeFile(path, tarBytes(members.slice(0, 1), 0));
    await convert(path, `${dir}/cut.ffr`, { onWarning });
    assert.equal(warnings.length, 1);
    assert.match(
      warnings[0]!,
      /t\.tar ends without the blocks of zeros that end a tar: if it was truncated/,
    );
  }));

Deno.test("bytes in a field called `jpg` keep that name, so that WebDataset decodes them; other names say that they are bytes", () =>
  withTempDir(async (dir) => {
    const columns = { jpg: "bytes", cls: "bytes", raw: "bytes" };
    const writer = await MDSWriter.open(`${dir}/mds`, { columns });
    const bytes = new Uint8Array([1, 2, 3]);
    await writer.write({ jpg: bytes, cls: bytes, raw: bytes });
    await writer.close();
    await convert(`${dir}/mds`, `${dir}/t.tar`);
    using tar = await open(`${dir}/t.tar`, { format: "tar" });
    assert.deepEqual((await tar.list("")).toSorted(), [
      ...["000000.cls.bin", "000000.jpg", "000000.raw"],
    ]);
  }));
