/** Zips that need zip64, as Python's zipfile reads them. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { convert } from "../../../../src/open/convert/convert.ts";
import { open } from "../../../../src/open/open.ts";
import { LONG } from "../../../support/long.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import { pythonLines } from "../../../support/programs/python.ts";
import { tarBytes } from "../../../support/tar/make_tar.ts";

/** Value of a 16-bit field that refers to the zip64 record. */
const FULL = 0xffff;

Deno.test({
  name: "more than 65,535 members are counted by a zip64 end record",
  ...needs("python3"),
  fn: () =>
    withTempDir(async (dir) => {
      const count = FULL + 1;
      const nameOf = (i: number) => `d${i % 7}/${i}.txt`;
      const tar = tarBytes(
        Array.from({ length: count }, (_, i) => ({
          name: nameOf(i),
          data: i % 1000 === 0 ? `content of ${i}` : "",
        })),
      );
      fs.writeFileSync(`${dir}/many.tar`, tar);
      await convert(`${dir}/many.tar`, `${dir}/many.zip`);
      const [members, files, first, last, damaged] = await pythonLines(`
import json, zipfile
with zipfile.ZipFile(${JSON.stringify(`${dir}/many.zip`)}) as z:
    infos = z.infolist()
    print(len(infos))
    print(sum(not i.is_dir() for i in infos))
    for i in (0, 65000):
        print(json.dumps(z.read(f"d{i % 7}/{i}.txt").decode()))
    print(json.dumps(z.testzip()))
`);
      assert.equal(files, count);
      assert.equal(members, count + 7); // directories are members too
      assert.deepEqual([first, last], ["content of 0", "content of 65000"]);
      assert.equal(damaged, null);
      using container = await open(`${dir}/many.zip`);
      assert.equal(container.info.files, count);
      const bytes = fs.readFileSync(`${dir}/many.zip`).subarray(-22);
      assert.equal(bytes.readUInt16LE(10), FULL);
      // One member less, and no directories, needs no zip64.
      fs.writeFileSync(
        `${dir}/few.tar`,
        tarBytes(
          Array.from({ length: FULL - 1 }, (_, i) => ({ name: `${i}` })),
        ),
      );
      await convert(`${dir}/few.tar`, `${dir}/few.zip`);
      const end = fs.readFileSync(`${dir}/few.zip`);
      assert.equal(end.subarray(-22).readUInt16LE(10), FULL - 1);
      assert.equal(end.indexOf(Uint8Array.of(0x50, 0x4b, 6, 6)), -1);
    }),
});

Deno.test({
  name: "members over 4 GiB, and those after them, have zip64 offsets",
  ignore: !LONG || needs("python3").ignore,
  fn: () =>
    withTempDir(async (dir) => {
      const size = 2 ** 32 + 12_345;
      fs.mkdirSync(`${dir}/files`);
      const fd = fs.openSync(`${dir}/files/large`, "w");
      fs.ftruncateSync(fd, size); // a hole except for its end
      fs.writeSync(fd, new TextEncoder().encode("the end"), 0, 7, size - 7);
      fs.closeSync(fd);
      fs.writeFileSync(`${dir}/files/small`, "behind it");
      await convert(`${dir}/files`, `${dir}/all.zip`);
      const [sizes, end, small, damaged] = await pythonLines(`
import json, zipfile
with zipfile.ZipFile(${JSON.stringify(`${dir}/all.zip`)}) as z:
    print(json.dumps({i.filename: i.file_size for i in z.infolist()}))
    with z.open("large") as large:
        large.seek(-7, 2)
        print(json.dumps(large.read().decode()))
    print(json.dumps(z.read("small").decode()))
    print(json.dumps(z.testzip()))
`);
      assert.deepEqual(sizes, { large: size, small: 9 });
      assert.deepEqual([end, small, damaged], ["the end", "behind it", null]);
      using container = await open(`${dir}/all.zip`);
      assert.equal((await container.stat("large")).size, size);
      assert.equal(
        String(await container.read("small")),
        String(new TextEncoder().encode("behind it")),
      );
    }),
});
