/** `mount` of several containers in one tree, and of a part of a tree. */
import assert from "node:assert/strict";
import { mount } from "../../fuse/mount_container.ts";
import { open } from "../../src/open/open.ts";
import { assertFailed, recordfsRefused, run } from "../cli/run_cli.ts";
import { isMounted, type MountPlace, until } from "../cli/mount/mount_place.ts";
import { datasetCase } from "../support/bags/bag_golden.ts";
import { ffrBytes, packedSamples } from "../support/ffrecord/make_ffr.ts";
import { goldenCase } from "../support/golden.ts";
import { gulpCase } from "../support/gulp/gulp_golden.ts";
import { LONG } from "../support/long.ts";
import { record } from "./numbers_mount.ts";
import {
  found,
  killServer,
  mounted,
  output,
  test,
  writeIndices,
} from "./shown.ts";

const packed = goldenCase("ffrecord/packed_tree").path;
const gulp = gulpCase("v2_image_list").path;
const sharded = datasetCase("bags/sharded").path;
const lists = datasetCase("granular/lists").path;

/** Local sources that stay open, and sources that are opened on demand, in mixed order. */
const SEVERAL = [
  sharded,
  `${packed}=train/b`,
  `${gulp}/=train/videos`,
  `${lists}=lists`,
  `${packed}=again`,
];

/** Path of each container in the mount, and its location. */
const SHOWN: readonly [path: string, location: string][] = [
  [sharded.split("/").at(-1)!, sharded],
  ["train/b", packed],
  ["train/videos", gulp],
  ["lists", lists],
  ["again", packed],
];

/** Extracts each container to the path that it has in the mount. */
async function extractAll(
  { recordfs }: MountPlace,
  dir: string,
): Promise<void> {
  for (const [path, location] of SHOWN) {
    await Deno.mkdir(`${dir}/${path}`, { recursive: true });
    const ran = await recordfs("extract", location, `${dir}/${path}`);
    assert.deepEqual([ran.stderr, ran.code], ["", 0]);
  }
}

/** Returns what `diff -r` prints for two directories. */
async function differences(a: string, b: string): Promise<string> {
  const ran = await run(["diff", "-r", a, b]);
  return ran.stdout + ran.stderr;
}

/** Returns the inode number, kind and size of everything below a directory. */
async function inodes(dir: string): Promise<string[]> {
  const format = "%i %y %s %P\\0";
  const printed = await output(dir, "find", ".", "-printf", format);
  return printed.split("\0").sort();
}

test(
  "several containers are shown in one tree, each as by itself",
  async (place) => {
    const { mountpoint, dir } = place;
    await Deno.mkdir(`${dir}/apart`);
    await extractAll(place, `${dir}/apart`);
    let before: string[] = [];
    await mounted(place, SEVERAL, async () => {
      assert.equal(await differences(`${dir}/apart`, mountpoint), "");
      const names = (await output(mountpoint, "ls", "-UA")).trimEnd().split(
        "\n",
      );
      assert.deepEqual(names, [SHOWN[0]![0], "train", "lists", "again"]);
      before = await inodes(mountpoint);
      const { isDirectory, mode, size } = await Deno.stat(
        `${mountpoint}/train`,
      );
      assert.deepEqual([isDirectory, mode! & 0o777, size], [true, 0o755, 0]);
      await output(mountpoint, "tar", "-cf", `${dir}/all.tar`, ".");
      await Deno.mkdir(`${dir}/out`);
      await output(`${dir}/out`, "tar", "-xf", `${dir}/all.tar`);
      assert.equal(await differences(`${dir}/apart`, `${dir}/out`), "");
      const listed = await place.listed();
      assert.deepEqual(
        listed?.sources,
        SHOWN.map(([path, location]) => ({ location, path })),
      );
      assert.equal(listed?.source, SHOWN.map(([, one]) => one).join(":"));
    });
    await mounted(place, SEVERAL, async () => {
      assert.deepEqual(await inodes(mountpoint), before);
    });
  },
  "tar",
);

test("a union survives its server, and another one takes over", async (place) => {
  const { mountpoint, recordfs } = place;
  await mounted(place, [...SEVERAL, "--workers=2"], async () => {
    const before = await inodes(mountpoint);
    const content = await sums(mountpoint);
    const held = await Deno.open(`${mountpoint}/train/b/...`);
    await killServer(place);
    assert.deepEqual(await inodes(mountpoint), before);
    assert.deepEqual(await sums(mountpoint), content);
    assert.equal((await held.stat()).size, 28);
    held.close();
    const replaced = await recordfs(
      ...["mount", "--replace", "--workers=1", ...SEVERAL, mountpoint],
    );
    assert.deepEqual([replaced.stderr, replaced.code], ["", 0]);
    assert.deepEqual(await inodes(mountpoint), before);
    assert.deepEqual(await sums(mountpoint), content);
    const others = [
      SEVERAL.toReversed(),
      SEVERAL.slice(1),
      [...SEVERAL.slice(1), `${sharded}=elsewhere`],
    ];
    for (const given of LONG ? others : others.slice(0, 1)) {
      const ran = await recordfs("mount", "--replace", ...given, mountpoint);
      assertFailed(ran, 1, /the mounted container is .*sample_10\.ffr/);
    }
    const prefixed = await recordfs(
      ...["mount", "--replace", "--prefix=train", ...SEVERAL, mountpoint],
    );
    assertFailed(prefixed, 1, /--prefix cannot change/);
    assert.deepEqual(await inodes(mountpoint), before);
  });
});

/** Returns the checksums of all files below a directory, in the order of a walk. */
function sums(dir: string): Promise<string> {
  return output(dir, "find", ".", "-type", "f", "-exec", "md5sum", "{}", "+");
}

test("a union with a changed container is reported as changed, and dies with its server", async (place) => {
  const { dir, mountpoint, recordfs } = place;
  await Deno.copyFile(packed, `${dir}/second.ffr`);
  const ran = await recordfs("mount", lists, `${dir}/second.ffr`, mountpoint);
  assert.deepEqual([ran.stderr, ran.code], ["", 0]);
  await until(async () => (await record(place)).supervised.resumable);
  assert.equal((await place.listed())?.state, "ok");
  const { pid, log } = await record(place);
  await Deno.copyFile(packed, `${dir}/other`);
  await Deno.rename(`${dir}/other`, `${dir}/second.ffr`);
  assert.equal((await place.listed())?.state, "changed");
  Deno.kill(pid, "SIGKILL");
  await until(async () => (await place.listed())?.state === "dead");
  await until(async () =>
    /one of them was changed or replaced/.test(await Deno.readTextFile(log))
  );
});

test("a wrong byte never leaves a union: damage is an I/O error, and the rest is readable", async (place) => {
  const { dir, mountpoint } = place;
  const large = new Uint8Array(3_000_000).fill(7);
  const small = new TextEncoder().encode("small");
  const bytes = ffrBytes(packedSamples({ large, other: large, small }));
  const good = `${dir}/good.ffr`;
  await Deno.writeFile(good, bytes);
  bytes[bytes.indexOf(0x73, 3_000_000)]! ^= 1; // a byte of "small"
  bytes[200_000]! ^= 1; // a byte of the first large file
  await Deno.writeFile(`${dir}/bad.ffr`, bytes);
  const given = [lists, good, `${dir}/bad.ffr`, sharded];
  await mounted(place, given, async () => {
    for (const name of ["large", "other", "small"]) {
      const read = await Deno.readFile(`${mountpoint}/good/${name}`);
      assert.deepEqual(read, name === "small" ? small : large);
    }
    for (const name of ["large", "small"]) {
      const env = { LC_ALL: "C" };
      const ran = await run(["cat", `${mountpoint}/bad/${name}`], { env });
      assert.match(ran.stderr, /Input\/output error/);
    }
    assert.deepEqual(await Deno.readFile(`${mountpoint}/bad/other`), large);
    const { log: path } = await record(place);
    let log = "";
    await until(async () => {
      log = await Deno.readTextFile(path);
      return /sample 0 of .*bad\.ffr: checksum mismatch /.test(log) &&
        /sample 2 of .*bad\.ffr: checksum mismatch /.test(log);
    });
    assert.doesNotMatch(log, /good\.ffr: /);
  });
});

test("a path with an equals sign is a path if it exists, and names and paths may contain equals signs", async (place) => {
  const { dir, mountpoint } = place;
  await Deno.mkdir(`${dir}/k=v`);
  await Deno.copyFile(packed, `${dir}/k=v/a=b.ffr`);
  const given = `${dir}/k=v/a=b.ffr`;
  await mounted(place, [given], async () => {
    assert.equal(await differences(mountpoint, mountpoint), "");
    assert.ok((await Deno.stat(`${mountpoint}/words`)).isDirectory);
    if (!LONG) return; // the mount of several, below, tests the same
    await killServer(place);
    assert.ok((await Deno.stat(`${mountpoint}/deep`)).isDirectory);
  });
  await mounted(place, [given, `${given}=x=y`, `${given}=z`], async () => {
    assert.equal(await output(mountpoint, "ls", "-UA"), "a=b\nx=y\nz\n");
    await Deno.mkdir(`${given}=z`); // files that appear later change nothing
    await killServer(place);
    assert.equal(await output(mountpoint, "ls", "-UA"), "a=b\nx=y\nz\n");
    assert.equal(
      await differences(`${mountpoint}/x=y`, `${mountpoint}/z`),
      "",
    );
  });
  await mounted(place, [`${given}=only`], async () => {
    assert.equal(await output(mountpoint, "ls", "-A"), "only\n");
  });
});

test("--prefix shows a part of one container or of several, with every server", async (place) => {
  const { mountpoint, recordfs, dir } = place;
  await Deno.mkdir(`${dir}/apart`);
  await extractAll(place, `${dir}/apart`);
  const cases: [args: string[], path: string][] = [
    [["--prefix", "words", packed], "again/words"],
    [["-o", "prefix=/deep/", packed], "again/deep"],
    [["--prefix=train", ...SEVERAL], "train"],
    [["--prefix=train/b/words", ...SEVERAL], "train/b/words"],
    [["--prefix", "000001", sharded], `${SHOWN[0]![0]}/000001`],
  ];
  // On a quick run, one case of each form: one container and several, the option and -o.
  for (const [args, path] of LONG ? cases : cases.slice(1, 3)) {
    await mounted(place, args, async () => {
      assert.equal(await differences(`${dir}/apart/${path}`, mountpoint), "");
      assert.equal((await Deno.stat(mountpoint)).ino, 1);
      if (path !== "train" && path !== "again/deep") return;
      const before = await inodes(mountpoint);
      await killServer(place);
      assert.deepEqual(await inodes(mountpoint), before);
      assert.equal(await differences(`${dir}/apart/${path}`, mountpoint), "");
    });
  }
  const fail = async (words: RegExp, ...args: string[]) => {
    const ran = await recordfs("mount", ...args, mountpoint);
    assertFailed(ran, 1, words);
    assert.equal(await isMounted(mountpoint), false);
  };
  await fail(
    /'none' in .*sample_10\.ffr: there is no such/,
    "--prefix=none",
    packed,
  );
  await fail(/it is a file, not a directory/, "--prefix", "...", packed);
  await fail(/'train\/c'.*: there is no such/, "--prefix=train/c", ...SEVERAL);
});

test("a subset of a union counts through its containers, and links lead into each", async (place) => {
  const { mountpoint, dir } = place;
  const given = [`${packed}=z`, `${gulp}=y/videos`, `${lists}=a`];
  const fs = await open(packed);
  const files = [...fs.walkSync()].filter(({ isFile }) => isFile);
  fs.close();
  const videos = gulpCase("v2_image_list").content.videos;
  const datapoints = datasetCase("granular/lists").content!.shards[0]!.length;
  const total = files.length + videos.length + datapoints;
  const chosen = [1, files.length + 2, files.length + videos.length];
  const subset = await writeIndices(place, chosen);
  const shown = [
    `z/${files[1]!.path}`,
    `y/videos/${videos[2]!.id}`,
    "a/000000",
  ];
  await mounted(place, ["--subset", subset, ...given], async () => {
    for (const path of shown) await Deno.stat(`${mountpoint}/${path}`);
    assert.deepEqual(
      await found(`${mountpoint}/z`, "f"),
      [files[1]!.path],
    );
    assert.deepEqual(
      await found(`${mountpoint}/y/videos`, "d"),
      [videos[2]!.id],
    );
    assert.ok(!(await found(`${mountpoint}/a`, "d")).includes("000001"));
  });
  const shuffle = ["--shuffle=5", "--epoch=1-2"];
  await mounted(place, [...shuffle, ...given], async () => {
    for (const epoch of ["epoch-0001", "epoch-0002"]) {
      const targets = await targetsOf(`${mountpoint}/${epoch}`);
      assert.equal(targets.length, total);
      assert.equal(new Set(targets).size, total);
      for (const path of shown) assert.ok(targets.includes(`../${path}`));
      for (const target of targets) {
        await Deno.stat(`${mountpoint}/${epoch}/${target}`);
      }
    }
    const before = await inodes(mountpoint);
    await killServer(place);
    assert.deepEqual(await inodes(mountpoint), before);
  });
  await mounted(place, ["--subset", subset, ...shuffle, ...given], async () => {
    const targets = await targetsOf(`${mountpoint}/epoch-0001`);
    assert.deepEqual(
      targets.toSorted(),
      shown.map((path) => `../${path}`).sort(),
    );
  });
  await Deno.writeTextFile(`${dir}/indices`, `${total}\n`);
  const ran = await place.recordfs(
    ...["mount", "--subset", `${dir}/indices`, ...given, mountpoint],
  );
  assertFailed(ran, 1, new RegExp(`${total}`));
});

/** Returns the targets of the links in a directory. */
async function targetsOf(dir: string): Promise<string[]> {
  const printed = await output(
    dir,
    "find",
    ".",
    "-type",
    "l",
    "-printf",
    "%l\\0",
  );
  return printed.split("\0").slice(0, -1);
}

test("containers that cannot be in one tree are a usage error", async (place) => {
  const { mountpoint, recordfs, dir } = place;
  const fail = async (code: number, words: RegExp, ...args: string[]) => {
    const ran = code === 2
      ? await recordfsRefused(["mount", ...args])
      : await recordfs("mount", ...args);
    assertFailed(ran, code, words);
    assert.match(ran.stderr, /^recordfs: [^\n]+\n$/);
    assert.equal(await isMounted(mountpoint), false);
  };
  await fail(
    2,
    /Cannot show both .* in 'sample_10'/,
    packed,
    packed,
    mountpoint,
  );
  await fail(
    2,
    /'a\/b': that is inside .*data in 'a'/,
    ...[`${packed}=a/b`, `${lists}=a`, mountpoint],
  );
  await fail(2, /'\.\.' is not allowed/, `${packed}=../a`, lists, mountpoint);
  await fail(2, /after the equals sign is empty/, `${packed}=`, mountpoint);
  await fail(2, /path of the container is empty/, packed, "", mountpoint);
  await fail(2, /missing required argument 'mountpoint'/, packed);
  await fail(1, /none\.ffr/, packed, `${dir}/none.ffr`, mountpoint);
  await fail(1, /none\.ffr/, "-f", packed, `${dir}/none.ffr`, mountpoint);
  await fail(1, /none\.ffr=a/, packed, `${dir}/none.ffr=a`, mountpoint);
  await Deno.mkdir(`${dir}/data`);
  await Deno.copyFile(packed, `${dir}/data/a.ffr`);
  await Deno.mkdir(`${dir}/data/inside`);
  await fail(1, /inside/, packed, `${dir}/data`, `${dir}/data/inside`);
});

test("the API mounts several by their paths, and already opened ones", async ({ dir, mountpoint }) => {
  const given = SHOWN.map(([path, location]) => ({ location, path }));
  {
    await using _mount = await mount(given, mountpoint);
    assert.ok((await Deno.stat(`${mountpoint}/train/b/words`)).isDirectory);
  }
  using fs = await open(given, { prefix: "train" });
  {
    await using _mount = await mount(fs, mountpoint);
    assert.equal(await output(mountpoint, "ls", "-UA"), "b\nvideos\n");
  }
  await Deno.copyFile(packed, `${mountpoint}/a.ffr`);
  await assert.rejects(
    mount([lists, `${mountpoint}/a.ffr`], mountpoint),
    /would hide .*a\.ffr/,
  );
  await Deno.remove(`${mountpoint}/a.ffr`);
  await Deno.mkdir(`${dir}/made`);
  await assert.rejects(
    mount([packed, packed], `${dir}/made`),
    /Cannot show both .* in 'sample_10'/,
  );
});
