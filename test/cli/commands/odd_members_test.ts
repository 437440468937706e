/** Commands on an archive with skipped and unreadable members. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { handler } from "../../../src/serve/mod.ts";
import { open } from "../../../src/open/open.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { type MadeMember, makeZip } from "../../support/zip/make_zip.ts";
import { recordfs } from "../run_cli.ts";
import { withMountPlace } from "../mount/mount_place.ts";

const LARGE = "0123456789abcdef".repeat(1 << 17); // larger than one read

const WRONG = { crc: 5 };

const MEMBERS: readonly MadeMember[] = [
  { name: "d/sound", data: "content" },
  { name: "secret", data: "encrypted", flags: 1 },
  { name: "../up", data: "1" },
  { name: "d/sound/below", data: "2" },
  { name: "d/sum", data: "3", method: 8, central: WRONG, local: WRONG },
  { name: "large", data: LARGE, method: 8, central: WRONG, local: WRONG },
  { name: "/slash", data: "4" },
  { name: "last", data: LARGE, method: 8 },
];

/** Members that are not extracted, in the order of `check`. */
const ODD = ["../up", "d/sound/below", "secret", "d/sum", "large"];

function withZip(
  body: (zip: string, dir: string) => Promise<void>,
): () => Promise<void> {
  return () =>
    withTempDir(async (dir) => {
      fs.writeFileSync(`${dir}/odd.zip`, makeZip(MEMBERS));
      await body(`${dir}/odd.zip`, dir);
    });
}

/** Returns the names in messages about such members. */
function named(stderr: string): string[] {
  return [...stderr.matchAll(/'(\S+)' (is skipped|in \S+: it)/g)]
    .map(([, name]) => name!);
}

Deno.test(
  "ls and info name skipped and unreadable members, and succeed",
  withZip(async (zip) => {
    const ls = await recordfs(["ls", "-lR", zip]);
    assert.equal(ls.code, 0, ls.stderr);
    assert.deepEqual(named(ls.stderr), ["../up", "d/sound/below", "secret"]);
    assert.match(
      ls.stderr,
      /leading '\/' is removed from the name of 1 member/,
    );
    assert.match(ls.stdout, / 9 .* secret\n/);
    assert.doesNotMatch(ls.stdout, /up/);
    const info = await recordfs(["info", zip]);
    assert.match(info.stdout, /\n +skipped: 2\n +unreadable: 1\n/);
    const told = JSON.parse((await recordfs(["info", "--json", zip])).stdout);
    assert.deepEqual(
      told.skipped.map(({ name, kind, reason }: Record<string, string>) => [
        ...[name, kind, reason],
      ]),
      [
        ["../up", "file", "unsafe-name"],
        ["d/sound/below", "file", "conflict"],
      ],
    );
    assert.deepEqual(
      told.unreadable.map(({ name, code }: Record<string, string>) => [
        ...[name, code],
      ]),
      [["secret", "unreadable-member"]],
    );
  }),
);

Deno.test("ten members are named, and the others counted", () =>
  withTempDir(async (dir) => {
    const members = Array.from({ length: 25 }, (_, i) => ({ name: `../${i}` }));
    fs.writeFileSync(`${dir}/odd.zip`, makeZip(members));
    const ls = await recordfs(["ls", `${dir}/odd.zip`]);
    assert.equal(named(ls.stderr).length, 10);
    assert.match(ls.stderr, /and 15 more \(--all shows them\)/);
    const all = await recordfs(["ls", "--all", `${dir}/odd.zip`]);
    assert.equal(named(all.stderr).length, 25);
  }));

Deno.test(
  "check names each, and exits with 1",
  withZip(async (zip) => {
    const check = await recordfs(["check", zip]);
    assert.equal(check.code, 1);
    assert.match(check.stdout, /5 damaged\n$/);
    const { code, stdout } = await recordfs(["check", "--json", zip]);
    assert.equal(code, 1);
    const { damage, ok } = JSON.parse(stdout);
    assert.equal(ok, false);
    assert.deepEqual(
      damage.map(({ member }: { member: string }) => member),
      ODD,
    );
  }),
);

Deno.test(
  "extract writes the rest, and exits with 1, or 0 with --partial",
  withZip(async (zip, dir) => {
    for (const [flags, code] of [[[], 1], [["--partial"], 0]] as const) {
      const to = `${dir}/to-${code}`;
      const ran = await recordfs(["extract", ...flags, zip, to]);
      assert.equal(ran.code, code, ran.stderr);
      const files = fs.readdirSync(to, { recursive: true }).map(String).sort();
      assert.deepEqual(files, ["d", "d/sound", "last", "slash"]);
      assert.equal(fs.readFileSync(`${to}/last`, "utf8"), LARGE);
      assert.match(ran.stderr, /5 files and directories were not extracted/);
      assert.match(ran.stderr, /'d\/sum'/);
      assert.match(ran.stderr, /'large'/);
      assert.deepEqual(named(ran.stderr), ["../up", "d/sound/below", "secret"]);
    }
    assert.equal(fs.existsSync(`${dir}/up`), false);
    // The exit code only depends on the requested members.
    const sound = await recordfs(["extract", zip, `${dir}/some`, "last"]);
    assert.equal(sound.code, 0, sound.stderr);
    const odd = await recordfs(["extract", zip, `${dir}/some`, "secret"]);
    assert.equal(odd.code, 1);
    const json = await recordfs(["extract", "--json", zip, `${dir}/json`]);
    assert.equal(json.code, 1);
    const { failed, skipped } = JSON.parse(json.stdout);
    const names = [...skipped, ...failed]
      .map(({ name, path }: Record<string, string>) => name ?? path);
    assert.deepEqual(names.sort(), ODD.toSorted());
  }),
);

Deno.test(
  "--partial does not excuse files that could not be written",
  withZip(async (zip, dir) => {
    fs.mkdirSync(`${dir}/to`);
    fs.writeFileSync(`${dir}/to/slash`, "mine");
    const ran = await recordfs(["extract", "--partial", zip, `${dir}/to`]);
    assert.equal(ran.code, 1);
    assert.equal(fs.readFileSync(`${dir}/to/slash`, "utf8"), "mine");
  }),
);

Deno.test(
  "convert writes nothing, and exits with 1; with --lossy it writes the rest",
  withZip(async (zip, dir) => {
    for (const to of ["x.tar", "x.zip", "x.ffr", "folder/"]) {
      const refused = await recordfs(["convert", zip, `${dir}/${to}`]);
      assert.equal(refused.code, 1, to);
      for (const name of ODD.slice(0, 3)) {
        assert.ok(refused.stderr.includes(`'${name}'`), name);
      }
      assert.deepEqual(fs.readdirSync(dir), ["odd.zip"]);
      const args = ["convert", "--lossy", zip, `${dir}/${to}`];
      const done = await recordfs(args);
      assert.equal(done.code, 0, done.stderr);
      for (const name of ODD) {
        assert.ok(done.stderr.includes(`'${name}'`), name);
      }
      const files = to === "folder/"
        ? fs.readdirSync(`${dir}/${to}`, { recursive: true }).map(String)
        : await pathsOf(`${dir}/${to}`);
      assert.deepEqual(files.sort(), ["d", "d/sound", "last", "slash"], to);
      fs.rmSync(`${dir}/${to}`, { recursive: true });
    }
  }),
);

async function pathsOf(container: string): Promise<string[]> {
  using fs = await open(container);
  const paths: string[] = [];
  for await (const { path } of fs.walk()) paths.push(path);
  assert.equal(new TextDecoder().decode(await fs.read("last")), LARGE);
  return paths;
}

Deno.test("a damaged member that is found during conversion is a loss as well", () =>
  withTempDir(async (dir) => {
    const members = [
      { name: "sound", data: "1" },
      { name: "sum", data: "3", central: WRONG, local: WRONG },
    ];
    fs.writeFileSync(`${dir}/odd.zip`, makeZip(members));
    const args = ["convert", `${dir}/odd.zip`, `${dir}/x.tfrecord`, "--json"];
    const refused = await recordfs([...args, "--to", "tfrecord"]);
    assert.equal(refused.code, 1);
    assert.deepEqual(fs.readdirSync(dir), ["odd.zip"]);
    const records = await recordfs([...args, "--to", "tfrecord", "--lossy"]);
    assert.equal(records.code, 0, records.stderr);
    assert.equal(JSON.parse(records.stdout).count, 1);
    const folder = ["convert", `${dir}/odd.zip`, `${dir}/x/`];
    const again = await recordfs([...folder, "--lossy", "--json"]);
    assert.equal(again.code, 0, again.stderr);
    const { leftOut, warnings } = JSON.parse(again.stdout);
    assert.equal(leftOut, 1);
    assert.match(warnings.join(), /skipped: .*'sum'/);
    assert.deepEqual(fs.readdirSync(`${dir}/x`), ["sound"]);
  }));

Deno.test("a server responds to an unreadable file with 501, and to a damaged one with 500", async () => {
  using container = await open(makeZip(MEMBERS), {
    format: "zip",
    onWarning() {},
  });
  const answer = handler(container, { token: null, onError() {} });
  const get = async (path: string, method = "GET") => {
    const request = new Request(`http://localhost/${path}`, { method });
    const response = await answer(request);
    return { status: response.status, text: await response.text() };
  };
  for (const method of ["GET", "HEAD"]) {
    const { status } = await get("files/secret", method);
    assert.equal(status, 501, method);
  }
  const secret = await get("files/secret");
  assert.match(
    secret.text,
    /^unreadable-member: .*'secret' in .*: it is encrypted/,
  );
  assert.equal((await get("files/d/sum")).status, 500);
  assert.equal((await get("dav/secret")).status, 501);
  assert.equal((await get("files/d/sound")).text, "content");
  // The rest of the directory is listed as before.
  const listing = await get("files/");
  assert.equal(listing.status, 200);
  assert.match(listing.text, /secret/);
  const info = JSON.parse((await get("api/info")).text);
  assert.deepEqual(info.info.facts, {
    compressed: 3,
    skipped: 2,
    unreadable: 1,
  });
});

Deno.test({
  name:
    "mount reports what it does not show before it goes to the background, and reads name the error",
  ...needs("fuse"),
  fn: () =>
    withMountPlace(async (place) => {
      const { dir, mountpoint } = place;
      fs.writeFileSync(`${dir}/odd.zip`, makeZip(MEMBERS));
      const { code, stderr } = await place.recordfs(
        ...["mount", `${dir}/odd.zip`, mountpoint],
      );
      assert.equal(code, 0, stderr);
      assert.deepEqual(named(stderr), ["../up", "d/sound/below", "secret"]);
      const read = async (name: string) => {
        const cat = new Deno.Command("cat", {
          args: [`${mountpoint}/${name}`],
          env: { LC_ALL: "C" },
        });
        const { stdout, stderr } = await cat.output();
        const text = new TextDecoder();
        return text.decode(stdout) + text.decode(stderr);
      };
      assert.equal(await read("d/sound"), "content");
      assert.match(await read("secret"), /Operation not supported/);
      assert.match(await read("d/sum"), /Input\/output error/);
    }),
});
