/** Real programs on a real mount, mounted by the command line, as root and as an ordinary user. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { goldenCase } from "../support/golden.ts";
import { ffrBytes } from "../support/ffrecord/make_ffr.ts";
import { FULL, LONG } from "../support/long.ts";
import { fromFileUrl } from "../support/paths.ts";
import { needs } from "../support/programs/programs.ts";
import { makeSampleTree, MANY } from "../support/sample_tree.ts";
import {
  asOrdinaryUser,
  asSelf,
  type User,
} from "../support/programs/users.ts";

const USERS: [string, typeof asSelf, { ignore: boolean }][] = [
  ["root", asSelf, needs("fuse", "root")],
  ["an ordinary user", asOrdinaryUser, needs("fuse", "root", "fusermount3")],
];

/** Returns the path of a Python script in `python/`. */
const script = (name: string) =>
  fromFileUrl(new URL(`python/${name}`, import.meta.url));

/** Mounts `source` at `home/mnt` while `body` runs. */
async function mounted(
  user: User,
  source: string,
  body: (mountpoint: string) => Promise<void>,
  ...options: string[]
): Promise<void> {
  const mountpoint = `${user.home}/mnt`;
  await user.own(source);
  await user.do("mkdir", "-p", mountpoint);
  const { code, stderr } = await user.recordfs(
    "mount",
    ...options,
    source,
    mountpoint,
  );
  assert.equal(code, 0, stderr);
  try {
    await body(mountpoint);
  } finally {
    const ended = await user.recordfs("unmount", mountpoint);
    assert.equal(ended.code, 0, ended.stderr);
  }
}

/**
 * Tests that a quick run repeats as an ordinary user, with the user's own copy of the project. The others are the same
 * for both.
 */
const OF_BOTH: ReadonlySet<string> = new Set([
  "pread and mmap at random offsets are the container's bytes",
  ...FULL ? ["cp -r of a golden folder, compared by cmp"] : [],
]);

for (const [name, as, needed] of USERS) {
  const test = (
    title: string,
    programs: string[],
    body: (user: User) => Promise<void>,
  ) => {
    if (!LONG && as === asOrdinaryUser && !OF_BOTH.has(title)) return;
    const { ignore } = needs(...programs);
    Deno.test({
      name: `as ${name}: ${title}`,
      ignore: ignore || needed.ignore,
      fn: () => as(body),
    });
  };

  test("cp -r of a golden folder, compared by cmp", [], async (user) => {
    const golden = goldenCase("ffrecord/packed_tree");
    const data = `${user.home}/data.ffr`;
    fs.copyFileSync(golden.path, data);
    await mounted(user, data, async (mountpoint) => {
      await user.do("cp", "-r", mountpoint, `${user.home}/copy`);
      const compare =
        'cd "$1" && find . -type f -exec sh -c \'cmp "$1" "$2/$1" && echo\' sh {} "$2" ";" | wc -l';
      const compared = await user.do(
        "sh",
        "-c",
        compare,
        "sh",
        mountpoint,
        `${user.home}/copy`,
      );
      assert.equal(Number(compared), golden.content.num_files);
    });
  });

  test("find, cmp, cp, tar, rsync and diff see the packed files", [
    "tar",
    "rsync",
  ], async (user) => {
    const files = makeSampleTree(user.home);
    const original = `${user.home}/original`;
    await user.own(original);
    await mounted(user, `${user.home}/data.ffr`, async (mountpoint) => {
      const listing = 'cd "$1" && find . -printf "%y %p\\0" | sort -z';
      assert.equal(
        await user.do("sh", "-c", listing, "sh", mountpoint),
        await user.do("sh", "-c", listing, "sh", original),
      );
      const sizes = 'cd "$1" && find . -type f -printf "%s %m %p\\0" | sort -z';
      const shown = (await user.do("sh", "-c", sizes, "sh", mountpoint)).split(
        "\0",
      ).filter(Boolean);
      assert.deepEqual(
        shown.toSorted(),
        files.map(({ path, size }) => `${size} 644 ./${path}`).toSorted(),
      );
      // cmp reads one in a hundred of the many files, since each takes a process; diff compares all.
      const compare =
        'cd "$1" && find . -type f "(" ! -path "./many/*" -o -path "*00" ")" -exec cmp {} "$2/{}" ";" -printf x';
      const compared = await user.do(
        ...["sh", "-c", compare, "sh", mountpoint, original] as const,
      );
      const few = files.filter(({ path }) => !/^many\/.*(?<!00)$/.test(path));
      assert.equal(compared, "x".repeat(few.length));
      assert.ok(few.length > 50 + MANY / 100);
      await user.do("diff", "-r", original, mountpoint);

      await user.do("cp", "-r", mountpoint, `${user.home}/copied`);
      await user.do("diff", "-r", original, `${user.home}/copied`);

      await user.do("mkdir", `${user.home}/untarred`);
      const tar =
        'tar -C "$1" -c . | tar -C "$2" -x --no-same-permissions --mode=u+w';
      await user.do("sh", "-c", tar, "sh", mountpoint, `${user.home}/untarred`);
      await user.do("diff", "-r", original, `${user.home}/untarred`);

      const rsync = [
        "-a",
        "--checksum",
        "--chmod=u+w",
        `${mountpoint}/`,
        `${user.home}/synced/`,
      ];
      await user.do("rsync", ...rsync);
      await user.do("diff", "-r", original, `${user.home}/synced`);
      const again = await user.do("rsync", "--itemize-changes", ...rsync);
      assert.equal(again, "");
    });
  });

  test("pread and mmap at random offsets are the container's bytes", [
    "python3",
  ], async (user) => {
    const archive = `${user.home}/data.ffr`;
    const files = makeSampleTree(user.home).filter(({ path }) =>
      !path.startsWith("many/")
    );
    const oracle = `${user.home}/oracle.json`;
    fs.writeFileSync(oracle, JSON.stringify({ archive, files }));
    await user.own(oracle);
    await mounted(user, archive, async (mountpoint) => {
      const checked = await runPython(
        user,
        "random_access.py",
        oracle,
        mountpoint,
      );
      assert.ok(Number(checked) > files.length * 50, checked);
    });
  });

  test("numpy.load maps an array", ["numpy"], async (user) => {
    const npy = `${user.home}/a.npy`;
    await user.do(
      user.python,
      "-c",
      `import numpy; numpy.save("${npy}", numpy.arange(1e6).reshape(1000, 1000))`,
    );
    fs.writeFileSync(
      `${user.home}/arrays.ffr`,
      ffrBytes([fs.readFileSync(npy)]),
    );
    const load =
      "import numpy, sys; a = numpy.load(sys.argv[1], mmap_mode='r'); " +
      "print(type(a).__name__, a.shape, a.dtype, float(a[123, 456]), float(a.sum()))";
    await mounted(
      user,
      `${user.home}/arrays.ffr`,
      async (mountpoint) => {
        const printed = await user.do(
          user.python,
          "-c",
          load,
          `${mountpoint}/000000.npy`,
        );
        assert.equal(
          printed,
          "memmap (1000, 1000) float64 123456.0 499999500000.0\n",
        );
      },
      "--ext",
      "npy",
    );
  });

  test("8 readers at once read the packed content", [], async (user) => {
    makeSampleTree(user.home);
    await user.own(`${user.home}/original`);
    // Each sha256sum writes to a file of its own, since lines of concurrent processes would mix on one pipe.
    const sums = `out=$(mktemp -d) && cd "$1" && find . -type f -print0 |
      xargs -0 -P8 -n40 sh -c 'sha256sum -z "$@" > "$(mktemp -p "$0")"' "$out" &&
      cat "$out"/* | sort -z && rm -r "$out"`;
    const expected = await user.do(
      "sh",
      "-c",
      sums,
      "sh",
      `${user.home}/original`,
    );
    assert.ok(expected.length > MANY * 64);
    await mounted(user, `${user.home}/data.ffr`, async (mountpoint) => {
      const seen = await user.do("sh", "-c", sums, "sh", mountpoint);
      assert.ok(seen === expected, "the checksums differ");
    });
  });

  test(
    "seekdir works in a directory of very many entries",
    ["python3"],
    async (user) => {
      const count = LONG ? 100_000 : 30_000;
      fs.writeFileSync(
        `${user.home}/a.ffr`,
        ffrBytes(Array.from({ length: count }, () => new Uint8Array(0))),
      );
      await mounted(user, `${user.home}/a.ffr`, async (mountpoint) => {
        const seen = await runPython(
          user,
          "seek_directory.py",
          mountpoint,
          String(count),
        );
        assert.equal(Number(seen), count + 2);
      });
    },
  );
}

/** Runs a Python script from a copy that the user can read. */
async function runPython(
  user: User,
  name: string,
  ...args: string[]
): Promise<string> {
  const copy = `${user.home}/${name}`;
  fs.copyFileSync(script(name), copy);
  await user.own(copy);
  return await user.do(user.python, copy, ...args);
}
