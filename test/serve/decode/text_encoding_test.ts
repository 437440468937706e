/** Detection of text encodings, and of binary data. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createCipheriv } from "node:crypto";
import type {
  BytesValue,
  TableValue,
  TextValue,
  TreeValue,
  ValueMessage,
} from "../../../src/serve/api/value_messages.ts";
import type { ListMessage } from "../../../src/serve/api/messages.ts";
import { encodingOf } from "../../../src/serve/decode/text_encoding.ts";
import {
  type ServedFolder,
  serveFolder,
} from "../../support/serve/served_folder.ts";

/** Encodes UTF-16. Node supports little-endian only, so big-endian is swapped. */
function utf16(text: string, order: "le" | "be", mark = "\ufeff"): Uint8Array {
  const bytes = Buffer.from(mark + text, "utf16le");
  return Uint8Array.from(order === "le" ? bytes : bytes.swap16());
}

/** Encodes ISO 8859-1. */
const latin1 = (text: string) => Uint8Array.from(Buffer.from(text, "latin1"));

const GERMAN =
  "Die Stra\u00dfe nach M\u00fcnchen ist gesperrt, sagt Ren\u00e9.\n";

async function valueOf<Value extends ValueMessage>(
  folder: ServedFolder,
  query: string,
): Promise<Value> {
  const response = await folder.get(`api/value?path=${query}`);
  assert.equal(response.status, 200, query);
  return await response.json();
}

Deno.test("an encoding is detected by its mark, by NULs, by UTF-8, or by few accented letters", () => {
  for (
    const [bytes, encoding] of [
      [utf16("x", "le"), "utf-16le"],
      [utf16("x", "be"), "utf-16be"],
      [utf16("a\ud83d\ude00", "le").slice(0, -2), "utf-16le"], // truncated within a character
      [utf16("some words\n", "le", ""), "utf-16le"],
      [utf16("some words\n", "be", ""), "utf-16be"],
      [Buffer.from(GERMAN), "utf-8"],
      [latin1(GERMAN), "windows-1252"],
      [latin1("He said \x93no\x94 and left"), "windows-1252"],
      [Uint8Array.of(0xff, 0xfe, 0, 0), undefined], // UTF-32
      [Uint8Array.of(0xff, 0xfe, 0, 0xdc), undefined], // a lone surrogate
      [utf16("\u0100 dog \u0100 cat and so on\n", "le", ""), "utf-16le"], // a character whose low byte is 0
      [utf16("\u0100 dog \u0100 cat and so on\n", "be", ""), "utf-16be"],
      [Uint8Array.of(0xff, 0xfe, 0x61), undefined], // half a character
      [Uint8Array.of(1, 0, 2, 0, 3, 0, 4, 0), undefined], // binary integers
      [latin1("caf\xe9 \x81"), undefined], // not defined in Windows-1252
      [latin1("caf\xe9 \x01"), undefined],
      [Buffer.from("\u0416\u0417\u0418\u0419", "latin1"), undefined],
      [latin1("\xc6\xc7\xc8\xc9 \xca\xcb\xcc"), undefined], // KOI8-R: too few ASCII letters
    ] as const
  ) {
    assert.equal(
      encodingOf(bytes),
      encoding,
      Buffer.from(bytes).toString("hex"),
    );
  }
});

/** Returns random bytes that are the same in each run: AES in counter mode. */
function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  const key = new Uint8Array(16);
  const cipher = createCipheriv("aes-128-ctr", key, key);
  return Uint8Array.from(cipher.update(new Uint8Array(length)));
}

Deno.test("random binaries are not text", () => {
  const count = 20_000;
  const all = randomBytes(count * 256);
  let taken = 0;
  for (let i = 0; i < count; i++) {
    const bytes = all.subarray(256 * i, 256 * i + 32 + i % 225);
    if (encodingOf(bytes) !== undefined) taken++;
  }
  assert.ok(taken <= count / 10_000, `${taken} of ${count}`);
  // Arrays of 2-byte, 4-byte and 8-byte numbers.
  const numbers = new Uint16Array(all.buffer);
  for (let i = 0; i < 2000; i++) {
    const some = numbers.subarray(64 * i, 64 * i + 64);
    for (
      const array of [
        some,
        some.map((value) => value % 1000),
        Int32Array.from(some),
        Float32Array.from(some, (value) => value / 65536),
        Float64Array.from(some, (value) => value - 32768),
        BigInt64Array.from(some, BigInt),
      ]
    ) {
      const { buffer, byteOffset, byteLength } = array;
      const bytes = new Uint8Array(buffer, byteOffset, byteLength);
      const said = `${array.constructor.name} ${i}`;
      assert.equal(encodingOf(bytes), undefined, said);
    }
  }
});

Deno.test("text in other encodings is shown as text, and its encoding is named", async () => {
  const random = randomBytes(4096);
  await using folder = await serveFolder({
    "le.txt": utf16(GERMAN, "le"),
    "be.txt": utf16(GERMAN, "be"),
    "plain.txt": utf16("no mark\n", "le", ""),
    "latin.txt": latin1(GERMAN),
    "utf8.txt": GERMAN,
    "no name": latin1(GERMAN),
    "wide": utf16(GERMAN, "be"),
    "table.csv": utf16("name,score\n\u00e4,1\n\ud83d\ude00,2\n", "be"),
    "latin.csv": latin1("name,score\nRen\xe9,1\n"),
    "tree.json": utf16('{"\u00e4": ["\ud83d\ude00", 1]}', "le"),
    "random.txt": random,
    "random": random,
  });
  for (
    const [name, encoding, text] of [
      ["le.txt", "utf-16le", GERMAN],
      ["be.txt", "utf-16be", GERMAN],
      ["plain.txt", "utf-16le", "no mark\n"],
      ["latin.txt", "windows-1252", GERMAN],
      ["utf8.txt", undefined, GERMAN],
      ["no%20name", "windows-1252", GERMAN],
      ["wide", "utf-16be", GERMAN],
    ] as const
  ) {
    const shown = await valueOf<TextValue>(folder, name);
    const { kind } = shown;
    assert.deepEqual([kind, shown.encoding, shown.text], [
      "text",
      encoding,
      text,
    ]);
  }
  const table = await valueOf<TableValue>(folder, "table.csv");
  assert.equal(table.encoding, "utf-16be");
  assert.deepEqual(table.columns, ["name", "score"]);
  assert.deepEqual(table.rows, [["\u00e4", "1"], ["\ud83d\ude00", "2"]]);
  const latin = await valueOf<TableValue>(folder, "latin.csv");
  assert.equal(latin.encoding, "windows-1252");
  assert.deepEqual(latin.rows, [["Ren\u00e9", "1"]]);
  const tree = await valueOf<TreeValue>(folder, "tree.json");
  assert.deepEqual(tree.value, { "\u00e4": ["\ud83d\ude00", 1] });
  assert.equal(tree.encoding, "utf-16le");
  for (const name of ["random.txt", "random", "random.txt&as=text"]) {
    assert.equal((await valueOf<BytesValue>(folder, name)).kind, "bytes");
  }
  const list: ListMessage = await (await folder.get("api/list?path=")).json();
  const kinds = Object.fromEntries(
    list.entries.map(({ name, kind }) => [name, kind]),
  );
  assert.deepEqual([kinds["no name"], kinds.wide, kinds.random], [
    "text",
    "text",
    "binary",
  ]);
});

Deno.test("pages of text end between characters, in each encoding", async () => {
  // Characters of two and four bytes, so that page limits fall within a character.
  const text = "a\ud83d\ude00\u00e4\n".repeat(20_000);
  const late = `${"ASCII ".repeat(20_000)} Ren\xe9 `;
  await using folder = await serveFolder({
    "le.txt": utf16(text, "le"),
    "be.txt": utf16(text, "be"),
    "no-mark.txt": utf16(`${"words ".repeat(2000)}${text}`, "le", ""),
    "late.txt": latin1(late),
    "turns.txt": Buffer.concat([utf16(text, "le"), new Uint8Array(70_000)]),
  });
  for (
    const [name, whole, encodings] of [
      ["le.txt", text, ["utf-16le"]],
      ["be.txt", text, ["utf-16be"]],
      ["no-mark.txt", `${"words ".repeat(2000)}${text}`, ["utf-16le"]],
      ["late.txt", late, [undefined, "windows-1252"]],
    ] as const
  ) {
    let joined = "";
    let offset = 0;
    const seen = new Set<string | undefined>();
    for (let pages = 0;; pages++) {
      assert.ok(pages < 20);
      const page = await valueOf<TextValue>(folder, `${name}&offset=${offset}`);
      assert.equal(page.kind, "text");
      assert.equal(page.start, offset);
      assert.equal(page.text.includes("\ufffd"), false);
      seen.add(page.encoding);
      joined += page.text;
      offset = page.end;
      if (!page.isCut) break;
    }
    assert.ok(joined === whole, name);
    assert.deepEqual([...seen], encodings);
  }
  // Data after the end of the text is shown as bytes, with the reason.
  const { length } = utf16(text, "le");
  const behind = await valueOf<BytesValue>(
    folder,
    `turns.txt&offset=${length}`,
  );
  assert.deepEqual([behind.kind, behind.why], ["bytes", "it is not text"]);
});
