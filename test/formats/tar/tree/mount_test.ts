/** Mounted tars, compared with what tar extracts. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { mount } from "../../../../fuse/mount_container.ts";
import { arrangeTree } from "../../../../src/data/trees/arrange_tree.ts";
import { open } from "../../../../src/open/open.ts";
import { FULL } from "../../../support/long.ts";
import { withTempDir } from "../../../support/paths.ts";
import { memberBytes, pax, tarBytes } from "../../../support/tar/make_tar.ts";
import { tarCase } from "../../../support/tar/tar_golden.ts";
import {
  mountTest,
  output,
  withMount,
  withMountpoint,
} from "../../../fuse/support/mounting.ts";

mountTest(
  "a mounted tar equals what tar extracts, links included",
  () =>
    withTempDir(async (dir) => {
      const names = ["python_pax", "gnu_tar_gnu", "gnu_tar_v7", "bsdtar_pax"];
      for (const name of FULL ? names : names.slice(0, 2)) {
        const { path } = tarCase(name);
        const copy = `${dir}/${name}`;
        fs.mkdirSync(copy);
        const tar = await output("tar", "xf", path, "-C", copy);
        assert.deepEqual([tar.stderr, tar.code], ["", 0]);
        await withMountpoint(async (mountpoint) => {
          await using _mounted = await mount(path, mountpoint);
          for (const mode of ["--no-dereference", "--"]) {
            const compared = await output("diff", "-r", mode, mountpoint, copy);
            // Broken links exist on both sides, and can't be followed on either.
            const lines = compared.stdout + compared.stderr;
            const rest = lines.split("\n").filter((line) =>
              line !== "" && !/dangling: No such file/.test(line)
            );
            assert.deepEqual(rest, [], name);
          }
          const times = async (directory: string) =>
            (await output(
              "sh",
              "-c",
              'cd "$1" && find . -type f -printf "%p %Ts %s\\n" | sort',
              "sh",
              directory,
            )).stdout;
          assert.equal(await times(mountpoint), await times(copy));
        });
      }
    }),
);

mountTest(
  "files with holes are read through a mount, and unreadable members report their error",
  () =>
    withTempDir(async (dir) => {
      const records = {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.realsize": "3000000",
      };
      const map = "2\n1000000\n3\n2999998\n2\n".padEnd(512, "\0");
      const members = [
        pax({ ...records, "GNU.sparse.name": "sparse" }),
        { name: "GNUSparseFile.0/sparse", data: `${map}abcde` },
        { name: "volume", type: "M", data: "1" },
        { type: "x", data: "damaged" },
        { name: "damaged", data: "1" },
        { name: "sound", data: "2" },
      ];
      fs.writeFileSync(`${dir}/t.tar`, tarBytes(members));
      const right = Buffer.alloc(3_000_000);
      right.write("abc", 1_000_000);
      right.write("de", 2_999_998);
      await withMountpoint(async (mountpoint) => {
        await using _mounted = await mount(`${dir}/t.tar`, mountpoint, {
          onWarning() {},
        });
        const { promises } = fs;
        const sparse = await promises.readFile(`${mountpoint}/sparse`);
        assert.ok(right.equals(sparse));
        const sound = await promises.readFile(`${mountpoint}/sound`, "utf8");
        assert.equal(sound, "2");
        for (
          const [name, says] of [
            ["volume", /Operation not supported/],
            ["damaged", /Input\/output error/],
          ] as const
        ) {
          const { stderr } = await output("cat", `${mountpoint}/${name}`);
          assert.match(stderr, says);
        }
      });
    }),
);

mountTest(
  "the header before a content is compared with a cached index by threads that serve a mount",
  () =>
    withTempDir(async (dir) => {
      const tar = `${dir}/t.tar`;
      const remote = { cache: { directory: `${dir}/cache` } };
      const one = memberBytes({ name: "0.txt", data: "0" });
      const others = Array.from({ length: 33_000 }, (_, i) =>
        memberBytes({ name: `${i + 1}.txt`, data: String(i + 1) }));
      fs.writeFileSync(
        tar,
        Buffer.concat([one, ...others, Buffer.alloc(1024)]),
      );
      fs.utimesSync(tar, 1_700_000_000, 1_700_000_000);
      (await open(tar, { remote })).close();
      const fd = fs.openSync(tar, "r+");
      const other = memberBytes({ name: "other.txt", data: "1" });
      fs.writeSync(fd, other, 0, other.length, 0);
      fs.closeSync(fd);
      fs.utimesSync(tar, 1_700_000_000, 1_700_000_000);
      await withMountpoint(async (mountpoint) => {
        await using _mounted = await mount(tar, mountpoint, { remote });
        const cat = (name: string) =>
          output("cat", `${mountpoint}/${name}`);
        assert.match((await cat("0.txt")).stderr, /Input\/output error/);
        assert.equal((await cat("1.txt")).stdout, "1");
        assert.equal((await cat("33000.txt")).stdout, "33000");
      });
    }),
);

mountTest(
  "a subset shows all files of its samples and no others",
  () =>
    withTempDir(async (dir) => {
      const { path } = tarCase("shards");
      using container = await open(path);
      fs.writeFileSync(`${dir}/subset`, "1\n7\n14\n");
      const tree = await arrangeTree(container.tree, {
        subset: `${dir}/subset`,
        shuffle: { seed: 1, firstEpoch: 0, epochs: 1 },
      }, container.info);
      await withMount(tree, {}, async ({ mountpoint }) => {
        const shown = await output(
          "sh",
          "-c",
          'cd "$1" && ls train*',
          "sh",
          mountpoint,
        );
        const files = (key: string) =>
          ["bin", "cls", "meta.json", "npy", "txt"].map((end) =>
            `${key}.${end}`
          );
        assert.deepEqual(
          shown.stdout.split("\n").filter((line) => /^\d/.test(line)),
          ["001", "007", "014"].flatMap(files),
        );
        // Each file has a link; those of one sample have the same index.
        const epoch = `${mountpoint}/epoch-0000`;
        const links = fs.readdirSync(epoch);
        assert.deepEqual(
          links.sort(),
          ["00000000", "00000001", "00000002"].flatMap(files),
        );
        const texts = (end: string) =>
          links.filter((name) => name.endsWith(end)).map((name) =>
            fs.readFileSync(`${epoch}/${name}`, "utf8")
          );
        const classes = texts(".cls");
        assert.deepEqual(classes.toSorted(), ["1", "14", "7"]);
        assert.deepEqual(
          texts(".txt"),
          classes.map((number) => `text of ${number}\n`),
        );
      });
    }),
);
