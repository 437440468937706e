/** Remote tars: number of requests, and what is cached. */
import assert from "node:assert/strict";
import { checked } from "../../../support/checked.ts";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { open } from "../../../../src/open/open.ts";
import { OpenedSamples } from "../../../../src/open/samples/opened_samples.ts";
import { asked, serving } from "../../../support/remote/serving.ts";
import { memberBytes } from "../../../support/tar/make_tar.ts";
import { openWeb, openWebDataset } from "../../../support/tar/open_web.ts";
import { tarCase } from "../../../support/tar/tar_golden.ts";

/** Longest requested range in bytes. */
const LONGEST = 8 << 20;

/** Makes a tar of members of these sizes. */
function tarOf(sizes: readonly number[]): Buffer {
  const members = sizes.map((size, i) =>
    memberBytes({
      name: `${i >> 1}.${i % 2 ? "cls" : "txt"}`,
      data: Buffer.alloc(size, 65 + i % 26),
    })
  );
  return Buffer.concat([...members, Buffer.alloc(10_240)]);
}

Deno.test("small members are streamed once, and later opens only revalidate", () =>
  serving(async (served) => {
    const { dir, server, remote } = served;
    const bytes = tarOf(Array(6000).fill(4000));
    fs.writeFileSync(`${dir}/a.tar`, bytes);
    const url = `${server.url}/a.tar`;
    {
      using container = await open(url, { remote });
      assert.equal(container.info.files, 6000);
      const { count } = asked(served, "/a.tar");
      assert.ok(count <= Math.ceil(bytes.length / LONGEST) + 1, String(count));
    }
    server.asked.length = 0;
    using container = await open(url, { remote });
    const read = await container.read(["0.txt", "2999.cls", "1500.txt"]);
    assert.deepEqual(read.map(([first]) => first), [
      65,
      65 + 5999 % 26,
      65 + 3000 % 26,
    ]);
    assert.equal(asked(served, "/a.tar").count, 1);
  }));

Deno.test("large members are skipped", () =>
  serving(async (served) => {
    const { dir, server, remote } = served;
    const large = 9 << 20;
    const bytes = tarOf([10, large, 20, large, large, 4000, 5000, large]);
    fs.writeFileSync(`${dir}/a.tar`, bytes);
    using container = await open(`${server.url}/a.tar`, { remote });
    assert.equal(container.info.files, 8);
    const { count, bytes: fetched } = asked(served, "/a.tar");
    assert.ok(count <= bytes.length / LONGEST + 4, String(count));
    assert.ok(fetched < 2 << 20, String(fetched));
    const [one] = await container.read(["2.txt"]);
    assert.ok(one!.every((byte) => byte === 69));
  }));

/** Returns what DALI's `wds2idx` writes, according to its description. */
function daliIndex(sizes: readonly number[]): string {
  let offset = 0;
  const files = sizes.map((size, i) => {
    const start = offset + 512;
    offset = start + Math.ceil(size / 512) * 512;
    const extension = i % 2 ? "cls" : "txt";
    return `${extension} ${start} ${size} ${i >> 1}.${extension}`;
  });
  const lines: string[] = [];
  for (let i = 0; i < files.length; i += 2) {
    lines.push(files.slice(i, i + 2).join(" "));
  }
  return `v1.2 ${lines.length}\n${lines.join("\n")}\n`;
}

Deno.test("an index of DALI next to a tar is used if it agrees", () =>
  serving(async (served) => {
    const { dir, server } = served;
    const sizes: number[] = Array(1200).fill(20_000);
    const bytes = tarOf(sizes);
    fs.writeFileSync(`${dir}/a.tar`, bytes);
    const right = daliIndex(sizes);
    const cases = [
      [right, true],
      [right.replace("v1.2", "v1.1"), false],
      [right.replace("v1.2 600", "v1.2 601"), false],
      [right.replace(" 0.txt", " x.txt"), false],
      [right.replace(" 20000 599.cls", " 20001 599.cls"), false],
      [right.replace("cls 21504", "cls 22016"), false],
      [
        right.replace(/\n[^\n]*\n$/, "\n").replace("v1.2 600", "v1.2 599"),
        false,
      ],
      ["", false],
    ] as const;
    for (const [text, isUsed] of cases) {
      fs.writeFileSync(`${dir}/a.idx`, text);
      server.asked.length = 0;
      using container = await open(`${server.url}/a.tar`, {
        remote: { cache: false },
      });
      assert.equal(container.info.files, 1200);
      assert.deepEqual(container.info.facts, { samples: 600 });
      assert.equal(
        asked(served, "/a.tar").bytes < 1 << 20,
        isUsed,
        text.slice(0, 100),
      );
      const last = await container.read("599.cls");
      assert.deepEqual(last, new Uint8Array(20_000).fill(65 + 1199 % 26));
    }
  }));

Deno.test("a stale index of DALI never gives wrong bytes, and check names it", () =>
  serving(async (served) => {
    const { dir, server } = served;
    const sizes: number[] = Array(1200).fill(20_000);
    const url = `${server.url}/a.tar`;
    const remote = { cache: false } as const;
    fs.writeFileSync(`${dir}/a.idx`, daliIndex(sizes));
    // Two files have swapped places, which no index of offsets shows.
    const members = sizes.map((size, i) =>
      memberBytes({
        name: `${i >> 1}.${i % 2 ? "cls" : "txt"}`,
        data: Buffer.alloc(size, 65 + i % 26),
      })
    );
    [members[600], members[602]] = [members[602]!, members[600]!];
    // Another file has a different size, which fills the same blocks.
    members[800] = memberBytes({ name: "400.txt", data: Buffer.alloc(19_999) });
    const whole = Buffer.concat([...members, Buffer.alloc(10_240)]);
    fs.writeFileSync(`${dir}/a.tar`, whole);
    {
      using container = await open(url, { remote });
      assert.ok(asked(served, "/a.tar").bytes < 1 << 20); // the index is used
      assert.deepEqual(
        await container.read(["299.txt", "302.cls"]),
        [598, 605].map((i) => new Uint8Array(20_000).fill(65 + i % 26)),
      );
      for (const member of ["300.txt", "301.txt", "400.txt"]) {
        const stale = { code: "bad-index", member, message: /a\.idx/ };
        await assert.rejects(container.read(member), stale);
        await assert.rejects(container.read(["0.txt", member]), stale);
        await assert.rejects(container.readRange(member, 5, 10), stale);
      }
      using samples = await openWeb(url, { remote });
      await assert.rejects(samples.read([300]), { code: "bad-index" });
      const { storage } = samples;
      using shared = await OpenedSamples.openShared(samples.share(), {
        storage,
      });
      await assert.rejects(shared.read([301]), { code: "bad-index" });
    }
    for (const location of [new URL(url), `${dir}/a.tar`]) {
      const { codes, damages } = await checked(location, { remote });
      assert.deepEqual(codes, ["bad-index"]);
      assert.match(damages[0]!.path!, /\/a\.idx$/);
    }
    fs.rmSync(`${dir}/a.idx`);
    assert.equal((await checked(new URL(url), { remote })).damaged, 0);
  }));

Deno.test("the header before a content is fetched with it, once", () =>
  serving(async (served) => {
    const { dir, server } = served;
    const sizes: number[] = Array(1200).fill(20_000);
    fs.writeFileSync(`${dir}/a.tar`, tarOf(sizes));
    fs.writeFileSync(`${dir}/a.idx`, daliIndex(sizes));
    using container = await open(`${server.url}/a.tar`, {
      remote: { cache: false },
    });
    for (const name of ["100.txt", "100.txt", "300.cls"]) {
      server.asked.length = 0;
      await container.read(name);
      const { count } = asked(served, "/a.tar");
      assert.ok(count <= 1, `${name}: ${count}`);
    }
  }));

Deno.test("shards of a server are one container, by a directory listing or a pattern", () =>
  serving(async ({ dir, server, remote }) => {
    fs.cpSync(tarCase("shards").path, `${dir}/data`, { recursive: true });
    fs.mkdirSync(`${dir}/a b`);
    for (const number of ["000000", "000001"]) {
      const name = `train-${number}.tar`;
      fs.copyFileSync(`${dir}/data/${name}`, `${dir}/a b/${name}`);
    }
    const last = `${server.url}/data/train-000002.tar`;
    for (
      const location of [
        ...["data/", "data/train-{000000..000002}.tar"],
        `data/train-{000000..000001}.tar::${last}`,
        // Names that are encoded in a URL.
        `a b/train-00000{0,1}.tar::${last}`,
      ]
    ) {
      const url = `${server.url}/${location}`;
      using files = await open(url, { remote });
      assert.deepEqual(await files.list(""), [
        ...["train-000000", "train-000001", "train-000002"],
      ]);
      using dataset = await openWebDataset(url, { remote });
      const [sample] = await dataset.get([14]);
      assert.equal(sample?.["txt"], "text of 14\n");
    }
  }));
