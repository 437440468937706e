/** Data after the end of a tar, and skipped data inside it, is reported by every command. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { open } from "../../../../src/open/open.ts";
import { recordfs } from "../../../cli/run_cli.ts";
import { output } from "../../../fuse/support/mounting.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import { memberBytes, tarBytes } from "../../../support/tar/make_tar.ts";

const MEMBERS = ["a", "b", "c"].map((name) => ({ name, data: name }));
const FIRST = Buffer.concat(MEMBERS.slice(0, 1).map(memberBytes));
const REST = Buffer.concat(MEMBERS.slice(1).map(memberBytes));
const END = Buffer.alloc(1024);

/** The header of `b` is zeroed, its content is not. */
const ZEROED = Buffer.concat([FIRST, REST, END]);
ZEROED.fill(0, FIRST.length, FIRST.length + 512);

const BEHIND: Record<string, { tar: Uint8Array; says: RegExp }> = {
  "a zeroed header": { tar: ZEROED, says: /lone block of zeros at byte 1024/ },
  "a lone block of zeros": {
    tar: Buffer.concat([FIRST, Buffer.alloc(512), REST, END]),
    says: /lone block of zeros at byte 1024.*from byte 1536/,
  },
  "another tar": {
    tar: Buffer.concat([FIRST, Buffer.alloc(10_240), REST, END]),
    says: /blocks of zeros at byte 1024.*from byte 11264.*--ignore-zeros/,
  },
  "one byte": {
    tar: Buffer.concat([FIRST, END, Buffer.alloc(70_000), Buffer.of(1)]),
    says: /from byte 72048 on/,
  },
};

for (const [name, { tar, says }] of Object.entries(BEHIND)) {
  Deno.test(`data after an end is reported, and counts: ${name}`, () =>
    withTempDir(async (dir) => {
      const path = `${dir}/t.tar`;
      fs.writeFileSync(path, tar);
      const ls = await recordfs(["ls", path]);
      assert.deepEqual([ls.code, ls.stdout], [0, "a\n"]);
      assert.match(ls.stderr, says);
      const info = JSON.parse(
        (await recordfs(["info", "--json", path])).stdout,
      );
      assert.equal(info.facts.unreadable, 1);
      const check = await recordfs(["check", path]);
      assert.equal(check.code, 1);
      assert.match(check.stdout, says);
      const extract = await recordfs(["extract", path, `${dir}/x`]);
      assert.equal(extract.code, 1, extract.stderr);
      assert.match(extract.stderr, says);
      assert.equal(fs.readFileSync(`${dir}/x/a`, "utf8"), "a");
      const partial = ["extract", "--partial", path, `${dir}/y`];
      assert.equal((await recordfs(partial)).code, 0);
      const convert = ["convert", path, `${dir}/t.zip`];
      const refused = await recordfs(convert);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, says);
      assert.ok(!fs.existsSync(`${dir}/t.zip`));
      assert.equal((await recordfs([...convert, "--lossy"])).code, 0);
      using converted = await open(`${dir}/t.zip`);
      assert.deepEqual(await converted.list(""), ["a"]);
    }));
}

Deno.test("a missing end, or a single block of zeros at the end, is a warning", () =>
  withTempDir(async (dir) => {
    const path = `${dir}/t.tar`;
    for (const zeros of [0, 100, 512, 600]) {
      fs.writeFileSync(path, Buffer.concat([FIRST, Buffer.alloc(zeros)]));
      for (const args of [["ls"], ["check"], ["extract"], ["convert"]]) {
        const target = args[0] === "ls" || args[0] === "check" ? [] : [
          `${dir}/${args[0]}-${zeros}${args[0] === "convert" ? ".zip" : ""}`,
        ];
        const ran = await recordfs([...args, path, ...target]);
        assert.equal(ran.code, 0, ran.stderr);
        assert.match(
          ran.stderr,
          /ends with(out the blocks of zeros| one block)/,
        );
      }
    }
  }));

Deno.test("any number of zeros ends a tar without a warning", async () => {
  for (const zeros of [1024, 1025, 10_240, 1 << 20, (65 << 20) + 1]) {
    const warnings: string[] = [];
    using container = await open(
      new File([tarBytes(MEMBERS, zeros)], "t.tar"),
      { onWarning: (warning) => void warnings.push(warning) },
    );
    assert.deepEqual([container.info.files, warnings], [3, []]);
  }
});

Deno.test({
  name:
    "a directory by its slash has no content: the members are those that tar extracts",
  ...needs("tar"),
  fn: () =>
    withTempDir(async (dir) => {
      let run = 0;
      for (const magic of ["", "ustar  \0", "ustar\0" + "00"]) {
        for (
          const [name, type] of [["d/", "\0"], ["d/", "0"], ["d/", "5"], [
            "d",
            "5",
          ]]
        ) {
          for (
            const [size, data] of [[600, ""], [600, "x".repeat(600)], [1, ""]]
          ) {
            const place = `${dir}/${run++}`;
            fs.mkdirSync(place);
            const members = [
              {
                name: name!,
                type: type!,
                size: size as number,
                data: data as string,
                magic,
              },
              { name: "empty.txt", magic },
              { name: "b.txt", data: "hello", magic },
            ];
            fs.writeFileSync(`${place}.tar`, tarBytes(members));
            await output("tar", "-xf", `${place}.tar`, "-C", place)
              .catch(() => {}); // tar reports that it skips what is not a header
            const theirs = fs.readdirSync(place).sort();
            assert.deepEqual(theirs, ["b.txt", "d", "empty.txt"]);
            using container = await open(`${place}.tar`, { onWarning() {} });
            assert.deepEqual((await container.list("")).sort(), theirs);
            assert.deepEqual(container.info.facts, undefined);
            const text = await container.read("b.txt");
            assert.equal(new TextDecoder().decode(text), "hello");
          }
        }
      }
    }),
});
