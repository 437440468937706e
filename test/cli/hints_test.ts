/** Messages that suggest the intended command, option or word. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { ffrBytes, packedSamples } from "../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../support/paths.ts";
import { needs } from "../support/programs/programs.ts";
import {
  assertFailed,
  CLI,
  recordfs,
  recordfsRefused,
  run,
} from "./run_cli.ts";
import { withMountPlace } from "./mount/mount_place.ts";

const encoder = new TextEncoder();

/** Creates a folder, containers that are made quickly, and a text file. */
async function withFiles(body: (dir: string) => Promise<void>): Promise<void> {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/photos`);
    fs.writeFileSync(`${dir}/photos/a.txt`, "text\n");
    const packed = packedSamples({ "a.txt": encoder.encode("text\n") });
    fs.writeFileSync(`${dir}/data.ffr`, ffrBytes(packed));
    const ran = await recordfs([
      "convert",
      `${dir}/data.ffr`,
      `${dir}/x.tar`,
      "--to",
      "tar",
    ]);
    assert.equal(ran.code, 0, ran.stderr);
    await body(dir);
  });
}

Deno.test("messages suggest pack for a folder, convert for a container, and write for a file", () =>
  withFiles(async (dir) => {
    for (const command of ["info", "ls", "check"]) {
      const ran = await recordfs([command, `${dir}/photos/`]);
      assertFailed(ran, 1, /its format is unknown.*`recordfs pack`/);
    }
    fs.mkdirSync(`${dir}/empty`);
    const empty = await recordfs(["info", `${dir}/empty`]);
    assert.equal(empty.code, 1);
    assert.doesNotMatch(empty.stderr, /recordfs pack/);
    const pack = (name: string) =>
      recordfs(["pack", `${dir}/${name}`, `${dir}/new.ffr`]);
    assertFailed(await pack("x.tar"), 1, /format tar, .*`recordfs convert`/);
    assertFailed(await pack("data.ffr"), 1, /ffrecord, .*`recordfs convert`/);
    assertFailed(await pack("photos/a.txt"), 1, /a file, .*`recordfs write`/);
    assert.ok(!fs.existsSync(`${dir}/new.ffr`));
  }));

Deno.test("a format that is forced on a container of another one is named", () =>
  withFiles(async (dir) => {
    for (
      const [format, file, own, is] of [
        ["tar", "data.ffr", "tar", "ffrecord"],
        ["parquet", "data.ffr", "parquet", "ffrecord"],
        ["gulp", "data.ffr", "gulp", "ffrecord"],
        ["ffrecord-samples", "x.tar", "ffrecord", "tar"],
        ["zip", "x.tar", "zip", "tar"],
      ] as const
    ) {
      for (const command of ["ls", "check", "cat"]) {
        const path = command === "cat" ? ["a.txt"] : [];
        const ran = await recordfs([
          command,
          "--format",
          format,
          `${dir}/${file}`,
          ...path,
        ]);
        assertFailed(
          ran,
          1,
          RegExp(`as ${own}: .*format ${is}\\..*--format`),
        );
      }
    }
    const text = await recordfs([
      "ls",
      "--format",
      "tar",
      `${dir}/photos/a.txt`,
    ]);
    assert.equal(text.code, 1);
    const random = encoder.encode("no archive at all ".repeat(100));
    fs.writeFileSync(`${dir}/random`, random);
    const ran = await recordfs(["ls", "--format", "tar", `${dir}/random`]);
    assertFailed(
      ran,
      1,
      /random: it is not a tar, or its first header is damaged/,
    );
  }));

Deno.test("a missing argument is reported with the usage line", async () => {
  for (
    const [line, words] of [
      [
        "ls",
        /^recordfs: missing required argument 'source'; usage: recordfs ls \[options\] SOURCE \[PATH\]\n$/,
      ],
      [
        "mount data.ffr",
        /argument 'mountpoint'; usage: recordfs mount .*SOURCE.* MOUNTPOINT\n/,
      ],
      ["cache fill", /usage: recordfs cache fill \[options\] /],
      ["gulp image-folder", /usage: recordfs gulp image-folder /],
      [
        "split data.ffr",
        /--ratios <list>' not specified; usage: recordfs split /,
      ],
      ["split data.ffr --ratios", /argument missing; usage: recordfs split /],
      ["ls a b c", /too many arguments.*; usage: recordfs ls /],
    ] as const
  ) assertFailed(await recordfsRefused(line.split(" ")), 2, words);
});

Deno.test("a path that begins with a dash must follow --", async () => {
  for (
    const line of [
      ["ls", "-dash.ffr"],
      ["ls", "-lash.ffr"], // the first letter is an option
      ["cat", "data.ffr", "-dash.jpg"],
      ["write", "new.ffr", "-dash.jpg"],
      ["mount", "--dash.ffr", "/mnt"],
    ]
  ) {
    const words =
      /unknown option '--?[ld]ash\.(ffr|jpg)'; if it is a path, write -- before it/;
    assertFailed(await recordfsRefused(line), 2, words);
  }
  const option = await recordfsRefused(["ls", "--jsn", "data.ffr"]);
  assertFailed(option, 2, /unknown option '--jsn' \(Did you mean --json\?\)/);
  await withFiles(async (dir) => {
    fs.renameSync(`${dir}/data.ffr`, `${dir}/-dash`);
    const ls = (...args: string[]) => recordfs(["ls", ...args], { cwd: dir });
    assertFailed(await ls("-dash"), 2, /'-dash'; if it is a path/);
    assert.equal((await ls("--", "-dash")).stdout, "a.txt\n");
  });
});

Deno.test({
  name: "a mount point in use, and umount",
  ...needs("fuse"),
  fn: () =>
    withMountPlace(async (place) => {
      const source = `${place.dir}/data.ffr`;
      const packed = packedSamples({ "a.txt": encoder.encode("text\n") });
      fs.writeFileSync(source, ffrBytes(packed));
      const mount = () => place.recordfs("mount", source, place.mountpoint);
      assert.equal((await mount()).code, 0);
      assertFailed(
        await mount(),
        1,
        /is mounted there already\. .*--replace.*-o nonempty/,
      );
      // The command's own working directory is in the mount, and no other process uses it.
      const command =
        `cd '${place.mountpoint}' && exec '${Deno.execPath()}' run -A '${CLI}' umount .`;
      const { stderr, code } = await run(["sh", "-c", command], {
        env: place.env,
      });
      assert.deepEqual([stderr, code], ["", 0]);
      assert.deepEqual(fs.readdirSync(place.mountpoint), []);
      assert.equal((await mount()).code, 0);
      // A shell that waits in the mount is named, but the command itself is not.
      const waits =
        `cd '${place.mountpoint}' && '${Deno.execPath()}' run -A '${CLI}' umount .; exit $?`;
      const held = await run(["sh", "-c", waits], { env: place.env });
      assertFailed(held, 1, /in use by \d+ \(sh\)\. End these first/);
      assert.equal((await place.recordfs("umount", place.mountpoint)).code, 0);
      const help = (name: string) => recordfs([...name.split(" ")]);
      const { stdout } = await help("unmount --help");
      assert.match(stdout, /also called umount/);
      for (const name of ["help umount", "umount --help"]) {
        assert.equal((await help(name)).stdout, stdout);
      }
    }),
});

Deno.test({
  name: "a bucket without a network: the host and --endpoint are named",
  ...needs("unshare", "root"),
  async fn() {
    const line = ["info", "s3://bucket/x.ffr", "--anonymous", "--timeout", "1"];
    const cut = [
      "unshare",
      "--net",
      Deno.execPath(),
      "run",
      "-A",
      CLI,
      ...line,
    ];
    const env = {
      AWS_ENDPOINT_URL: "",
      AWS_ENDPOINT_URL_S3: "",
      AWS_REGION: "eu-west-3",
    };
    const { stderr, code } = await run(cut, { env });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /to bucket\.s3\.eu-west-3\.amazonaws\.com: .*--endpoint/,
    );
  },
});
