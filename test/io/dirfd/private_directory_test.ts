/** Directories that only their owner can enter: rejected ones, and entries that are never followed or waited for. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import {
  NotPrivateError,
  PrivateDirectory,
} from "../../../src/io/dirfd/private_directory.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import {
  OF_ROOT,
  SPECIAL_FILES,
} from "../../support/programs/special_files.ts";

/** Another user's id. */
const OTHER = 65534;

const bytes = (text: string) => new TextEncoder().encode(text);

/** Runs `body` with a private directory inside one that only this user may write to. */
async function withPrivate(
  body: (directory: PrivateDirectory, path: string) => void,
): Promise<void> {
  await withTempDir((dir) => {
    fs.chmodSync(dir, 0o700);
    const directory = PrivateDirectory.open(`${dir}/state`, true);
    try {
      body(directory, `${dir}/state`);
    } finally {
      directory.close();
    }
    return Promise.resolve();
  });
}

Deno.test("a directory and its files are created for their owner only", () =>
  withPrivate((directory, path) => {
    assert.equal(fs.statSync(path).mode & 0o7777, 0o700);
    directory.write("a", bytes("content"));
    directory.create("b");
    assert.deepEqual([...directory.list()].sort(), ["a", "b"]);
    for (const name of ["a", "b"]) {
      assert.equal(fs.statSync(`${path}/${name}`).mode & 0o7777, 0o600);
    }
    assert.deepEqual(directory.read("a", 7), bytes("content"));
    assert.deepEqual(directory.readEnd("a", 3), bytes("ent"));
    assert.throws(() => directory.create("b"), { code: "EEXIST" });
    assert.equal(directory.overwrite("a", bytes("less")), true);
    assert.equal(fs.readFileSync(`${path}/a`, "utf8"), "less");
    assert.equal(directory.rename("a", "c"), true);
    assert.equal(directory.rename("a", "c"), false);
    directory.remove("c");
    directory.remove("c");
    assert.equal(directory.read("c", 7), undefined);
    assert.equal(directory.overwrite("c", bytes("x")), false);
    assert.deepEqual(directory.list(), ["b"]);
  }));

/** Repeatedly replaces a file by one with the next number, atomically, until the file `go` disappears. */
const REPLACE = `
const [dir] = Deno.args;
for (let i = 0; ; i++) {
  Deno.writeTextFileSync(dir + "/new", String(i));
  Deno.renameSync(dir + "/new", dir + "/a");
  try { Deno.lstatSync(dir + "/go"); } catch { break; }
}`;

/** Number of replacements to wait for: some of them happen between open and stat. */
const REPLACED = 1000;

Deno.test("a file that is replaced while it is opened is read", () =>
  withTempDir(async (dir) => {
    fs.chmodSync(dir, 0o700);
    const directory = PrivateDirectory.open(`${dir}/state`, true);
    directory.create("go");
    const writer = new Deno.Command(Deno.execPath(), {
      args: ["eval", "--no-config", REPLACE, directory.path],
    }).spawn();
    let last = -1;
    const text = () => new TextDecoder().decode(directory.read("a", 100));
    while (last < REPLACED) {
      const now = Number(text() || -1);
      assert.ok(now >= last, `${now} after ${last}`);
      last = now;
    }
    directory.remove("go");
    assert.ok((await writer.status).success);
    directory.close();
  }));

const REFUSED: Record<string, (path: string) => void> = {
  "is not a directory, or is a symbolic link": (path) =>
    fs.symlinkSync("elsewhere", path),
  "is not a directory": (path) => fs.writeFileSync(path, ""),
  "may be entered by other users": (path) => {
    fs.mkdirSync(path);
    fs.chmodSync(path, 0o710);
  },
  "may be entered": (path) => {
    fs.mkdirSync(path);
    fs.chmodSync(path, 0o701);
  },
};

for (const [fault, make] of Object.entries(REFUSED)) {
  Deno.test(`a directory that ${fault} is rejected`, () =>
    withTempDir((dir) => {
      fs.chmodSync(dir, 0o700);
      fs.mkdirSync(`${dir}/elsewhere`, 0o700);
      make(`${dir}/state`);
      for (const path of [`${dir}/state`, `${dir}/state/`]) {
        for (const isToMake of [false, true]) {
          assert.throws(
            () => PrivateDirectory.open(path, isToMake),
            (error) =>
              error instanceof NotPrivateError && error.fault.includes(fault) &&
              error.path === path,
          );
        }
      }
      return Promise.resolve();
    }));
}

Deno.test({
  name:
    "a directory of another user, or in another user's directory, is rejected",
  ...needs("root"),
  fn: () =>
    withTempDir((dir) => {
      fs.chmodSync(dir, 0o700);
      const path = `${dir}/state`;
      fs.mkdirSync(path, 0o700);
      fs.chownSync(path, OTHER, OTHER);
      const words = { fault: `belongs to user ${OTHER}` };
      assert.throws(() => PrivateDirectory.open(path, true), {
        ...words,
        path,
      });
      fs.chownSync(path, 0, 0);
      fs.chownSync(dir, OTHER, OTHER);
      assert.throws(() => PrivateDirectory.open(path), { ...words, path: dir });
      assert.throws(() => PrivateDirectory.open(`${dir}/new`, true), words);
      assert.equal(fs.existsSync(`${dir}/new`), false);
      return Promise.resolve();
    }),
});

Deno.test("a directory that others may replace is rejected, unless its parent is sticky", () =>
  withTempDir((dir) => {
    const path = `${dir}/state`;
    for (const mode of [0o777, 0o722, 0o770, 0o702]) {
      fs.chmodSync(dir, mode);
      assert.throws(
        () => PrivateDirectory.open(path, true),
        { path: dir, fault: /^may be changed by other users/ },
      );
      assert.equal(fs.existsSync(path), false);
      fs.chmodSync(dir, mode | 0o1000);
      PrivateDirectory.open(path, true).close();
      fs.rmdirSync(path);
    }
    fs.symlinkSync(".", `${dir}/link`);
    assert.throws(
      () => PrivateDirectory.open(`${dir}/link/state`, true),
      { path: `${dir}/link`, fault: /symbolic link/ },
    );
    return Promise.resolve();
  }));

Deno.test("an entry that replaced the opened one is detected", () =>
  withPrivate((directory, path) => {
    directory.write("a", bytes("old"));
    fs.renameSync(path, `${path}.away`);
    fs.mkdirSync(path);
    fs.writeFileSync(`${path}/a`, "new");
    assert.deepEqual(directory.read("a", 100), bytes("old"));
    directory.write("b", bytes("b"));
    directory.remove("a");
    assert.deepEqual(fs.readdirSync(path), ["a"]);
    assert.deepEqual(fs.readdirSync(`${path}.away`), ["b"]);
    const { stdout } = new Deno.Command("pwd", {
      args: ["-P"],
      cwd: directory.location,
    }).outputSync();
    assert.equal(new TextDecoder().decode(stdout), `${path}.away\n`);
  }));

for (const [kind, make] of Object.entries(SPECIAL_FILES)) {
  Deno.test({
    name:
      `${kind} in place of a file is not read, and nothing is written through it`,
    ...needs(...OF_ROOT.has(kind) ? ["root"] : []),
    fn: () =>
      withPrivate((directory, path) => {
        const victim = `${path}/../victim`;
        fs.writeFileSync(victim, "untouched");
        make(`${path}/a`, victim);
        assert.throws(() => directory.read("a", 1 << 20), NotPrivateError);
        if (kind !== "a file of 10 GB") {
          assert.throws(() => directory.readEnd("a", 10), NotPrivateError);
          assert.throws(
            () => directory.overwrite("a", bytes("x")),
            NotPrivateError,
          );
        } else assert.equal(directory.readEnd("a", 10)!.length, 10);
        make(`${path}/new.part`, victim);
        if (kind === "a directory") {
          assert.throws(() => directory.write("a", bytes("x")));
          directory.remove("a");
          assert.ok(fs.statSync(`${path}/a`).isDirectory());
          return;
        }
        directory.write("new", bytes("x"));
        directory.write("a", bytes("x"));
        assert.ok(fs.lstatSync(`${path}/a`).isFile());
        assert.deepEqual(directory.read("a", 1), bytes("x"));
        assert.equal(fs.readFileSync(victim, "utf8"), "untouched");
        fs.unlinkSync(`${path}/a`);
        make(`${path}/a`, victim);
        directory.remove("a");
        assert.deepEqual(directory.list(), ["new"]);
        assert.equal(fs.readFileSync(victim, "utf8"), "untouched");
      }),
  });
}
