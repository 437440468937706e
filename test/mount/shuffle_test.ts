/** `mount --shuffle`: links in the order in which a loader reads an epoch. */
import assert from "node:assert/strict";
import { RandomSampler } from "../../src/data/samplers/whole_samplers.ts";
import { isMounted, type MountPlace } from "../cli/mount/mount_place.ts";
import { recordfsRefused } from "../cli/run_cli.ts";
import { datasetCase } from "../support/bags/bag_golden.ts";
import { numberName } from "../support/bags/bag_trees.ts";
import { goldenCase, sha256 } from "../support/golden.ts";
import { gulpCase } from "../support/gulp/gulp_golden.ts";
import { ffrHeader } from "../support/ffrecord/make_ffr.ts";
import { PYTHON } from "../support/programs/programs.ts";
import {
  found,
  killServer,
  mounted,
  output,
  test,
  writeIndices,
} from "./shown.ts";

/** Returns the indices of all samples in the order of an epoch. */
function orderOf(count: number, seed: number, epoch: number): number[] {
  const order = new RandomSampler(count).order(seed, epoch);
  return Array.from({ length: count }, (_, position) => order.at(position));
}

/** Returns the links of an epoch with these targets in order, as `name -> target`. */
function linksTo(targets: readonly string[]): string[] {
  return targets.map((target, position) => {
    const suffix = /[^./][^/]*(\.[^./]+)$/.exec(target)?.[1] ?? "";
    const number = String(position).padStart(8, "0");
    return `${number}${suffix} -> ../${target}`;
  });
}

/** Returns the links of a directory as `name -> target`, in the order of their names. */
async function linksIn(place: MountPlace, epoch: string): Promise<string[]> {
  const printed = await output(
    `${place.mountpoint}/${epoch}`,
    ...["find", ".", "-type", "l", "-printf", "%P -> %l\\0"],
  );
  return printed.split("\0").slice(0, -1).sort();
}

const packed = goldenCase("ffrecord/packed_tree");
const files = packed.content.entries.filter(({ type }) => type === "file");

test("links lead to the files of a packed folder in the order of each epoch", async (place) => {
  const args = ["--shuffle", "42", "--epoch", "3-5", packed.path];
  const { mountpoint } = place;
  await mounted(place, args, async () => {
    const seen = new Set<string>();
    for (const epoch of [3, 4, 5]) {
      const order = orderOf(files.length, 42, epoch);
      const links = await linksIn(place, `epoch-000${epoch}`);
      assert.deepEqual(links, linksTo(order.map((i) => files[i]!.path)));
      seen.add(links.join());
    }
    assert.equal(seen.size, 3);
    // The mount shows all files of the container as well.
    const all = await found(mountpoint, "f");
    assert.deepEqual(all, files.map(({ path }) => path).sort());
  });
});

test(
  "Python reads the files of a directory of links in the order of the epoch",
  async (place) => {
    const program = `
import hashlib, os, sys
for name in sorted(os.listdir(".")):
    with open(name, "rb") as file:
        data = file.read()
    assert os.path.getsize(name) == len(data)
    assert len(os.readlink(name).encode()) == os.lstat(name).st_size
    print(hashlib.sha256(data).hexdigest())
`;
    await mounted(place, ["--shuffle=7", packed.path], async () => {
      const epoch = `${place.mountpoint}/epoch-0000`;
      const printed = await output(epoch, PYTHON, "-c", program);
      const order = orderOf(files.length, 7, 0);
      assert.deepEqual(
        printed.trimEnd().split("\n"),
        order.map((i) => files[i]!.sha256),
      );
    });
  },
  "python3",
);

test("tar, readlink and cat read the links", async (place) => {
  const { path, content } = goldenCase("ffrecord/parts_dump");
  const order = orderOf(content.n, 1, 0);
  const names = order.map((i) => `${numberName(i)}.jpg`);
  await mounted(place, ["-o", "shuffle=1,ext=jpg", path], async () => {
    const { mountpoint, dir } = place;
    const epoch = `${mountpoint}/epoch-0000`;
    const first = await output(epoch, "readlink", "-f", "00000000.jpg");
    assert.equal(first, `${mountpoint}/${names[0]}\n`);
    await output(mountpoint, "tar", "-cf", `${dir}/links.tar`, "epoch-0000");
    await Deno.mkdir(`${dir}/out`);
    await output(`${dir}/out`, "tar", "-xf", `${dir}/links.tar`);
    for (const [position, name] of names.entries()) {
      const link = `${String(position).padStart(8, "0")}.jpg`;
      const copied = await Deno.readLink(`${dir}/out/epoch-0000/${link}`);
      assert.equal(copied, `../${name}`);
      const bytes = await Deno.readFile(`${epoch}/${link}`);
      assert.equal(sha256(bytes), content.samples[order[position]!]!.sha256);
    }
  });
}, "tar");

test("a name that is not a link of the epoch is not found", async (place) => {
  await mounted(place, ["--shuffle=7", packed.path], async () => {
    const epoch = `${place.mountpoint}/epoch-0000`;
    const [first] = await found(epoch, "l");
    for (
      const name of [`${first}x`, "0", "00000044", `0${first}`, "00000000.none"]
    ) {
      await assert.rejects(
        Deno.lstat(`${epoch}/${name}`),
        Deno.errors.NotFound,
      );
    }
    const other = `${place.mountpoint}/epoch-0001`;
    await assert.rejects(Deno.lstat(other), Deno.errors.NotFound);
    await assert.rejects(Deno.writeTextFile(`${epoch}/new`, ""), /os error 30/);
    await assert.rejects(Deno.remove(`${epoch}/${first}`), /os error 30/);
  });
});

test("links of a subset are a shuffle of the samples in its index file", async (place) => {
  const indices = [30, 2, 17, 5, 41, 6];
  const subset = await writeIndices(place, indices);
  const args = ["--subset", subset, "--shuffle", "9", packed.path];
  await mounted(place, args, async () => {
    const kept = indices.map((i) => files[i]!.path);
    const order = orderOf(indices.length, 9, 0);
    assert.deepEqual(
      await linksIn(place, "epoch-0000"),
      linksTo(order.map((i) => kept[i]!)),
    );
    assert.deepEqual(await found(place.mountpoint, "f"), kept.toSorted());
  });
});

test("links lead to the directories of videos", async (place) => {
  const { path, content } = gulpCase("v2_chunks");
  const { videos } = content;
  await mounted(place, ["--shuffle=3", "--workers=1", path], async () => {
    const order = orderOf(videos.length, 3, 0);
    const links = await linksIn(place, "epoch-0000");
    assert.deepEqual(links, linksTo(order.map((i) => videos[i]!.id)));
    const { frames } = videos[order[0]!]!;
    const frame = `${place.mountpoint}/epoch-0000/00000000/frame_0001.jpg`;
    assert.equal(sha256(await Deno.readFile(frame)), frames[0]!.sha256);
  });
});

test("links lead to the datapoints of all shards, and survive the death of a server", async (place) => {
  const { path, content } = datasetCase("bags/sharded");
  const datapoints = content!.shards.flatMap(({ name, length }) =>
    Array.from({ length }, (_, i) => `${name}/${numberName(i)}`)
  );
  const { mountpoint, recordfs } = place;
  await mounted(place, ["--shuffle=3", "--epoch=8", path], async () => {
    const order = orderOf(datapoints.length, 3, 8);
    const expected = linksTo(order.map((i) => datapoints[i]!));
    assert.deepEqual(await linksIn(place, "epoch-0008"), expected);
    await killServer(place);
    await output(mountpoint, "sh", "-c", "echo 2 >/proc/sys/vm/drop_caches");
    assert.deepEqual(await linksIn(place, "epoch-0008"), expected);
    for (const args of [["--shuffle=4", "--epoch=8"], ["--shuffle=3"], []]) {
      const ran = await recordfs(
        ...["mount", "--replace", ...args, path, mountpoint],
      );
      assert.match(ran.stderr, /--shuffle cannot change/);
      assert.equal(ran.code, 1);
    }
    const same = await recordfs(
      ...["mount", "--replace", "-o", "shuffle=3,epoch=8", path, mountpoint],
    );
    assert.deepEqual([same.stderr, same.code], ["", 0]);
  });
});

test("a link to a damaged, skipped video is an I/O error, and the others are right", async (place) => {
  const { path, content } = gulpCase("v2_bad_frame_beyond_end");
  const { videos } = content;
  const bad = videos.findIndex(({ error }) => error !== undefined);
  await mounted(place, ["--shuffle=2", path], async () => {
    for (const [position, i] of orderOf(videos.length, 2, 0).entries()) {
      const link = `${place.mountpoint}/epoch-0000/0000000${position}`;
      if (i === bad) await assert.rejects(Deno.readLink(link), /os error 5/);
      else assert.equal(await Deno.readLink(link), `../${videos[i]!.id}`);
    }
  }, /^recordfs: warning: Skipped: .*frame out of range[^\n]*\n$/);
});

test("of two million samples, any link is found at once", async (place) => {
  const count = 2_000_000;
  const source = `${place.dir}/many.ffr`;
  const none = new Uint32Array(count);
  await Deno.writeFile(source, ffrHeader(Array.from(none), Array.from(none)));
  const last = 9_999; // 2 * 10^10 links
  const args = ["--shuffle=5", `--epoch=0-${last}`, source];
  await mounted(place, args, async () => {
    const order = new RandomSampler(count).order(5, last);
    for (const position of [0, 1, 999_999, count - 1]) {
      const link = `${place.mountpoint}/epoch-${last}/${
        String(position).padStart(8, "0")
      }`;
      const target = `../${String(order.at(position)).padStart(7, "0")}`;
      assert.equal(await Deno.readLink(link), target);
      assert.equal((await Deno.stat(link)).size, 0);
    }
    const names = await output(
      `${place.mountpoint}/epoch-0077`,
      ...["sh", "-c", "ls -U | head -3"],
    );
    assert.equal(names, "00000000\n00000001\n00000002\n");
  });
});

test("an entry of the container with the name of an epoch is not hidden", async (place) => {
  const folder = `${place.dir}/folder`;
  await Deno.mkdir(`${folder}/epoch-0002`, { recursive: true });
  await Deno.writeTextFile(`${folder}/epoch-0002/file`, "text");
  const source = `${place.dir}/taken.ffr`;
  assert.equal((await place.recordfs("pack", folder, source)).code, 0);
  const { stderr, code } = await place.recordfs(
    ...["mount", "--shuffle=1", "--epoch=0-4", source, place.mountpoint],
  );
  assert.match(stderr, /^recordfs: .*'epoch-0002'.*\n$/);
  assert.equal(code, 1);
  assert.equal(await isMounted(place.mountpoint), false);
  await mounted(place, ["--shuffle=1", source], async () => {
    const links = await linksIn(place, "epoch-0000");
    assert.deepEqual(links, linksTo(["epoch-0002/file"]));
  });
});

test("invalid seeds and epochs are usage errors", async (place) => {
  const wrong: [string[], RegExp][] = [
    [["--shuffle", "x"], /--shuffle x: .*whole number/],
    [["--shuffle=-1"], /--shuffle -1/],
    [["--shuffle=1.5"], /--shuffle 1\.5/],
    [["--shuffle=9007199254740992"], /--shuffle 9007199254740992/],
    [["--shuffle="], /--shuffle/],
    [["--epoch=1"], /--epoch needs --shuffle SEED/],
    [["--shuffle=1", "--epoch=2-1"], /--epoch 2-1/],
    [["--shuffle=1", "--epoch=0-10000"], /--epoch 0-10000/],
    [["--shuffle=1", "--epoch=a"], /--epoch a/],
    [["-o", "shuffle=x"], /--shuffle x/],
  ];
  for (const [args, words] of wrong) {
    const { stderr, code } = await recordfsRefused(
      ["mount", ...args, packed.path, place.mountpoint],
    );
    assert.match(stderr, words);
    assert.match(stderr, /^recordfs: [^\n]+\n$/);
    assert.equal(code, 2);
  }
});
