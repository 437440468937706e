import assert from "node:assert/strict";
import { needs } from "../../support/programs/programs.ts";
import { run, withOriginal } from "../../support/serve/client_programs.ts";
import { type Files, serveFolder } from "../../support/serve/served_folder.ts";

const FILES: Files = {
  "a.txt": "content\n",
  "empty": "",
  "large.bin": Uint8Array.from({ length: 2_500_000 }, (_, i) => i * i >> 5),
  "with space & more.txt": "odd",
  "50% #1?.txt": "odder",
  "dir": { "ü": { "😀.jpg": "picture" }, "b+c=d;e,f.txt": "signs", "sub": {} },
  "many": Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [`${i}.txt`, `number ${i}`]),
  ),
};

Deno.test({
  name: "davfs2 mounts it, and diff -r finds nothing",
  ...needs("root", "/dev/fuse", "mount.davfs"),
  async fn() {
    await using folder = await serveFolder(FILES);
    const url = `${folder.server.url}dav/`;
    await withOriginal(FILES, async (directory) => {
      const mountpoint = `${directory}/mounted`;
      await Deno.mkdir(mountpoint);
      // davfs2 drops root privileges, and needs a cache directory that its user can write to.
      await Deno.mkdir(`${directory}/cache`);
      await Deno.chmod(`${directory}/cache`, 0o777);
      await Deno.chmod(directory, 0o755);
      const secrets = `${directory}/secrets`;
      await Deno.writeTextFile(
        secrets,
        `${mountpoint} somebody "${folder.server.token}"\n`,
        { mode: 0o600 },
      );
      // Newer kernels request larger pages of a directory than davfs2's default buffer holds.
      await Deno.writeTextFile(
        `${directory}/conf`,
        `secrets ${secrets}\ncache_dir ${directory}/cache\nbuf_size 256\n`,
      );
      await run("mount", [
        "-t",
        "davfs",
        "-o",
        `ro,conf=${directory}/conf`,
        url,
        mountpoint,
      ]);
      try {
        // davfs2 adds lost+found to each mount.
        await run("diff", [
          "-r",
          "--exclude=lost+found",
          `${directory}/original`,
          mountpoint,
        ]);
        await assert.rejects(Deno.writeTextFile(`${mountpoint}/new`, "x"));
      } finally {
        await run("umount", [mountpoint]);
      }
    });
  },
});

Deno.test({
  name: "rclone lists, copies and checks it",
  ...needs("rclone"),
  async fn() {
    await using folder = await serveFolder(FILES);
    await withOriginal(FILES, async (directory) => {
      const options = [
        ...["--config", "/dev/null", "--retries", "1"],
        ...["--webdav-url", `${folder.server.url}dav/`],
        ...["--webdav-bearer-token", folder.server.token!],
      ];
      const listed = await run("rclone", ["lsf", ":webdav:dir", ...options]);
      assert.deepEqual(listed.trim().split("\n").sort(), [
        "b+c=d;e,f.txt",
        "sub/",
        "ü/",
      ]);
      await run("rclone", [
        "copy",
        "--create-empty-src-dirs",
        ":webdav:",
        `${directory}/copy`,
        ...options,
      ]);
      await run("diff", ["-r", `${directory}/original`, `${directory}/copy`]);
      await run("rclone", [
        "check",
        "--download",
        ":webdav:",
        `${directory}/original`,
        ...options,
      ]);
    });
  },
});

Deno.test({
  name: "cadaver navigates and downloads",
  ...needs("cadaver"),
  async fn() {
    await using folder = await serveFolder(FILES);
    await withOriginal(FILES, async (directory) => {
      const { token, url } = folder.server;
      await Deno.writeTextFile(
        `${directory}/.netrc`,
        `machine 127.0.0.1 login somebody password ${token}\n`,
        { mode: 0o600 },
      );
      const input = [
        "ls",
        "cd dir",
        "ls",
        `get b+c=d;e,f.txt ${directory}/signs`,
        "cd ..",
        `get large.bin ${directory}/large`,
        "put /etc/hostname new",
        "quit",
        "",
      ].join("\n");
      const shown = await run("cadaver", [`${url}dav/`], {
        input,
        env: { HOME: directory },
      });
      assert.match(shown, /Coll: +many/);
      assert.match(shown, /a\.txt +8 /);
      assert.match(shown, /Uploading .*403/s);
      assert.equal(await Deno.readTextFile(`${directory}/signs`), "signs");
      assert.deepEqual(
        await Deno.readFile(`${directory}/large`),
        FILES["large.bin"],
      );
    });
  },
});

Deno.test({
  name: "curl fetches files, parts and changed files",
  ...needs("curl"),
  async fn() {
    await using folder = await serveFolder(FILES);
    const { token, url } = folder.server;
    await withOriginal(FILES, async (directory) => {
      const output = `${directory}/large`;
      const login = [
        "--silent",
        "--fail",
        "--user",
        `x:${token}`,
        "--output",
        output,
      ];
      const file = `${url}dav/large.bin`;
      await run("curl", [...login, "--range", "0-999999", file]);
      await run("curl", [...login, "--continue-at", "-", file]);
      assert.deepEqual(await Deno.readFile(output), FILES["large.bin"]);
      const code = [
        "--silent",
        "--user",
        `x:${token}`,
        "--write-out",
        "%{http_code}",
        "--output",
        "/dev/null",
      ];
      await run("curl", [
        ...login,
        "--etag-save",
        `${directory}/etag`,
        `${url}files/a.txt`,
      ]);
      assert.equal(
        await run("curl", [
          ...code,
          "--etag-compare",
          `${directory}/etag`,
          `${url}files/a.txt`,
        ]),
        "304",
      );
      assert.equal(
        await run("curl", [
          ...code,
          "--time-cond",
          output,
          `${url}files/a.txt`,
        ]),
        "304",
      );
      assert.equal(
        await run("curl", [...code, "--upload-file", output, `${url}dav/new`]),
        "403",
      );
      assert.equal(
        await run("curl", [
          ...code,
          "--path-as-is",
          `${url}files/../files/a.txt`,
        ]),
        "400",
      );
    });
  },
});
