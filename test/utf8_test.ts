/** U+FEFF at the start of a text, a name or a label is data, in every format. */
import assert from "node:assert/strict";
import { readLabels } from "../src/open/data/read_labels.ts";
import { openDataset } from "../src/open/data/open_dataset.ts";
import { MemoryStorage } from "../src/io/storage/memory_storage.ts";
import { strictUtf8Text, trimSpace, utf8Text } from "../src/base/utf8.ts";
import { open } from "../src/open/open.ts";
import { REPOSITORY } from "./support/paths.ts";
import { tarBytes } from "./support/tar/make_tar.ts";
import { openWebDataset } from "./support/tar/open_web.ts";

const MARKED = new TextEncoder().encode("\ufefftext");

function storage(): MemoryStorage {
  return new MemoryStorage({
    "x.tar": tarBytes([
      { name: "\ufeffa.txt", data: MARKED },
      { name: "\ufeffa.json", data: '\ufeff{"\ufeffk": 1, "k": 2}' },
      { name: "b.txt", data: "text" },
      { name: "b.json", data: "{}" },
    ]),
  });
}

Deno.test("keeps U+FEFF at the start of texts and keys of WebDataset", async () => {
  using dataset = await openWebDataset("x.tar", { storage: storage() });
  const [sample, other] = await dataset.get([0, 1]);
  assert.equal(sample!.__key__, "\ufeffa");
  assert.equal(sample!.txt, "\ufefftext");
  assert.equal(other!.txt, "text");
  // Python's json.loads ignores a byte order mark before a document, but not in a key.
  assert.deepEqual(Object.entries(sample!.json as object), [
    ["\ufeffk", 1],
    ["k", 2],
  ]);
});

Deno.test("keeps U+FEFF in names and decoded files of any container", async () => {
  using dataset = await openDataset("x.tar", {
    storage: storage(),
    files: "*.txt",
  });
  const files = await dataset.get([0, 1]);
  assert.deepEqual(files.map(({ path, content }) => [path, content]), [
    ["\ufeffa.txt", "\ufefftext"],
    ["b.txt", "text"],
  ]);
  using container = await open("x.tar", { storage: storage() });
  assert.ok(await container.isFile("\ufeffa.txt"));
  assert.ok(!await container.isFile("a.txt"));
});

Deno.test("distinguishes labels that differ only in U+FEFF", async () => {
  using container = await open("x.tar", {
    storage: new MemoryStorage({
      "x.tar": tarBytes([
        { name: "a.txt", data: "\ufeffcat" },
        { name: "a.cls", data: "0" },
        { name: "b.txt", data: "cat" },
        { name: "b.cls", data: "1" },
      ]),
    }),
  });
  const labels = await readLabels(container, "txt");
  assert.deepEqual(labels.names, ["\ufeffcat", "cat"]);
});

Deno.test("decodes UTF-8 and trims without dropping U+FEFF", () => {
  assert.equal(utf8Text(MARKED), "\ufefftext");
  assert.equal(utf8Text(Uint8Array.of(0x61, 0xff)), "a\ufffd");
  assert.equal(strictUtf8Text(MARKED), "\ufefftext");
  assert.throws(() => strictUtf8Text(Uint8Array.of(0xff)), TypeError);
  assert.equal(trimSpace(" \ufeff a\u00a0\n"), "\ufeff a");
});

Deno.test("formats and codecs decode UTF-8 in one module", () => {
  const rooms = ["codecs", "convert", "data", "formats", "open", "tree"];
  const found = rooms.flatMap((room) => sources(`src/${room}`)).filter((file) =>
    // Latin-1 has no byte order mark.
    /^(?! \*).*new TextDecoder\((?!"latin1"\))/m.test(
      Deno.readTextFileSync(REPOSITORY + file),
    )
  );
  assert.deepEqual(found, ["src/codecs/numpy/npy.ts"]); // decodes the header in the encoding of its version
});

function sources(dir: string): string[] {
  return [...Deno.readDirSync(REPOSITORY + dir)].flatMap((
    { name, isDirectory },
  ) =>
    isDirectory
      ? sources(`${dir}/${name}`)
      : name.endsWith(".ts")
      ? [`${dir}/${name}`]
      : []
  );
}
