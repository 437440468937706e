/** Ids and names of every kind, converted between formats. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import fc from "../support/random.ts";
import { convert } from "../../src/open/convert/convert.ts";
import type { FileTree } from "../../src/convert/from/file_tree.ts";
import { byNumber } from "../../src/convert/from/number_order.ts";
import { packEntries } from "../../src/formats/ffrecord/convert/targets.ts";
import { GulpDirectory } from "../../src/formats/gulp/mod.ts";
import { filesOf, namesIn, videosOf } from "../support/converted.ts";
import { sha256 } from "../support/golden.ts";
import { gulpCase } from "../support/gulp/gulp_golden.ts";
import { JPEGS } from "../support/gulp/gulp_content.ts";
import { writeDataset } from "../support/bags/make_bag.ts";
import { fakeJpeg, writeChunk } from "../support/gulp/make_gulp.ts";
import { recordfs } from "../cli/run_cli.ts";
import { withTempDir } from "../support/paths.ts";

const GULP = { to: "gulp" } as const;
const text = (value: string) => new TextEncoder().encode(value);

/** Ids that file names represent in another way, or not at all. */
const LONG = [
  "long".repeat(80),
  `${"long".repeat(80)}er`,
  `longlong${"a".repeat(222)}~0123456789abcdef`, // like a name that was shortened
];
const IDS = [
  "line\nfeed",
  "\n",
  "tab\there",
  "carriage\rreturn",
  " before",
  "after ",
  " ",
  ".",
  "..",
  "../../up",
  "/etc/passwd",
  "a/b",
  "a//b/",
  "a\\b",
  "nul\0nul",
  "50%",
  "%2F",
  "%",
  "\u202eright to left",
  "é",
  "e\u0301",
  "😀",
  "label2idx.json",
  "meta.json",
  "-rf",
  ".hidden",
];

/** Returns the ids of a directory, sorted, each with its number of frames. */
function framesById(dir: string): [string, number][] {
  return videosOf(dir).map(([id, , frames]): [string, number] => [
    id,
    frames.length,
  ]).sort(([a], [b]) => a < b ? -1 : 1);
}

/** Writes videos with one to three frames, depending on their position in the list. */
function writeIds(dir: string, ids: readonly string[]): void {
  const [frame] = JPEGS as [Uint8Array];
  writeChunk(
    dir,
    0,
    ids.map((id, i) => ({ id, frames: Array(1 + i % 3).fill(frame) })),
  );
}

Deno.test("any id is preserved from GulpIO to GulpIO", async () => {
  await withTempDir(async (dir) => {
    writeIds(`${dir}/a`, [...IDS, ...LONG, "", "\ud800", "x\udc80"]);
    const { plan } = await convert(`${dir}/a`, `${dir}/b`, {
      ...GULP,
      videosPerChunk: 4,
    });
    assert.deepEqual([plan.from, plan.to, plan.lost], ["GulpIO", "GulpIO", []]);
    assert.deepEqual(videosOf(`${dir}/b`), videosOf(`${dir}/a`));
  });
});

Deno.test("short ids are restored from files and from bags", async (t) => {
  await withTempDir(async (dir) => {
    writeIds(`${dir}/a`, IDS);
    for (
      const [there, options] of [
        ["files/", {}],
        ["packed.ffr", {}],
        ["bags1", { to: "bags", generation: 1 }],
        ["bags2", { to: "bags", generation: 2 }],
        ["bags3", { to: "bags", generation: 3 }],
      ] as const
    ) {
      await t.step(there, async () => {
        const { plan } = await convert(`${dir}/a`, `${dir}/${there}`, options);
        assert.deepEqual(plan.lost, []);
        await convert(`${dir}/${there}`, `${dir}/back`, GULP);
        assert.deepEqual(framesById(`${dir}/back`), framesById(`${dir}/a`));
        fs.rmSync(`${dir}/back`, { recursive: true });
      });
    }
  });
});

Deno.test("ids that names cannot represent are a loss that the plan reports, and stay distinct", async (t) => {
  await withTempDir(async (dir) => {
    writeIds(`${dir}/a`, [...LONG, "short"]);
    for (const target of ["files/", "packed.ffr"]) {
      await t.step(target, async () => {
        await assert.rejects(
          convert(`${dir}/a`, `${dir}/${target}`),
          /without losing ids longer than names can be \(3\), which become "longlong[^"]*~[0-9a-f]{16}", "/,
        );
        assert.equal(namesIn(dir).includes(target.replace("/", "")), false);
        await convert(`${dir}/a`, `${dir}/${target}`, { lossy: true });
        await convert(`${dir}/${target}`, `${dir}/back`, GULP);
        const ids = framesById(`${dir}/back`).map(([id]) => id);
        assert.equal(ids.length, 4);
        for (const id of ids) assert.match(id, /^(short|long.*~[0-9a-f]{16})$/);
        fs.rmSync(`${dir}/back`, { recursive: true });
      });
    }
  });
});

Deno.test("names in a folder become ids, including line feeds, spaces and dots", async (t) => {
  await withTempDir(async (dir) => {
    const names = ["a\nb", "\n", " c ", "d\t", "...", "e\r", "-f", "100%", "é"];
    for (const name of names) {
      fs.mkdirSync(`${dir}/in/${name}`, { recursive: true });
      for (const frame of ["a\nb1.jpg", "a\nb10.jpg", "a\nb9.jpg"]) {
        const number = Number(/\d+/.exec(frame)![0]);
        fs.writeFileSync(`${dir}/in/${name}/${frame}`, JPEGS[number % 5]!);
      }
    }
    const frames = [1, 9, 10].map((number) => sha256(JPEGS[number % 5]!));
    const expected = names.sort().map((name) => [name, {}, frames]);
    await convert(`${dir}/in`, `${dir}/packed.ffr`);
    for (const source of ["in", "packed.ffr"]) {
      await t.step(source, async () => {
        await convert(`${dir}/${source}`, `${dir}/out`, GULP);
        assert.deepEqual(videosOf(`${dir}/out`), expected);
        fs.rmSync(`${dir}/out`, { recursive: true });
      });
    }
  });
});

Deno.test("names that are not valid text become ids, from packed folders", async () => {
  await withTempDir(async (dir) => {
    // Names that files here can't have: the bytes FF FE and FE FE, and names that only look encoded.
    const names = ["\udcff\udcfe", "\udcfe\udcfe", "%ED%A0", "%ED%FF%FF", "a"];
    await packNames(`${dir}/a.ffr`, names);
    await convert(`${dir}/a.ffr`, `${dir}/b`, GULP);
    assert.deepEqual(videosOf(`${dir}/b`).map(([id]) => id), names);
    await convert(`${dir}/b`, `${dir}/c.ffr`);
    await convert(`${dir}/c.ffr`, `${dir}/d`, GULP);
    assert.deepEqual(videosOf(`${dir}/d`), videosOf(`${dir}/b`));
  });
});

/** Writes a packed folder with these directories, and a JPEG in each. */
async function packNames(file: string, names: string[]): Promise<void> {
  const entries = names.flatMap((name) => [
    { path: name, name, depth: 1, isDirectory: true },
    { path: `${name}/1.jpg`, name: "1.jpg", depth: 2, isDirectory: false },
  ]);
  const tree = {
    location: "names",
    walk: () => ReadableStream.from(entries),
    contents: () =>
      ReadableStream.from([{
        files: entries.map((entry) => ({
          entry,
          content: entry.isDirectory ? undefined : JPEGS[0]!,
        })),
      }]),
  };
  await packEntries(tree as Partial<FileTree> as FileTree, file, () => {}, {});
}

Deno.test("names that files cannot have are reported", async (t) => {
  await withTempDir(async (dir) => {
    await t.step("over 255 bytes", async () => {
      await packNames(`${dir}/a.ffr`, ["n".repeat(300)]);
      await assert.rejects(convert(`${dir}/a.ffr`, `${dir}/files/`), {
        code: "ENAMETOOLONG",
        message: new RegExp(`^Cannot extract to ${dir}/files/+n{300}: `),
      });
      assert.deepEqual(namesIn(dir), ["a.ffr"]);
    });
    await t.step("not UTF-8", async () => {
      const script = 'mkdir -p "$1/in/$(printf "\\377")"';
      const { success } = await new Deno.Command("sh", {
        args: ["-c", script, "sh", dir],
      }).output();
      assert.ok(success);
      const refused = await recordfs(
        ["convert", `${dir}/in`, `${dir}/refused/`],
        { permissions: ["--allow-read", `--allow-write=${dir}`] },
      );
      assert.equal(refused.code, 1);
      assert.match(
        refused.stderr,
        /in\/.*: its name is not UTF-8, which takes --allow-ffi/,
      );
      await convert(`${dir}/in`, `${dir}/direct`, GULP);
      assert.deepEqual(videosOf(`${dir}/direct`), [["\udcff", {}, []]]);
      await convert(`${dir}/in`, `${dir}/copy/`);
      assert.equal(fs.readdirSync(`${dir}/copy`).length, 1);
      await convert(`${dir}/in`, `${dir}/in.ffr`);
      await convert(`${dir}/in.ffr`, `${dir}/out`, GULP);
      assert.deepEqual(videosOf(`${dir}/out`), [["\udcff", {}, []]]);
    });
  });
});

Deno.test("two names for one id are rejected by name", async () => {
  await withTempDir(async (dir) => {
    for (const name of ["%25zz", "%zz"]) { // a tree shows the id %zz as %25zz
      fs.mkdirSync(`${dir}/in/${name}`, { recursive: true });
      fs.writeFileSync(`${dir}/in/${name}/1.jpg`, JPEGS[0]!);
    }
    await assert.rejects(
      convert(`${dir}/in`, `${dir}/out`, GULP),
      /in\/%zz: its id "%zz" occurs twice; nothing was written/,
    );
    assert.deepEqual(namesIn(dir), ["in"]);
  });
});

Deno.test("frames are ordered by their numbers, however many digits they have", async (t) => {
  const orders: Record<string, string[]> = {
    "as mounts showed them": [
      "frame_0009.jpg",
      "frame_9999.jpg",
      "frame_10000.jpg",
    ],
    "five digits": ["frame_00009.jpg", "frame_09999.jpg", "frame_10000.jpg"],
    "no zeros": ["1.jpg", "2.jpeg", "10.JPG"],
    "beyond doubles": [
      "t9007199254740991.jpg",
      "t9007199254740992.jpg",
      "t9007199254740993.jpg",
      "t10000000000000000000.jpg",
    ],
    "mixed": ["a1.jpg", "a02.jpg", "a2.jpg", "a003.jpg", "b1.jpg"],
  };
  for (const [name, order] of Object.entries(orders)) {
    await t.step(name, async () => {
      await withTempDir(async (dir) => {
        fs.mkdirSync(`${dir}/in/v`, { recursive: true });
        for (const [i, file] of order.entries()) {
          fs.writeFileSync(`${dir}/in/v/${file}`, JPEGS[i]!);
        }
        await convert(`${dir}/in`, `${dir}/out`, GULP);
        const [[, , frames]] = videosOf(`${dir}/out`) as [
          [string, unknown, string[]],
        ];
        assert.deepEqual(frames, order.map((_, i) => sha256(JPEGS[i]!)));
      });
    });
  }
});

Deno.test("names with numbers are ordered by the numbers", () => {
  const name = fc.tuple(
    fc.constantFrom("", "a", "frame_", "a.b\n"),
    fc.bigInt({ min: 0n, max: 10n ** 30n }),
    fc.nat(40),
  ).map(([before, number, width]) => ({
    before,
    number,
    name: `${before}${String(number).padStart(width, "0")}.jpg`,
  }));
  fc.assert(fc.property(name, name, (a, b) => {
    const order = Math.sign(byNumber(a.name, b.name));
    assert.equal(order, 0 - Math.sign(byNumber(b.name, a.name)));
    assert.equal(order === 0, a.name === b.name);
    if (a.before === b.before && a.number !== b.number) {
      assert.equal(order, a.number < b.number ? -1 : 1);
    }
  }));
});

Deno.test("a long video's frames keep their order through a folder, and back", async () => {
  await withTempDir(async (dir) => {
    const { path } = gulpCase("v2_many_frames");
    await convert(path, `${dir}/files/`);
    const names = fs.readdirSync(`${dir}/files/long`).sort();
    assert.equal(names[0], "frame_00001.jpg");
    assert.equal(names[10_000], "frame_10001.jpg");
    using directory = GulpDirectory.openSync(path, { decode: false });
    const { frames } = directory.getRawSync("long");
    for (const i of [0, 998, 1000, 9_998, 9_999, 10_000]) {
      const file = fs.readFileSync(`${dir}/files/long/${names[i]}`);
      assert.equal(sha256(file), sha256(frames[i]!));
    }
    await convert(`${dir}/files`, `${dir}/back`, GULP);
    const byId = (path: string) =>
      videosOf(path).sort(([a], [b]) => a < b ? -1 : 1);
    assert.deepEqual(byId(`${dir}/back`), byId(path));
  });
});

Deno.test("values of lists and datapoints are ordered by their numbers", async () => {
  await withTempDir(async (dir) => {
    const order = ["000001", "000009", "10", "0000011", "1000000"];
    for (const datapoint of ["999999", "1000000", "0999998"]) {
      fs.mkdirSync(`${dir}/in/${datapoint}/x.9`, { recursive: true });
      for (const name of order) {
        fs.writeFileSync(
          `${dir}/in/${datapoint}/x.9/${name}`,
          `${datapoint} ${name}`,
        );
      }
    }
    fs.writeFileSync(`${dir}/in/spec.json`, '{"x.9": "utf8[]"}');
    const options = { to: "bags", generation: 2 } as const;
    await convert(`${dir}/in`, `${dir}/out`, options);
    const files = await filesOf(`${dir}/out`);
    for (const [i, point] of ["0999998", "999999", "1000000"].entries()) {
      for (const [k, name] of order.entries()) {
        const value = files.get(`00000${i}/x.9/00000${k}`)!;
        assert.equal(new TextDecoder().decode(value), `${point} ${name}`);
      }
    }
  });
});

Deno.test("any ids of datapoints become ids of videos", async () => {
  await withTempDir(async (dir) => {
    const ids = [...IDS, ...LONG];
    writeDataset(
      `${dir}/a`,
      { frames: "jpg[]", id: "utf8" },
      ids.map((id) => ({ frames: [JPEGS[0]!], id: text(id) })),
      2,
    );
    await convert(`${dir}/a`, `${dir}/b`, GULP);
    assert.deepEqual(videosOf(`${dir}/b`).map(([id]) => id), ids);
  });
});

Deno.test("properties of videos that files do not show are a loss that the plan reports", async (t) => {
  await withTempDir(async (dir) => {
    const frames = [JPEGS[0]!];
    const meta = writeChunk(`${dir}/twice`, 0, [{ id: "a", frames }]);
    meta["a"]!.meta_data.push({ n: 2 });
    fs.writeFileSync(`${dir}/twice/meta_0.gmeta`, JSON.stringify(meta));
    const bad = writeChunk(`${dir}/bad`, 0, [{ id: "a", frames }, {
      id: "b",
      frames: [fakeJpeg(16)],
    }]);
    bad["b"]!.frame_info[0]![0] = 10 ** 9;
    fs.writeFileSync(`${dir}/bad/meta_0.gmeta`, JSON.stringify(bad));
    const words = {
      twice: /losing all but the first metadata of "a"/,
      bad: /losing videos that cannot be read \(1\), named by warnings/,
    };
    for (const [source, lost] of Object.entries(words)) {
      for (const target of ["files/", "packed.ffr", "gulp", "all.bag"]) {
        await t.step(`${source} to ${target}`, async () => {
          const options = target === "gulp" ? GULP : {};
          const warnings: string[] = [];
          const onWarning = (line: string) => void warnings.push(line);
          await assert.rejects(
            convert(`${dir}/${source}`, `${dir}/${target}`, {
              ...options,
              onWarning,
            }),
            lost,
          );
          assert.deepEqual(namesIn(dir), ["bad", "twice"]);
          assert.equal(
            warnings.some((line) => /frame out of range/.test(line)),
            source === "bad",
          );
        });
      }
    }
  });
});
