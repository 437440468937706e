import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import process from "node:process";
import { openNamed } from "../../../src/io/dirfd/directory_by_path.ts";
import type { Directory } from "../../../src/io/dirfd/directory.ts";
import { openDirectory } from "../../../src/io/dirfd/open_directory.ts";
import { descriptorsBelow } from "../../support/programs/descriptors.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs, PYTHON } from "../../support/programs/programs.ts";

const WAYS: [string, (path: string) => Directory][] = [
  ["by descriptor", (path) => openDirectory(path)],
  ["by descriptor, to be listed first", (path) => openDirectory(path, true)],
  ["by path", openNamed],
];

for (const [way, open] of WAYS) {
  Deno.test(`${way}: files are created, read, renamed and removed`, async () => {
    await withTempDir(async (dir) => {
      const directory = open(dir);
      directory.makeDirectory("sub");
      const below = directory.open("sub", "keep");
      const file = below.createFile("é 😀");
      const content = new Uint8Array(3_000_000).map((_, i) => i * 7 >> 3);
      file.write(content);
      const time = new Date(1_234_567_890_123);
      file.setModified(time);
      file.close();
      assert.throws(() => below.createFile("é 😀"), { code: "EEXIST" });

      assert.deepEqual(fs.readFileSync(`${dir}/sub/é 😀`).compare(content), 0);
      const stat = below.stat("é 😀", "keep");
      assert.deepEqual(stat, {
        kind: "file",
        size: content.length,
        mtimeMs: time.getTime(),
        isOwnersToRead: way !== "by path",
      });
      below.createFile("taken").close();
      assert.throws(() => below.rename("taken", "é 😀", false), {
        code: "EEXIST",
      });
      below.rename("taken", "x", false);
      below.rename("é 😀", "x", true);
      below.makeDirectory("folder");
      fs.symlinkSync("x", `${dir}/sub/link`);
      const { names, notFiles, unreachable } = below.list();
      assert.deepEqual(names.toSorted(), ["folder", "link", "x"]);
      assert.deepEqual(notFiles, new Set(["folder", "link"]));
      assert.deepEqual(unreachable, []);
      fs.unlinkSync(`${dir}/sub/link`);
      below.removeDirectory("folder");
      const opened = below.openFile("x");
      const into = new Uint8Array(100);
      assert.equal(opened.read(into), 100);
      assert.equal(opened.read(into), 100);
      assert.deepEqual(into, content.slice(100, 200));
      assert.deepEqual(opened.stat(), stat);
      opened.close();
      assert.equal(below.mayRead("x"), true);
      below.remove("x");
      assert.equal(below.stat("x", "keep"), undefined);
      below.close();
      directory.close();
      assert.equal(await descriptorsBelow(dir), 0);

      // A second close must not affect a directory that reuses the descriptor.
      const other = openDirectory(dir);
      directory.close();
      opened.close();
      assert.deepEqual(other.list().names, ["sub"]);
      other.close();
    });
  });

  Deno.test(`${way}: several are inspected together, up to a directory`, async () => {
    await withTempDir((dir) => {
      const names = ["a", "é 😀", "link", "folder", "b", "gone", "c"];
      for (const name of ["a", "é 😀", "b", "c"]) {
        fs.writeFileSync(`${dir}/${name}`, name.repeat(7));
        fs.utimesSync(`${dir}/${name}`, 1.5, -1234.25);
      }
      fs.chmodSync(`${dir}/b`, 0o077);
      fs.symlinkSync("b", `${dir}/link`);
      fs.mkdirSync(`${dir}/folder`);
      const directory = open(dir);
      const several = (start: number, most: number) =>
        directory.statSeveral(names, start, most);
      const each = (...names: string[]) =>
        names.map((name) => directory.stat(name, "follow"));
      if (way === "by path") assert.deepEqual(several(0, 9), []);
      else {
        assert.deepEqual(several(0, 2), each("a", "é 😀"));
        assert.deepEqual(several(1, 9), each("é 😀", "link", "folder"));
        assert.deepEqual(several(4, 9), each("b"));
        assert.deepEqual(several(5, 9), []);
        assert.deepEqual(several(6, 9), each("c"));
        assert.deepEqual(several(7, 9), []);
      }
      directory.close();
    });
  });

  Deno.test(`${way}: a file is read whole only if it is unchanged`, async () => {
    await withTempDir(async (dir) => {
      const content = new Uint8Array(70_000).map((_, i) => i * 7 >> 3);
      const longest = "n".repeat(255);
      for (const name of ["é 😀", longest]) {
        fs.writeFileSync(`${dir}/${name}`, content);
      }
      fs.writeFileSync(`${dir}/empty`, "");
      fs.symlinkSync("é 😀", `${dir}/link`);
      fs.mkdirSync(`${dir}/folder`);
      execFileSync("mkfifo", [`${dir}/pipe`]);
      const directory = open(dir);
      const read = (name: string, length: number, later = 0) => {
        const into = new Uint8Array(length);
        const mtimeMs = name.length > longest.length
          ? 0
          : directory.stat(name, "follow")?.mtimeMs ?? 0;
        const bytes = new TextEncoder().encode(name);
        const isRead = directory.readWhole(bytes, into, mtimeMs + later);
        if (isRead) assert.deepEqual(into, content.slice(0, length));
        return isRead;
      };
      const { length } = content;
      const can = way !== "by path";
      for (const name of ["é 😀", "link", longest]) {
        assert.equal(read(name, length), can);
        assert.equal(read(name, length - 1), false);
        assert.equal(read(name, length + 1), false);
        assert.equal(read(name, 0), false);
        assert.equal(read(name, length, 1), false);
      }
      assert.equal(read("empty", 0), can);
      assert.equal(read("empty", 1), false);
      for (const name of ["folder", "pipe", "gone", `${longest}n`]) {
        assert.equal(read(name, 0), false);
      }
      directory.close();
      assert.equal(await descriptorsBelow(dir), 0);
    });
  });

  Deno.test(`${way}: a file is created whole or not at all`, async () => {
    await withTempDir(async (dir) => {
      const content = new Uint8Array(70_000).map((_, i) => i * 7 >> 3);
      const time = new Date(1_234_567_890_123);
      fs.writeFileSync(`${dir}/taken`, "there");
      fs.symlinkSync("nowhere", `${dir}/link`);
      const directory = open(dir);
      const unnamed = directory.createUnnamed();
      unnamed?.close();
      const can = unnamed !== undefined;
      assert.equal(directory.createWhole("é 😀", content, time), can);
      assert.equal(directory.createWhole("empty", new Uint8Array(), time), can);
      for (const name of ["taken", "link", ".", "n".repeat(256)]) {
        assert.equal(directory.createWhole(name, content, time), false);
      }
      assert.equal(fs.readFileSync(`${dir}/taken`, "utf8"), "there");
      assert.equal(fs.readlinkSync(`${dir}/link`), "nowhere");
      const made = can ? ["empty", "é 😀"] : [];
      const all = [...made, "link", "taken"];
      assert.deepEqual(fs.readdirSync(dir).sort(), all.sort());
      for (const name of made) {
        const stat = fs.statSync(`${dir}/${name}`);
        assert.equal(stat.mtimeMs, time.getTime());
        assert.equal(stat.mode & 0o777, 0o666 & ~process.umask());
        assert.equal(stat.size, name === "empty" ? 0 : content.length);
      }
      if (can) {
        assert.equal(fs.readFileSync(`${dir}/é 😀`).compare(content), 0);
      }
      directory.close();
      assert.equal(await descriptorsBelow(dir), 0);
    });
  });

  Deno.test(`${way}: a name with a NUL is not truncated to the part before it`, async () => {
    await withTempDir((dir) => {
      const directory = open(dir);
      directory.makeDirectory("sub");
      assert.throws(() => directory.open("sub\0x", "keep"), TypeError);
      assert.throws(() => open(`${dir}\0x`), TypeError);
      directory.close();
    });
  });

  Deno.test(`${way}: links are followed or not, as requested`, async () => {
    await withTempDir((dir) => {
      fs.mkdirSync(`${dir}/real`);
      fs.symlinkSync("real", `${dir}/link`);
      fs.symlinkSync("nowhere", `${dir}/broken`);
      fs.symlinkSync("round", `${dir}/round`);
      const directory = open(dir);
      assert.equal(directory.stat("link", "keep")?.kind, "symlink");
      assert.equal(directory.stat("link", "follow")?.kind, "directory");
      assert.equal(directory.stat("broken", "follow"), undefined);
      assert.throws(() => directory.stat("round", "follow"), { code: "ELOOP" });
      assert.throws(() => directory.open("link", "keep"), { code: "ENOTDIR" });
      const followed = directory.open("link", "follow");
      const real = directory.open("real", "keep");
      assert.equal(followed.identity, real.identity);
      assert.notEqual(real.identity, directory.identity);
      for (const opened of [followed, real, directory]) opened.close();
      assert.throws(() => open(`${dir}/nothing`), { code: "ENOENT" });
      fs.writeFileSync(`${dir}/file`, "");
      assert.throws(() => open(`${dir}/file`), { code: "ENOTDIR" });
    });
  });

  Deno.test(`${way}: links are created, with times of their own`, async () => {
    await withTempDir(async (dir) => {
      const directory = open(dir);
      const [old, older] = [
        new Date(1_500_000_000_250),
        new Date(1_400_000_000_500),
      ];
      await Deno.writeTextFile(`${dir}/file`, "content");
      directory.makeLink("link", "file");
      directory.makeLink("nowhere", "not/there");
      assert.throws(() => directory.makeLink("file", "x"), { code: "EEXIST" });
      const before = directory.stat("file", "keep")!.mtimeMs;
      directory.setModified("link", old);
      directory.setModified("nowhere", older);
      directory.setModified(".", older);
      assert.equal(directory.stat("link", "keep")!.mtimeMs, old.getTime());
      assert.equal(directory.stat("nowhere", "keep")!.mtimeMs, older.getTime());
      assert.equal(directory.stat("file", "keep")!.mtimeMs, before);
      assert.equal((await Deno.stat(dir)).mtime!.getTime(), older.getTime());
      assert.equal(await Deno.readLink(`${dir}/nowhere`), "not/there");
      directory.close();
    });
  });

  Deno.test({
    name: `${way}: opening a pipe does not wait`,
    ...needs("mkfifo"),
    async fn() {
      await withTempDir((dir) => {
        new Deno.Command("mkfifo", { args: [`${dir}/pipe`] }).outputSync();
        const directory = open(dir);
        assert.equal(directory.stat("pipe", "follow")?.kind, "other");
        const file = directory.openFile("pipe");
        assert.equal(file.stat().kind, "other");
        file.close();
        directory.close();
      });
    },
  });
}

Deno.test({
  name:
    "names that are not UTF-8 are reached exactly, or reported as unsupported",
  ...needs("python3"),
  async fn() {
    await withTempDir(async (dir) => {
      const names = [
        ...["fe", "fffe61", "c3", "edb280", "efbfbd", "6f6b"],
        "ff".repeat(255),
      ];
      const script = "import sys,os\nfor n in sys.argv[2:]:\n" +
        " open(os.path.join(os.fsencode(sys.argv[1]), bytes.fromhex(n)),'w')";
      const { success } = await new Deno.Command(PYTHON, {
        args: ["-c", script, dir, ...names],
      }).output();
      assert.ok(success);

      const exact = openDirectory(dir);
      const listed = exact.list().names.sort();
      assert.deepEqual(
        listed,
        [
          ...["\udcfe", "\udcff\udcfea", "\udcc3", "\udced\udcb2\udc80"],
          ...["\ufffd", "ok", "\udcff".repeat(255)],
        ].sort(),
      );
      for (const name of listed) {
        assert.equal(exact.stat(name, "keep")?.kind, "file");
        exact.openFile(name).close();
      }
      exact.close();

      // One of the names that Deno shows with U+FFFD really contains it.
      const shown = openNamed(dir);
      const { names: reached, unreachable } = shown.list();
      assert.deepEqual(reached.sort(), ["ok", "\ufffd"]);
      assert.equal(unreachable.length, 5);
      assert.ok(unreachable.includes("\ufffd"));
      assert.throws(() => shown.stat("\udcfe", "keep"), {
        code: "name-needs-ffi",
        message: /--allow-ffi/,
      });
    });
  },
});
