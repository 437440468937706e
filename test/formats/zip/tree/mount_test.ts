/** Mounted zips, compared with what unzip extracts. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { mount } from "../../../../fuse/mount_container.ts";
import { open } from "../../../../src/open/open.ts";
import { FULL } from "../../../support/long.ts";
import { needs } from "../../../support/programs/programs.ts";
import { withTempDir } from "../../../support/paths.ts";
import { makeZip } from "../../../support/zip/make_zip.ts";
import { zipCase, zipCases } from "../../../support/zip/zip_golden.ts";
import { output, withMountpoint } from "../../../fuse/support/mounting.ts";

/** One case of each kind: trees of all cases are compared without mounts. */
const FEW = ["python", "info_zip_stored", "python_end64"];

function mountTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ...needs("fuse", "root", "unzip"), fn });
}

mountTest(
  "a mounted zip equals what unzip extracts",
  () =>
    withTempDir(async (dir) => {
      // unzip prompts if a name occurs twice, and handles code pages differently.
      const cases = zipCases().filter(({ name }) =>
        name !== "python_twice" && name !== "cp437" &&
        (FULL || FEW.includes(name))
      );
      for (const { name, path } of cases) {
        const copy = `${dir}/${name}`;
        fs.mkdirSync(copy);
        const unzip = await output(
          "env",
          "LC_ALL=C.UTF-8",
          "unzip",
          "-q",
          path,
          "-d",
          copy,
        );
        // 1: a warning about data before the zip.
        assert.ok(unzip.code <= 1, unzip.stderr);
        await withMountpoint(async (mountpoint) => {
          await using _mounted = await mount(path, mountpoint);
          const compared = await output("diff", "-r", mountpoint, copy);
          assert.deepEqual(compared, { code: 0, stdout: "", stderr: "" }, name);
        });
      }
    }),
);

/** Returns text that deflates well. */
function textOf(bytes: number): string {
  const lines: string[] = [];
  for (let i = 0, length = 0; length < bytes; i++) {
    const line = `${Math.imul(i, 2654435761) >>> 0} is number ${i}\n`;
    lines.push(line);
    length += line.length;
  }
  return lines.join("").slice(0, bytes);
}

mountTest(
  "members of any size are read sequentially, at any offset, and by several readers at once",
  () =>
    withTempDir(async (dir) => {
      const large = FULL ? 20_000_000 : 6_000_000;
      const sizes = [1, 100_000, 3_000_000, large];
      const texts = sizes.map(textOf);
      const members = texts.map((data, i) => ({
        name: `${i}.txt`,
        data,
        method: 8,
      }));
      fs.writeFileSync(`${dir}/a.zip`, makeZip(members));
      for (const [i, text] of texts.entries()) {
        fs.writeFileSync(`${dir}/${i}.txt`, text);
      }
      await withMountpoint(async (mountpoint) => {
        await using _mounted = await mount(`${dir}/a.zip`, mountpoint);
        const file = fs.openSync(`${mountpoint}/3.txt`, "r");
        try {
          for (const at of [large * 3 / 4, large - 10, 0, large / 3 | 0]) {
            const into = new Uint8Array(1000);
            const got = fs.readSync(file, into, 0, into.length, at);
            assert.equal(
              new TextDecoder().decode(into.subarray(0, got)),
              texts[3]!.slice(at, at + 1000),
            );
          }
        } finally {
          fs.closeSync(file);
        }
        const compared = await Promise.all(texts.map((_, i) =>
          output("cmp", `${mountpoint}/${i}.txt`, `${dir}/${i}.txt`)
        ));
        for (const { code, stdout } of compared) {
          assert.equal(code, 0, stdout);
        }
      });
    }),
);

mountTest(
  "an unreadable member is an I/O error, logged once; the others are read",
  () =>
    withTempDir(async (dir) => {
      const data = "deflated ".repeat(500);
      const wrong = { crc: 5 };
      const size = { size: 2000 };
      const zip = makeZip([
        { name: "crc", data, method: 8, local: wrong, central: wrong },
        { name: "size", data, method: 8, local: size, central: size },
        { name: "stored", data, local: wrong, central: wrong },
        { name: "header", data, local: { name: "hidden" } },
        { name: "right", data, method: 8 },
      ]);
      fs.writeFileSync(`${dir}/a.zip`, zip);
      const log: string[] = [];
      await withMountpoint(async (mountpoint) => {
        await using _mounted = await mount(`${dir}/a.zip`, mountpoint, {
          onLog: (message) => log.push(message),
        });
        for (const name of ["crc", "size", "stored", "header"]) {
          const { code, stderr } = await output("cat", `${mountpoint}/${name}`);
          assert.equal(code, 1, name);
          assert.match(stderr, /Input\/output error/);
        }
        const right = await output("cat", `${mountpoint}/right`);
        assert.equal(right.stdout, data);
      });
      const said = log.join("\n");
      for (
        const what of [
          /checksum/,
          /Cannot read 'size' .*: it has more than/,
          /Cannot read 'header' .*: the header/,
        ]
      ) {
        assert.match(said, what);
      }
    }),
);

mountTest(
  "a zip in memory is mounted as well, including its compressed members",
  () =>
    withMountpoint(async (mountpoint) => {
      const { path, content: { entries } } = zipCase("python");
      const bytes = fs.readFileSync(path);
      using container = await open(new Uint8Array(bytes));
      await using _mounted = await mount(container, mountpoint);
      for (const entry of entries) {
        const { size } = fs.statSync(`${mountpoint}/${entry.path}`);
        assert.equal(size, entry.size);
        const read = fs.readFileSync(`${mountpoint}/${entry.path}`);
        assert.equal(read.length, entry.size);
      }
    }),
);

mountTest(
  "a zip that changes in place is detected by readers of compressed members",
  () =>
    withTempDir(async (dir) => {
      const names = ["a", "b", "c"];
      const texts = names.map((name) => `${name} `.repeat(40_000));
      const path = `${dir}/a.zip`;
      const bytes = makeZip(
        names.map((name, i) => ({ name, data: texts[i]!, method: 8 })),
      );
      fs.writeFileSync(path, bytes);
      const log: string[] = [];
      const onLog = (message: string) => log.push(message);
      await withMountpoint(async (mountpoint) => {
        await using _mounted = await mount(path, mountpoint, { onLog });
        const read = async (name: string) => {
          const file = `${mountpoint}/${name}`;
          await output("dd", `if=${file}`, "iflag=nocache", "count=0");
          return await output("cat", file);
        };
        const logged = async (what: RegExp) => {
          while (!what.test(log.join("\n"))) {
            await read("a");
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
        };
        assert.equal((await read("a")).stdout, texts[0]);
        // Overwrites deflated content of the second member, located by its name.
        const start = bytes.indexOf(0x62, 31); // the name `b`
        const at = fs.openSync(path, "r+");
        fs.writeSync(at, new Uint8Array(40).fill(0xff), 0, 40, start + 20);
        fs.closeSync(at);
        const changed = await read("b");
        assert.match(changed.stderr, /Input\/output error/);
        await logged(/a\.zip was changed while it is mounted/);
        // Contents decoded before, and unchanged ones, remain correct.
        assert.equal((await read("a")).stdout, texts[0]);
        assert.equal((await read("c")).stdout, texts[2]);
        fs.truncateSync(path, 50);
        // The file is checked again within a second.
        await logged(/a\.zip was truncated from \d+ to 50 bytes/);
      });
    }),
);
