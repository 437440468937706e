/** `recordfs index`: what it writes, where, for whom, and what remains if it is killed. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { withTempDir } from "../../support/paths.ts";
import { needs, PYTHON } from "../../support/programs/programs.ts";
import { serving } from "../../support/remote/serving.ts";
import { paxRecords, tarBytes } from "../../support/tar/make_tar.ts";
import { fileOf, framed } from "../../support/tfrecord/make_tfrecord.ts";
import { open } from "../../../src/open/open.ts";
import { recordfs } from "../run_cli.ts";

const INDEX = ".recordfs-index";
const TAR = tarBytes([{ name: "a.txt", data: "1" }, {
  name: "b.txt",
  data: "",
}]);

Deno.test("writes an index next to each shard, or where -o says, and says so", () =>
  withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/s`);
    fs.mkdirSync(`${dir}/out`);
    for (const name of ["a.tar", "b.tar"]) {
      fs.writeFileSync(`${dir}/s/${name}`, TAR);
    }
    const { code, stdout } = await recordfs(["index", `${dir}/s`]);
    assert.deepEqual([code, stdout.split("\n").length], [0, 3]);
    assert.match(
      stdout,
      /a\.tar\.recordfs-index: index of .*a\.tar, 2 entries, \d+ bytes\n/,
    );
    assert.deepEqual(fs.readdirSync(`${dir}/s`).sort(), [
      "a.tar",
      `a.tar${INDEX}`,
      "b.tar",
      `b.tar${INDEX}`,
    ]);
    // The directory is still one of two shards, and an index is made again over the one that is there.
    const again = await recordfs(["index", `${dir}/s`, "--json"]);
    const { written } = JSON.parse(again.stdout);
    assert.deepEqual(written.map(({ path }: { path: string }) => path), [
      `${dir}/s/a.tar${INDEX}`,
      `${dir}/s/b.tar${INDEX}`,
    ]);
    await recordfs(["index", `${dir}/s`, "-o", `${dir}/out`]);
    assert.deepEqual(
      fs.readFileSync(`${dir}/out/b.tar${INDEX}`),
      fs.readFileSync(`${dir}/s/b.tar${INDEX}`),
    );
    const one = await recordfs(["index", `${dir}/s`, "-o", `${dir}/none`]);
    assert.equal(one.code, 1);
    assert.match(
      one.stderr,
      /Cannot write 2 indexes to .*none: it is no directory/,
    );
    assert.ok(!fs.existsSync(`${dir}/none`));
  }));

Deno.test("replaces no file that is no index, and writes none to a server", () =>
  serving(async ({ dir, server }) => {
    fs.writeFileSync(`${dir}/x.tar`, TAR);
    fs.writeFileSync(`${dir}/mine`, "mine");
    const args = ["index", `${dir}/x.tar`, "-o", `${dir}/mine`];
    const refused = await recordfs(args);
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /Cannot write .*mine: it exists\. Replace it with --force/,
    );
    assert.equal(fs.readFileSync(`${dir}/mine`, "utf8"), "mine");
    assert.equal((await recordfs([...args, "--force"])).code, 0);
    assert.equal((await recordfs(args)).code, 0);
    const url = `${server.url}/x.tar`;
    const far = await recordfs(["index", url, "--no-cache"]);
    assert.equal(far.code, 1);
    assert.match(
      far.stderr,
      /it is on a server\. Write it elsewhere with --output/,
    );
    const here = ["index", url, "--no-cache", "-o", `${dir}/x.tar${INDEX}`];
    assert.equal((await recordfs(here)).code, 0);
    const made = fs.readFileSync(`${dir}/x.tar${INDEX}`, "latin1");
    assert.ok(made.startsWith("recordfs index file 1\n"));
  }));

Deno.test("says which containers have no index that could be written", () =>
  withTempDir(async (dir) => {
    const link = { name: "l", type: "2", link: "a.txt" };
    fs.writeFileSync(
      `${dir}/l.tar`,
      tarBytes([{ name: "a.txt", data: "1" }, link]),
    );
    const linked = await recordfs(["index", `${dir}/l.tar`]);
    assert.equal(linked.code, 1);
    assert.match(
      linked.stderr,
      /Cannot index .*l\.tar: its index cannot be compared with it/,
    );
    const ffr = "test/golden/ffrecord/packed_tree/sample_10.ffr";
    const other = await recordfs(["index", ffr, "-o", `${dir}/x`]);
    assert.equal(other.code, 1);
    assert.match(other.stderr, /ffrecord needs no index file/);
    assert.equal((await recordfs(["index", ffr, "--dali"])).code, 1);
    assert.deepEqual(fs.readdirSync(dir), ["l.tar"]);
    assert.equal((await recordfs(["index"])).code, 2);
  }));

/** What DALI's `wds2idx` says it writes, by Python's tarfile. */
const WDS = `
import sys, tarfile
lines, last = [], None
for m in tarfile.open(sys.argv[1]):
    if not m.isreg(): continue
    start = m.name.rfind("/") + 1
    dot = m.name.find(".", start)
    key = m.name[:dot]
    if key == "" or key.endswith("/"): continue
    part = f"{m.name[dot + 1:]} {m.offset_data} {m.size} {m.name}"
    if key == last: lines[-1] += " " + part
    else: lines.append(part)
    last = key
print(f"v1.2 {len(lines)}")
print("\\n".join(lines))
`;

Deno.test({
  name: "--dali writes what DALI's own tools do, and recordfs opens by it",
  ...needs("python3"),
  fn: () =>
    withTempDir(async (dir) => {
      const members = Array.from({ length: 300 }, (_, i) => [
        ...(i % 50 === 0 ? [{ name: `p${i}/`, type: "5" }] : []),
        { name: `p${i - i % 50}/${i}.jpg`, data: "j".repeat(i * 7 % 1700) },
        ...(i % 3 === 0
          ? [{ name: "x", type: "x", data: paxRecords({ mtime: "1.5" }) }]
          : []),
        { name: `p${i - i % 50}/${i}.seg.png`, data: `${i}` },
        { name: `p${i - i % 50}/.${i}.txt`, data: "hidden" },
      ]).flat();
      const odd = [
        { name: "nodot", data: "1" },
        { name: "a", data: "1" },
        { name: "l.txt", type: "2", link: "nodot" },
        { name: "h.txt", type: "1", link: "nodot" },
      ];
      fs.writeFileSync(`${dir}/x.tar`, tarBytes([...members, ...odd]));
      const { code, stdout } = await recordfs([
        "index",
        "--dali",
        `${dir}/x.tar`,
      ]);
      assert.deepEqual([code, stdout.split(":")[0]], [0, `${dir}/x.idx`]);
      const { stdout: expected } = await new Deno.Command(PYTHON, {
        args: ["-c", WDS, `${dir}/x.tar`],
      }).output();
      assert.equal(
        fs.readFileSync(`${dir}/x.idx`, "latin1"),
        new TextDecoder().decode(expected),
      );
      const again = await recordfs(["index", "--dali", `${dir}/x.tar`]);
      assert.equal(again.code, 1); // it has no mark of its own
      fs.writeFileSync(
        `${dir}/y.tar`,
        tarBytes([{ name: "a b.txt", data: "1" }]),
      );
      const space = await recordfs(["index", "--dali", `${dir}/y.tar`]);
      assert.equal(space.code, 1);
      assert.match(space.stderr, /'a b\.txt' has a space in its name/);

      const records = Array.from({ length: 50 }, (_, i) => "r".repeat(i * i));
      fs.writeFileSync(`${dir}/x.tfrecord`, fileOf(records));
      await recordfs(["index", "--dali", `${dir}/x.tfrecord`]);
      let at = 0;
      const lines = records.map((record) => {
        const { length } = framed(Buffer.from(record));
        at += length;
        return `${at - length} ${length}\n`;
      });
      assert.equal(
        fs.readFileSync(`${dir}/x.tfrecord.idx`, "latin1"),
        lines.join(""),
      );
      // The index is no shard.
      using container = await open(dir, { format: "tfrecord" });
      assert.equal(container.info.parts.length, 1);
    }),
});

Deno.test("a TFRecord on a server is opened by DALI's index, whose every length is compared", () =>
  serving(async ({ dir, server, remote }) => {
    const records = Array.from(
      { length: 100 },
      (_, i) => new Uint8Array(100_000 + i).fill(i),
    );
    const path = `${dir}/x.tfrecord`;
    fs.writeFileSync(path, fileOf(records));
    assert.equal((await recordfs(["index", "--dali", path])).code, 0);
    for (const isRight of [true, false]) {
      const url = `${server.url}/x.tfrecord`;
      using container = await open(url, { remote });
      assert.equal(container.info.files, 100);
      assert.deepEqual(
        await container.read(await lastOf(container)),
        records[99],
      );
      assert.ok(server.asked.some(({ path }) => path === "/x.tfrecord.idx"));
      if (!isRight) break;
      server.asked.length = 0;
      fs.rmSync(remote.cache.directory, { recursive: true });
      const index = fs.readFileSync(`${path}.idx`, "latin1").split("\n");
      // Two records are one, which the lengths do not say.
      const [one, two] = index.slice(50, 52).map((line) =>
        line.split(" ").map(Number)
      );
      index.splice(50, 2, `${one![0]} ${one![1]! + two![1]!}`);
      fs.writeFileSync(`${path}.idx`, index.join("\n"));
    }
  }));

async function lastOf(container: Awaited<ReturnType<typeof open>>) {
  const names = await container.list("");
  return names.at(-1)!;
}
