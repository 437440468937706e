import assert from "node:assert/strict";
import { open } from "../../../src/open/open.ts";
import type {
  AtMessage,
  EntryMessage,
  InfoMessage,
  ListMessage,
  RandomMessage,
  SearchLine,
} from "../../../src/serve/api/messages.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { goldenCase } from "../../support/golden.ts";
import { fromFileUrl } from "../../support/paths.ts";
import {
  linesOf,
  served,
  type ServedFolder,
  serveFolder,
} from "../../support/serve/served_folder.ts";

const GOLDEN = fromFileUrl(new URL("../../golden/", import.meta.url));

async function ask<T>(folder: ServedFolder, question: string): Promise<T> {
  const response = await folder.get(`api/${question}`);
  assert.equal(response.status, 200, question);
  return await response.json();
}

Deno.test("a million entries: any page is reached, and the total is known at once", async () => {
  const count = 1_000_000;
  const bytes = ffrBytes(Array.from({ length: count }, () => new Uint8Array()));
  await using folder = served(await open(Uint8Array.from(bytes)));
  const first = await ask<ListMessage>(folder, "list?limit=3");
  assert.equal(first.total, count);
  assert.deepEqual(first.entries.map(({ name }) => name), [
    "000000",
    "000001",
    "000002",
  ]);
  assert.equal(first.start, 0);
  const second = await ask<ListMessage>(
    folder,
    `list?limit=2&cursor=${first.next}`,
  );
  assert.deepEqual(second.entries.map(({ name }) => name), [
    "000003",
    "000004",
  ]);
  const far = await ask<ListMessage>(folder, "list?at=999998");
  assert.deepEqual(far.entries.map(({ name }) => name), ["999998", "999999"]);
  assert.equal(far.next, null);
  assert.equal(far.start, 999_998);
  const beyond = await ask<ListMessage>(folder, "list?at=1000000");
  assert.deepEqual([beyond.entries, beyond.next, beyond.total], [
    [],
    null,
    count,
  ]);
  const at = await ask<AtMessage>(folder, "at?index=765432");
  assert.equal(at.entry.name, "765432");
  const { entry, index, sample } = await ask<EntryMessage>(
    folder,
    "entry?path=765432",
  );
  assert.deepEqual([entry.path, index, sample], ["765432", 765_432, 765_432]);
  const none = await folder.get("api/at?index=1000000");
  assert.equal(none.status, 404);
  assert.equal((await none.json()).error.code, "not-found");
});

Deno.test("other requests are served during a count", async () => {
  const bytes = ffrBytes(
    Array.from({ length: 400_000 }, () => new Uint8Array()),
  );
  await using folder = served(await open(Uint8Array.from(bytes)));
  let isCounted = false;
  const counting = folder.get("api/statistics").then(async (response) => {
    await response.text();
    isCounted = true;
  });
  for (let i = 0; i < 3; i++) {
    await ask<ListMessage>(folder, `list?at=${i}&limit=1`);
  }
  assert.ok(!isCounted);
  await counting;
});

Deno.test("pages of a directory cover it, once, whatever their size", async () => {
  const names = Array.from({ length: 25 }, (_, i) => `n${i}`);
  await using folder = await serveFolder({
    dir: Object.fromEntries(names.map((name) => [name, name])),
  });
  for (const limit of [1, 4, 5, 24, 25, 26]) {
    const found: string[] = [];
    for (let cursor = "";;) {
      const page = await ask<ListMessage>(
        folder,
        `list?path=dir&limit=${limit}${cursor}`,
      );
      assert.equal(page.start, found.length);
      assert.equal(page.total, 25);
      found.push(...page.entries.map(({ name }) => name));
      if (page.next === null) break;
      cursor = `&cursor=${page.next}`;
    }
    assert.deepEqual(found.sort(), names.toSorted());
  }
  for (
    const [question, status] of [["list?path=none", 404], [
      "list?path=dir/n1",
      409,
    ], ["entry?path=dir/..", 400]] as const
  ) {
    const response = await folder.get(`api/${question}`);
    assert.equal(response.status, status);
    assert.equal(typeof (await response.json()).error.message, "string");
  }
});

Deno.test("entries have kinds, by their formats, names and first bytes", async () => {
  await using folder = await serveFolder({
    ...{
      "a.JPG": "picture",
      "b.npy": "",
      "c.json": "",
      "d.csv": "",
      "e.html": "",
    },
    ...{ "f.pdf": "", "g.mp4": "", "h.wav": "", "i.pkl": "", "j.msgpack": "" },
    ...{
      "k.txt": "",
      "l.unknown": "plain text",
      "m.svg": "<svg/>",
      "n": "\x93\x00",
    },
    ...{ "o": "{}", "p": Uint8Array.of(0x80, 4, 0x4e, 0x2e), "q": { r: "" } },
  });
  const { entries } = await ask<ListMessage>(folder, "list");
  assert.deepEqual(
    Object.fromEntries(entries.map(({ name, kind }) => [name, kind])),
    {
      ...{
        "a.JPG": "image",
        "b.npy": "array",
        "c.json": "json",
        "d.csv": "csv",
      },
      ...{
        "e.html": "html",
        "f.pdf": "pdf",
        "g.mp4": "video",
        "h.wav": "audio",
      },
      ...{ "i.pkl": "pickle", "j.msgpack": "msgpack", "k.txt": "text" },
      ...{ "l.unknown": "text", "m.svg": "svg", "n": "binary", "o": "json" },
      ...{ "p": "pickle", "q": "directory" },
    },
  );
  const [picture] = entries;
  assert.equal(picture!.thumbnailUrl, "a.JPG");
});

Deno.test("a clip lists its frames first, and its known facts", async () => {
  await using folder = served(await open(`${GOLDEN}gulp/v1_gray_and_rgb/gulp`));
  const { entries } = await ask<ListMessage>(folder, "list");
  const clip = entries.find(({ name }) => name === "gray")!;
  assert.equal(clip.kind, "clip");
  assert.equal(clip.thumbnailUrl, "gray/frame_0001.jpg");
  const { view } = await ask<EntryMessage>(folder, "entry?path=gray");
  assert.ok(view?.kind === "clip");
  const frames = Array.from(
    { length: view.frames },
    (_, i) => `frame_000${i + 1}.jpg`,
  );
  assert.deepEqual(view.names, frames);
  const expected = JSON.parse(
    await Deno.readTextFile(`${GOLDEN}gulp/v1_gray_and_rgb/expect.json`),
  );
  assert.ok(
    JSON.stringify(expected).includes(
      JSON.stringify((view.meta as { label: string }).label),
    ),
  );
  const inClip = await ask<ListMessage>(folder, "list?path=gray");
  assert.deepEqual(inClip.entries.map(({ name }) => name), [
    ...frames,
    "meta.json",
  ]);
  const { samples } = await ask<InfoMessage>(folder, "info");
  assert.deepEqual(samples, {
    unit: "videos",
    length: entries.filter(({ kind }) => kind === "clip").length,
  });
});

Deno.test("views of nodes are the same in several containers as in one, and in a part of one", async () => {
  const gulp = `${GOLDEN}gulp/v1_gray_and_rgb/gulp`;
  const dataset = `${GOLDEN}granular/types/data`;
  await using both = served(
    await open([{ location: gulp, path: "a/clips" }, {
      location: dataset,
      path: "points",
    }]),
  );
  const kind = async (folder: ServedFolder, path: string) => {
    const { entry, view } = await ask<EntryMessage>(
      folder,
      `entry?path=${path}`,
    );
    return [entry.kind, view?.kind];
  };
  assert.deepEqual(await kind(both, "a"), ["directory", undefined]);
  assert.deepEqual(await kind(both, "a/clips"), ["directory", undefined]);
  assert.deepEqual(await kind(both, "a/clips/gray"), ["clip", "clip"]);
  assert.deepEqual(await kind(both, "points/000001"), [
    "datapoint",
    "datapoint",
  ]);
  assert.deepEqual(await kind(both, "points/000001/photo"), [
    "image",
    undefined,
  ]);
  const { samples } = await ask<InfoMessage>(both, "info");
  assert.equal(samples!.unit, "samples"); // videos and datapoints
  const { entry, parent } = await ask<AtMessage>(
    both,
    `at?index=${samples!.length - 1}`,
  );
  assert.deepEqual([entry.path, parent], ["points/000019", "points"]);

  await using part = served(await open(dataset, { prefix: "000004" }));
  assert.deepEqual(await kind(part, ""), ["datapoint", "datapoint"]);
  const { entries } = await ask<ListMessage>(part, "list");
  assert.equal(entries.find(({ name }) => name === "photo")?.kind, "image");
});

Deno.test("samples are called as their container calls them", async () => {
  for (
    const [name, unit] of [
      ["arrow/deltas", "rows"],
      ["bags/types", "datapoints"],
      ["gulp/v1_appended", "videos"],
      ["mds/every", "samples"],
      ["parquet/types", "rows"],
      ["tfrecord/examples", "records"],
      ["tsv/table", "rows"],
    ] as const
  ) {
    const { path } = goldenCase(name);
    await using folder = served(await open(path, { sampleView: true }));
    const { samples } = await ask<InfoMessage>(folder, "info");
    assert.equal(samples!.unit, unit, name);
  }
});

Deno.test("random samples follow from the seed, are distinct, and have their positions", async () => {
  await using folder = await serveFolder({
    a: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`a${i}`, ""])),
    b: {
      c: Object.fromEntries(
        Array.from({ length: 20 }, (_, i) => [`c${i}`, ""]),
      ),
    },
  });
  const draw = (query: string) => ask<RandomMessage>(folder, `random?${query}`);
  const all = await draw("count=1000&seed=5");
  assert.equal(all.total, 60);
  assert.equal(new Set(all.entries.map(({ path }) => path)).size, 60);
  const paths = ({ entries }: RandomMessage) => entries.map(({ path }) => path);
  assert.deepEqual(
    paths(await draw("count=10&seed=5")),
    paths(all).slice(0, 10),
  );
  assert.notDeepEqual(
    paths(await draw("count=10&seed=6")),
    paths(all).slice(0, 10),
  );
  const below = await draw("count=1000&path=b");
  assert.equal(below.total, 20);
  assert.ok(
    below.entries.every(({ path, url }) =>
      /^b\/c\/c\d+$/.test(path) && url === path
    ),
  );
  assert.equal(below.entries.length, 20);
  const each = await ask<InfoMessage>(folder, "info");
  assert.deepEqual(each.samples, { unit: "files", length: 60 });
});

Deno.test("a search streams the matches of its glob", async () => {
  await using folder = await serveFolder({
    "a.jpg": "",
    "dir": { "b.jpg": "", "c.png": "", "sub dir": { "d.jpg": "" } },
  });
  const found = async (query: string) => {
    const lines = await linesOf<SearchLine>(folder, `search?${query}`);
    const last = lines.at(-1)!;
    assert.ok("isComplete" in last);
    return {
      paths: lines.flatMap((line) => "entry" in line ? [line.entry.path] : []),
      urls: lines.flatMap((line) => "entry" in line ? [line.entry.url] : []),
      isCut: last.isCut,
    };
  };
  assert.deepEqual((await found("glob=*.jpg")).paths.sort(), [
    "a.jpg",
    "dir/b.jpg",
    "dir/sub dir/d.jpg",
  ]);
  assert.deepEqual((await found("glob=sub*&path=dir")).paths, ["dir/sub dir"]);
  assert.deepEqual((await found("glob=/*.jpg&path=dir")).paths, ["dir/b.jpg"]);
  assert.deepEqual((await found("glob=d.jpg")).urls, ["dir/sub%20dir/d.jpg"]);
  const cut = await found("glob=*.jpg&limit=2");
  assert.deepEqual([cut.paths.length, cut.isCut], [2, true]);
});

Deno.test("a check reports its progress and the damage", async () => {
  const path = await Deno.makeTempFile({ suffix: ".ffr" });
  try {
    const bytes = Uint8Array.from(
      ffrBytes([Uint8Array.of(1, 2, 3), Uint8Array.of(4)]),
    );
    bytes[bytes.length - 1]! ^= 1;
    await Deno.writeFile(path, bytes);
    await using folder = served(await open(path));
    const lines = await linesOf<Record<string, unknown>>(
      folder,
      "check",
      "POST",
    );
    const damage = lines.flatMap((line) =>
      "damage" in line ? [line.damage as { code: string; message: string }] : []
    );
    assert.equal(damage.length, 1);
    assert.equal(damage[0]!.code, "sample-checksum");
    assert.deepEqual(lines.at(-1), {
      report: {
        samples: 2,
        bytes: bytes.length,
        damaged: 1,
        compares: "contents",
      },
    });
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("one check runs at a time, and ends when its client leaves", async () => {
  let ended = 0;
  await using folder = await serveFolder({ a: "" }, {
    sources: [{
      location: "endless",
      path: "",
      check: ({ signal }) =>
        new Promise((_, reject) =>
          signal!.addEventListener("abort", () => {
            ended++;
            reject(signal!.reason);
          })
        ),
    }],
  });
  const check = () => folder.get("api/check", { method: "POST" });
  for (let round = 1; round <= 2; round++) {
    const first = await check();
    const reader = first.body!.getReader();
    await reader.read();
    const busy = await check();
    assert.deepEqual([first.status, busy.status], [200, 409]);
    assert.equal((await busy.json()).error.code, "busy");
    await reader.cancel();
    const end = Date.now() + 30_000;
    while (ended < round) {
      assert.ok(Date.now() < end, "it goes on");
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
});

Deno.test("a container in memory cannot be checked", async () => {
  await using folder = await serveFolder({ a: "" });
  assert.equal((await ask<InfoMessage>(folder, "info")).canCheck, false);
  const response = await folder.get("api/check", { method: "POST" });
  assert.equal(response.status, 404);
  await response.body?.cancel();
});
