/** Valid target paths of a file, and existing targets. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { pathToFileURL } from "node:url";
import { FFRecordWriter } from "../../../../src/formats/ffrecord/mod.ts";
import { ffrBytes } from "../../../support/ffrecord/make_ffr.ts";
import { REPOSITORY, withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import { asOrdinaryUser } from "../../../support/programs/users.ts";

const SAMPLE = Uint8Array.of(1, 2, 3);
const BYTES = ffrBytes([SAMPLE]);

async function write(path: string | URL): Promise<void> {
  await using writer = await FFRecordWriter.open(path);
  await writer.write(SAMPLE);
  await writer.close();
}

function writeSync(path: string | URL): void {
  using writer = FFRecordWriter.openSync(path);
  writer.writeSync(SAMPLE);
  writer.closeSync();
}

function assertWritten(path: string): void {
  assert.equal(Buffer.compare(fs.readFileSync(path), BYTES), 0, path);
}

/** Runs `body` with the asynchronous and the synchronous writer, each in a directory of its own. */
async function withBoth(
  body: (
    dir: string,
    write: (path: string | URL) => Promise<void>,
  ) => Promise<void>,
): Promise<void> {
  await withTempDir((dir) => body(dir, write));
  // deno-lint-ignore require-await -- turns exceptions into rejections, like the asynchronous writer
  await withTempDir((dir) => body(dir, async (path) => writeSync(path)));
}

async function refuses(
  write: (path: string) => Promise<void>,
  path: string,
  code: string,
  message: RegExp,
): Promise<void> {
  const expected = { name: "WriteError", code, path, message };
  await assert.rejects(write(path), expected);
}

Deno.test("a name must end in .ffr", async () => {
  await withBoth(async (dir, write) => {
    for (const name of ["a", "a.bin", "a.FFR", ".ffr", "a.ffr/", "", "ffr"]) {
      await refuses(write, `${dir}/${name}`, "bad-name", /must end in \.ffr/);
    }
    await refuses(write, `${dir}/\udc80.ffr`, "bad-name", /not valid Unicode/);
    assert.deepEqual(fs.readdirSync(dir), []);
    for (const name of ["a.ffr", ".hidden.ffr", "ä.b.ffr", "x.ffr.ffr"]) {
      await write(`${dir}/${name}`);
      assertWritten(`${dir}/${name}`);
    }
    await write(pathToFileURL(`${dir}/url.ffr`));
    assertWritten(`${dir}/url.ffr`);
  });
});

Deno.test("names up to 255 bytes can be written, longer ones are rejected", async () => {
  await withBoth(async (dir, write) => {
    for (const name of ["n".repeat(251), "ä".repeat(125), "😀".repeat(62)]) {
      await write(`${dir}/${name}.ffr`);
      assertWritten(`${dir}/${name}.ffr`);
    }
    const long = `${dir}/${"n".repeat(252)}.ffr`;
    await refuses(write, long, "ENAMETOOLONG", /too long/);
  });
});

Deno.test("a missing directory is named", async () => {
  await withBoth(async (dir, write) => {
    const missing = /directory .*\/none does not exist/;
    await refuses(write, `${dir}/none/a.ffr`, "ENOENT", missing);
    fs.symlinkSync("none/b.ffr", `${dir}/link.ffr`);
    await refuses(write, `${dir}/link.ffr`, "ENOENT", missing);
    fs.writeFileSync(`${dir}/file`, "");
    await refuses(write, `${dir}/file/a.ffr`, "ENOTDIR", /not a directory/);
  });
});

Deno.test("directories, pipes and devices are not replaced", async () => {
  await withBoth(async (dir, write) => {
    fs.mkdirSync(`${dir}/d.ffr`);
    await refuses(write, `${dir}/d.ffr`, "not-a-file", /is a directory/);
    await new Deno.Command("mkfifo", { args: [`${dir}/p.ffr`] }).output();
    await refuses(write, `${dir}/p.ffr`, "not-a-file", /not a regular file/);
    fs.symlinkSync("/dev/null", `${dir}/null.ffr`);
    await refuses(write, `${dir}/null.ffr`, "not-a-file", /not a regular file/);
    assert.deepEqual(fs.readdirSync(dir).sort(), [
      "d.ffr",
      "null.ffr",
      "p.ffr",
    ]);
  });
});

Deno.test("symbolic links are written through", async () => {
  await withBoth(async (dir, write) => {
    fs.mkdirSync(`${dir}/data/deep`, { recursive: true });
    fs.mkdirSync(`${dir}/links`);
    fs.writeFileSync(`${dir}/data/old.ffr`, "old");
    fs.symlinkSync("../data/old.ffr", `${dir}/links/old.ffr`);
    fs.symlinkSync("../data/new.ffr", `${dir}/links/new.ffr`); // a link to a file that does not exist yet
    fs.symlinkSync("old.ffr", `${dir}/links/twice.ffr`);
    // After a link to a directory, `..` is that directory's parent.
    fs.symlinkSync("../data/deep", `${dir}/links/deep`);
    fs.symlinkSync("deep/../up.ffr", `${dir}/links/up.ffr`);
    for (const [link, file] of [["old", "old"], ["new", "new"], ["up", "up"]]) {
      await write(`${dir}/links/${link}.ffr`);
      assertWritten(`${dir}/data/${file}.ffr`);
      assert.ok(fs.lstatSync(`${dir}/links/${link}.ffr`).isSymbolicLink());
    }
    fs.writeFileSync(`${dir}/data/old.ffr`, "old");
    await write(`${dir}/links/twice.ffr`);
    assertWritten(`${dir}/data/old.ffr`);
    fs.symlinkSync("round.ffr", `${dir}/links/round.ffr`);
    await refuses(
      write,
      `${dir}/links/round.ffr`,
      "ELOOP",
      /too many symbolic/,
    );
    const names = ["deep", "new.ffr", "old.ffr", "round.ffr", "twice.ffr"];
    assert.deepEqual(
      fs.readdirSync(`${dir}/links`).sort(),
      [...names, "up.ffr"],
    );
    assert.deepEqual(
      fs.readdirSync(`${dir}/data`).sort(),
      ["deep", "new.ffr", "old.ffr", "up.ffr"],
    );
  });
});

Deno.test("a replaced file remains unchanged for programs that have it open", async () => {
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/a.ffr`, "old", { mode: 0o600 });
    const fd = fs.openSync(`${dir}/a.ffr`, "r");
    await write(`${dir}/a.ffr`);
    assert.equal(fs.readFileSync(fd, "utf8"), "old");
    fs.closeSync(fd);
    assertWritten(`${dir}/a.ffr`);
  });
});

Deno.test("permissions follow the umask", async () => {
  await withTempDir(async (dir) => {
    const script = `
      import { FFRecordWriter } from "${REPOSITORY}src/formats/ffrecord/mod.ts";
      for (const name of ["new.ffr", "old.ffr"]) {
        using writer = FFRecordWriter.openSync("${dir}/" + name);
        writer.closeSync();
      }`;
    fs.writeFileSync(`${dir}/script.ts`, script);
    fs.writeFileSync(`${dir}/old.ffr`, "old", { mode: 0o600 });
    const { success } = await new Deno.Command("sh", {
      args: ["-c", 'umask 027; exec "$@"', "sh", Deno.execPath(), "run", "-A"]
        .concat(`${dir}/script.ts`),
    }).output();
    assert.ok(success);
    for (const name of ["new.ffr", "old.ffr"]) {
      assert.equal(fs.statSync(`${dir}/${name}`).mode & 0o777, 0o640, name);
    }
  });
});

Deno.test({
  name:
    "an ordinary user gets an error for a directory without write permission",
  ...needs("root"),
  fn: () =>
    asOrdinaryUser(async (user) => {
      const script = `
        import { FFRecordWriter } from "${user.project}src/formats/ffrecord/mod.ts";
        try {
          FFRecordWriter.openSync("/root.ffr");
        } catch (error) {
          console.log(error.name, error.code, error.message);
        }
        using writer = FFRecordWriter.openSync("dir/unreadable.ffr");
        writer.closeSync();
        console.log("written");`;
      fs.writeFileSync(`${user.home}/script.ts`, script);
      await user.own(`${user.home}/script.ts`);
      // A directory that is writable and searchable, but not readable.
      await user.do("mkdir", "-m", "300", "dir");
      const printed = await user.do(user.deno, "run", "-A", "script.ts");
      await user.do("chmod", "700", "dir");
      assert.equal(
        printed,
        "WriteError EACCES Cannot write /root.ffr: permission denied. Check who may read and " +
          "write it and the directories above it (`namei -l`)\nwritten\n",
      );
    }),
});

Deno.test("writing needs only permission to read and write one directory", async () => {
  await withTempDir(async (dir) => {
    const script = `
      import { FFRecordWriter } from "${REPOSITORY}src/formats/ffrecord/mod.ts";
      await using writer = await FFRecordWriter.open("${dir}/a.ffr");
      for (let i = 0; i < 10_000; i++) await writer.write(new Uint8Array(150));
      await writer.close();`;
    const file = `${dir}/script.ts`;
    fs.writeFileSync(file, script);
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", `--allow-read=${dir}`]
        .concat(`--allow-write=${dir}`, file),
    }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
  });
});
