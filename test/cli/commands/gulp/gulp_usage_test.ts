/** `recordfs gulp` with invalid command lines, inputs or permissions. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { contentOf, writeImages } from "../../../support/gulp/gulp_content.ts";
import { fromFileUrl, withTempDir } from "../../../support/paths.ts";
import {
  assertFailed,
  recordfs,
  succeed,
  succeedWithSlowCodec,
} from "../../run_cli.ts";

Deno.test("an invalid command line has exit code 2, and creates nothing", async () => {
  await withTempDir(async (dir) => {
    writeImages(`${dir}/images`, ["cat"], 1);
    const out = `${dir}/out`;
    for (
      const [args, words] of [
        [
          ["image-folder", `${dir}/images`],
          /missing required argument 'target'/,
        ],
        [["image-folder", `${dir}/images`, ""], /is empty/],
        [["image-folder", "", out], /is empty/],
        [["image-folder", `${dir}/images`, out, "more"], /too many arguments/],
        [
          ["image-folder", "--frame-size", "x", `${dir}/images`, out],
          /whole number/,
        ],
        [
          ["image-folder", "--videos-per-chunk", "0", `${dir}/images`, out],
          /from 1 on/,
        ],
        [
          ["image-folder", "--codec", "none", `${dir}/images`, out],
          /imagescript/,
        ],
        [["image-folder", "--seed", "1", `${dir}/images`, out], /--shuffle/],
        [
          ["image-folder", "--frame-rate", "1", `${dir}/images`, out],
          /unknown option/,
        ],
        [
          ["image-folder", "--shm-dir", "/dev/shm", `${dir}/images`, out],
          /no temporary directory/,
        ],
        [
          ["video-folder", "--shm_dir=/dev/shm", `${dir}/images`, out],
          /no temporary directory/,
        ],
        [["nothing", `${dir}/images`, out], /unknown command 'nothing'/],
      ] as const
    ) {
      assertFailed(await recordfs(["gulp", ...args]), 2, words);
    }
    assert.deepEqual(fs.readdirSync(dir), ["images"]);
  });
});

Deno.test("unreadable input and unwritable output have exit code 1, in one line", async () => {
  await withTempDir(async (dir) => {
    writeImages(`${dir}/images`, ["cat"], 1);
    fs.mkdirSync(`${dir}/empty`);
    fs.writeFileSync(`${dir}/file`, "");
    fs.writeFileSync(`${dir}/none.json`, '{"database": {}}');
    for (
      const [args, words] of [
        [
          ["image-folder", `${dir}/nowhere`, `${dir}/out`],
          /nowhere: there is no such/,
        ],
        [
          ["image-folder", `${dir}/empty`, `${dir}/out`],
          /Cannot ingest: no images found in .*\/empty\/LABEL\/ \(looked for \.jpg, \.png\)/,
        ],
        [
          ["kinetics", `${dir}/none.json`, `${dir}/empty/`, `${dir}/out`],
          /Cannot ingest: no clips found in .*\/empty\/LABEL\/ \(looked for \.mp4\)/,
        ],
        [
          ["activitynet", `${dir}/none.json`, `${dir}/empty`, `${dir}/out`],
          /no videos found in .*\/empty \(looked for ids of the subset training in .*\/none\.json\)/,
        ],
        [
          ["image-list", `${dir}/file`, `${dir}/out`],
          /Cannot ingest: no images listed in .*\/file$/m,
        ],
        [["image-folder", `${dir}/images`, `${dir}/file`], /file/],
        [
          ["csv-jpeg", `${dir}/nowhere`, dir, `${dir}/out`],
          /nowhere: there is no such/,
        ],
      ] as const
    ) {
      assertFailed(await recordfs(["gulp", ...args]), 1, words);
    }
  });
});

Deno.test("gulping images needs only --allow-read and --allow-write", async () => {
  await withTempDir(async (dir) => {
    writeImages(`${dir}/images`, ["cat"], 2);
    const line = (out: string) => [
      ...["gulp", "image-folder", "--frame-size", "16"],
      ...[`${dir}/images`, `${dir}/${out}`],
    ];
    await succeedWithSlowCodec(line("out"), {
      permissions: ["--allow-read", "--allow-write"],
    });
    const ran = await recordfs(line("other"), {
      permissions: ["--allow-read"],
    });
    assertFailed(ran, 1, /--allow-read --allow-write/);
  });
});

Deno.test("an adapter of one's own declares its flags", async () => {
  await withTempDir(async (dir) => {
    const mine = fromFileUrl(
      new URL("../../../support/gulp/own_adapter.ts", import.meta.url),
    );
    fs.copyFileSync(mine, `${dir}/mine.ts`);
    writeImages(`${dir}/images`, ["cat"], 3);
    const adapter = "./mine.ts#Folder";
    const help = await succeed(["gulp", "--adapter", adapter, "--help"], {
      cwd: dir,
    });
    assert.match(
      help.stdout,
      /^Usage: recordfs gulp --adapter \.\/mine\.ts#Folder \[options\] FOLDER TARGET$/m,
    );
    for (
      const flag of [
        "--every-nth <n>",
        "--scale <x>",
        "--no-labels",
        "--tags <list>",
      ]
    ) {
      assert.ok(help.stdout.includes(`  ${flag} `), flag);
    }
    await succeed([
      ...["gulp", `--adapter=${adapter}`, "--num-workers", "2"],
      ...["--videos-per-chunk", "1", "--every-nth", "2", "--scale=0.5"],
      ...["--tags", "a,b", "--no-labels", "images/cat", "out"],
    ], { cwd: dir });
    assert.deepEqual(
      contentOf(`${dir}/out`),
      [0, 2].map((i) => [
        `${i}.jpg`,
        { everyNth: 2, scale: 0.5, tags: ["a", "b"], labels: false },
        1,
      ]),
    );
    for (
      const [args, code, words] of [
        [["--adapter"], 2, /needs a module and a class/],
        [["--adapter", "./mine.ts", "x"], 2, /needs a module and a class/],
        [
          ["--adapter", "./mine.ts#Nobody", "x", "y"],
          1,
          /no class Nobody.*Folder/,
        ],
        [
          ["--adapter", "./none.ts#Nobody", "x", "y"],
          1,
          /Cannot load the adapter /,
        ],
        [["--adapter", "./mine.ts#Clash", "x", "y"], 1, /cannot be flags/],
        [
          ["--adapter", adapter, "--wrong", "x", "y"],
          2,
          /unknown option '--wrong'/,
        ],
        [
          ["--adapter", adapter, "--every-nth", "1.5", "x", "y"],
          2,
          /whole number/,
        ],
        [["--adapter", adapter, "--scale", "much", "x", "y"], 2, /a number/],
        [["--adapter", adapter, "x"], 2, /missing required argument 'target'/],
      ] as const
    ) {
      const ran = await recordfs(["gulp", ...args], { cwd: dir });
      assertFailed(ran, code, words);
    }
  });
});
