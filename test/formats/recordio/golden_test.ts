/** Files that an independent writer made of the specifications: every value, as samples and as files. */
import assert from "node:assert/strict";
import { formatNumber } from "../../../src/codecs/json/format.ts";
import { check, open, openSamples } from "../../../mod.ts";
import { goldenSet, sha256 } from "../../support/golden.ts";
import {
  assertSamples,
  type SamplesCase,
} from "../../support/samples_golden.ts";

const GOLDENS = goldenSet<SamplesCase>("recordio");

for (const { name, path, content } of GOLDENS.all()) {
  Deno.test(`${name}: samples are what was written`, () =>
    assertSamples(path, content));

  Deno.test(`${name}: files are what was written`, async () => {
    using tree = await open(path);
    const files = await Array.fromAsync(tree.walk("", {}));
    const paths = files.filter(({ isFile, path }) =>
      isFile && path !== "header.json"
    ).map(({ path }) => path);
    const values = content.samples.flatMap((sample) => Object.values(sample));
    assert.equal(paths.length, values.length);
    for (const [i, value] of values.entries()) {
      const bytes = await tree.read(paths[i]!);
      assert.equal((await tree.stat(paths[i]!)).size, bytes.length);
      if (typeof value === "object" && "sha256" in value) {
        assert.equal(sha256(bytes), value.sha256, paths[i]);
        continue;
      }
      const text = typeof value === "string"
        ? value
        : typeof value === "number"
        ? formatNumber(value)
        : `[${value.map(formatNumber).join(", ")}]`;
      assert.equal(new TextDecoder().decode(bytes), `${text}\n`, paths[i]);
    }
  });

  Deno.test(`${name}: a check finds nothing`, async () => {
    const { damage, samples } = await check(path);
    assert.deepEqual(damage, []);
    assert.equal(samples, content.samples.length);
  });
}

Deno.test("pictures are decoded, and files are named by their content", async () => {
  const { path } = GOLDENS.one("images");
  using samples = await openSamples<{ image: { width: number } }>(path);
  assert.equal((await samples.get(0)).image.width, 8);
  assert.deepEqual(
    samples.fields?.map(({ name, type }) => [name, type.suffix]),
    [
      ["image", ".jpg"],
      ["label", ".json"],
      ["id", ".json"],
    ],
  );
  using tree = await open(GOLDENS.one("lists").path);
  assert.ok(await tree.isFile("000003/image.png"));
});

Deno.test("a face set is its images, whatever the place of its header", async () => {
  for (const name of ["faces", "faces_last", "faces_unindexed"]) {
    using tree = await open(GOLDENS.one(name).path);
    const { kind, facts } = tree.info;
    assert.equal(kind, "face set");
    assert.deepEqual(facts, { records: 10, images: 6, identities: 3 });
    // By key, as InsightFace reads them: `imgidx = range(1, header0[0])`.
    const names = [
      "header.json",
      ...[1, 2, 3, 4, 5, 6].map((i) => `00000${i}`),
    ];
    assert.deepEqual(await tree.list("/"), names);
    const header = new TextDecoder().decode(await tree.read("header.json"));
    assert.deepEqual(JSON.parse(header), {
      ...{ id: 0, label: [7, 10] },
      ...{ images: 6, identities: 3 },
    });
    assert.equal((await tree.stat("header.json")).size, header.length);
    assert.equal(tree.info.files, 6 * 3 + 1);
    assert.equal(await tree.exists("000007"), false); // an identity
  }
});
