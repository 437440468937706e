/** `mount --subset`: shows only the samples that an index file names. */
import assert from "node:assert/strict";
import { run } from "../cli/run_cli.ts";
import { datasetCase } from "../support/bags/bag_golden.ts";
import { filesOf, numberName } from "../support/bags/bag_trees.ts";
import { goldenCase, sha256 } from "../support/golden.ts";
import { gulpCase } from "../support/gulp/gulp_golden.ts";
import { isMounted, until } from "../cli/mount/mount_place.ts";
import { record } from "./numbers_mount.ts";
import {
  found,
  killServer,
  mounted,
  output,
  test,
  writeIndices,
} from "./shown.ts";

test("a mount shows the chosen FFRecord samples, with their content", async (place) => {
  const { path, content } = goldenCase("ffrecord/plain_sizes");
  const kept = content.samples.filter(({ index }) => index % 3 === 1);
  assert.ok(kept.length > 1);
  const indices = await writeIndices(place, kept.map(({ index }) => index));
  const { mountpoint } = place;
  await mounted(place, ["--subset", indices, "--ext=bin", path], async () => {
    const names = kept.map(({ index }) => `${numberName(index)}.bin`);
    assert.deepEqual(await found(mountpoint, "f"), names);
    for (const [i, { size, sha256: expected }] of kept.entries()) {
      const { bytes } = await run(["cat", `${mountpoint}/${names[i]}`]);
      assert.deepEqual([bytes.length, sha256(bytes)], [size, expected]);
    }
    for (const { index } of content.samples) {
      if (index % 3 === 1) continue;
      const hidden = `${mountpoint}/${numberName(index)}.bin`;
      await assert.rejects(Deno.lstat(hidden), Deno.errors.NotFound);
    }
  });
});

test(
  "of a packed folder, directories without chosen files are hidden, and tar has the rest",
  async (place) => {
    const { path, content } = goldenCase("ffrecord/packed_tree");
    const files = content.entries.filter(({ type }) => type === "file");
    const kept = files.filter(({ path }, i) =>
      i % 4 === 0 || path.startsWith("deep/")
    );
    const above = new Set(kept.flatMap(({ path }) => {
      const parts = path.split("/").slice(0, -1);
      return parts.map((_, i) => parts.slice(0, i + 1).join("/"));
    }));
    const directories = content.entries.filter(({ type }) => type === "dir");
    assert.ok(above.size > 3 && above.size < directories.length);
    const { mountpoint } = place;
    const subset = await writeIndices(
      place,
      kept.map((file) => files.indexOf(file)).reverse(),
    );
    await mounted(place, [`--subset=${subset}`, path], async () => {
      assert.deepEqual(await found(mountpoint, "d"), [...above].sort());
      assert.deepEqual(
        await found(mountpoint, "f"),
        kept.map(({ path }) => path).sort(),
      );
      await output(mountpoint, "tar", "-cf", `${place.dir}/all.tar`, ".");
      await Deno.mkdir(`${place.dir}/out`);
      await output(`${place.dir}/out`, "tar", "-xf", `${place.dir}/all.tar`);
      for (const { path, size, sha256: expected } of kept) {
        const bytes = await Deno.readFile(`${place.dir}/out/${path}`);
        assert.deepEqual([bytes.length, sha256(bytes)], [size, expected]);
      }
    });
  },
  "tar",
);

test("of a gulp directory, chosen videos are shown whole, with the file of labels", async (place) => {
  const { path, content } = gulpCase("v2_image_list");
  const kept = [4, 1];
  const subset = await writeIndices(place, kept);
  await mounted(place, ["--subset", subset, path], async () => {
    const videos = kept.map((i) => content.videos[i]!);
    const files = videos.flatMap(({ id, num_frames: count }) => [
      `${id}/meta.json`,
      ...Array.from(
        { length: count },
        (_, i) => `${id}/frame_${String(i + 1).padStart(4, "0")}.jpg`,
      ),
    ]);
    const names = ["label2idx.json", ...files].sort();
    assert.deepEqual(await found(place.mountpoint, "f"), names);
    for (const { id, frames } of videos) {
      const first = `${place.mountpoint}/${id}/frame_0001.jpg`;
      const bytes = await Deno.readFile(first);
      assert.equal(sha256(bytes), frames[0]!.sha256);
    }
  });
});

test("of a sharded dataset, datapoints are counted across its shards", async (place) => {
  const { path, content } = datasetCase("bags/sharded");
  const all = content!.shards.flatMap(({ name, length }) =>
    Array.from({ length }, (_, i) => `${name}/${numberName(i)}`)
  );
  const last = content!.shards.at(-1)!;
  // No datapoint of the first shard, and all of the last one.
  const kept = [
    content!.shards[0]!.length,
    ...Array.from(
      { length: last.length },
      (_, i) => all.length - last.length + i,
    ),
  ];
  const subset = await writeIndices(place, kept);
  await mounted(place, ["--subset", subset, path], async () => {
    const shown = kept.map((i) => all[i]!);
    const files = [...filesOf(content!)].filter(([path]) =>
      shown.some((datapoint) => path.startsWith(`${datapoint}/`))
    );
    const specs = new Set(shown.map((path) => path.replace(/\/.*/, "")));
    assert.ok(specs.size < content!.shards.length);
    assert.deepEqual(
      await found(place.mountpoint, "f"),
      [
        ...files.map(([path]) => path),
        ...[...specs].map((shard) => `${shard}/spec.json`),
      ].sort(),
    );
    for (const [path, { sha256: expected }] of files) {
      const bytes = await Deno.readFile(`${place.mountpoint}/${path}`);
      assert.equal(sha256(bytes), expected);
    }
  });
});

test("a mount of no samples is empty", async (place) => {
  const subset = await writeIndices(place, []);
  const { path } = goldenCase("ffrecord/packed_tree");
  await mounted(place, ["--subset", subset, path], async () => {
    assert.equal(await output(place.mountpoint, "ls", "-A"), "");
  });
});

test("-o subset= does the same as --subset, and a server that takes over shows the same", async (place) => {
  const { path } = goldenCase("ffrecord/plain_many");
  const subset = await writeIndices(place, [2, 40, 7]);
  const { mountpoint, recordfs } = place;
  const names = [2, 7, 40].map(numberName);
  await mounted(place, ["-o", `ro,subset=${subset}`, path], async () => {
    assert.deepEqual(await found(mountpoint, "f"), names);
    const held = await Deno.open(`${mountpoint}/${names[1]}`);
    await killServer(place);
    assert.deepEqual(await found(mountpoint, "f"), names);
    await held.stat();
    held.close();
    const replaced = await recordfs(
      ...["mount", "--replace", "--workers=1", "--subset", subset],
      ...[path, mountpoint],
    );
    assert.deepEqual([replaced.stderr, replaced.code], ["", 0]);
    assert.deepEqual(await found(mountpoint, "f"), names);
    const whole = await recordfs("mount", "--replace", path, mountpoint);
    assert.match(whole.stderr, /--subset cannot change/);
    assert.equal(whole.code, 1);
    await writeIndices(place, [2, 7, 41]);
    const other = await recordfs(
      ...["mount", "--replace", "--subset", subset, path, mountpoint],
    );
    assert.match(
      other.stderr,
      /the mounted container is .* with .*indices\. Unmount it/,
    );
    assert.deepEqual(await found(mountpoint, "f"), names);
  });
});

test("a mount whose index file was changed dies with its server, and reports why", async (place) => {
  const { path } = goldenCase("ffrecord/plain_many");
  const subset = await writeIndices(place, [2, 7]);
  const { mountpoint, recordfs } = place;
  const ran = await recordfs("mount", "--subset", subset, path, mountpoint);
  assert.deepEqual([ran.stderr, ran.code], ["", 0]);
  await until(async () => (await record(place)).supervised.resumable);
  const { pid, log } = await record(place);
  await writeIndices(place, [2, 7, 9]);
  assert.equal((await place.listed())?.state, "changed");
  Deno.kill(pid, "SIGKILL");
  await until(async () => (await place.listed())?.state === "dead");
  await until(async () =>
    /it or its index file .*indices was changed/.test(
      await Deno.readTextFile(log),
    )
  );
});

test("an invalid index file is reported, and nothing is mounted", async (place) => {
  const { path, content } = goldenCase("ffrecord/plain_many");
  const { mountpoint, recordfs, dir } = place;
  const fail = async (code: number, words: RegExp, ...args: string[]) => {
    const ran = await recordfs("mount", ...args, path, mountpoint);
    assert.match(ran.stderr, words);
    assert.match(ran.stderr, /^recordfs: [^\n]+\n$/);
    assert.equal(ran.code, code);
    assert.equal(await isMounted(mountpoint), false);
  };
  await fail(1, /missing.*no such file/i, "--subset", `${dir}/missing`);
  const subset = await writeIndices(place, [0, content.n]);
  const line = new RegExp(`indices.*\\b4\\b.*${content.n}`); // after two header lines
  await fail(1, line, "--subset", subset);
  await fail(1, line, "-f", "--subset", subset);
  await Deno.writeTextFile(subset, "1\ntwo\n");
  await fail(
    1,
    /indices, line 2: not an index file: expected one whole number per line/,
    "--subset",
    subset,
  );
  await fail(2, /path of the index file is empty/, "--subset=");
  await fail(2, /-o subset= needs a value/, "-o", "subset=");
});
