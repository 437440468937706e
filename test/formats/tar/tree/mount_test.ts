/** Mounted tars beside what tar makes of them. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { mount } from "../../../../fuse/mod.ts";
import { arrangeTree } from "../../../../src/data/trees/arrange_tree.ts";
import { open } from "../../../../src/vfs/mod.ts";
import { FULL } from "../../../support/long.ts";
import { withTempDir } from "../../../support/paths.ts";
import { tarCase } from "../../../support/tar/tar_golden.ts";
import {
  mountTest,
  output,
  withMount,
  withMountpoint,
} from "../../../fuse/support/mounting.ts";

mountTest(
  "a mounted tar is what tar extracts, links included",
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
            // A link to nothing is there on both sides, and can't be followed on either.
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
  "shards are directories, named as they are",
  () =>
    withMountpoint(async (mountpoint) => {
      const { path } = tarCase("shards");
      await using _mounted = await mount(path, mountpoint);
      assert.deepEqual(fs.readdirSync(mountpoint).sort(), [
        ...["train-000000", "train-000001", "train-000002"],
      ]);
      const text = fs.readFileSync(
        `${mountpoint}/train-000002/014.txt`,
        "utf8",
      );
      assert.equal(text, "text of 14\n");
    }),
);

mountTest(
  "of a subset, all files of its samples show and no others",
  () =>
    withTempDir(async (dir) => {
      const { path } = tarCase("shards");
      using container = await open(path);
      fs.writeFileSync(`${dir}/subset`, "1\n7\n14\n");
      const tree = await arrangeTree(container.tree, {
        subset: `${dir}/subset`,
        shuffle: { seed: 1, firstEpoch: 0, epochs: 1 },
      });
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
        // Each of their files has a link, all of one sample with one number.
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
