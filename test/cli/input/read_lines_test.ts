import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import { LF, NUL, readLines } from "../../../src/cli/input/read_lines.ts";

async function linesOf(
  chunks: readonly Uint8Array[],
  end = LF,
  longest = 1000,
): Promise<string[]> {
  async function* stream() {
    const memory = new Uint8Array(1000); // reused for all chunks, like a file's buffer
    for (const chunk of chunks) {
      memory.set(chunk);
      yield memory.subarray(0, chunk.length);
    }
  }
  const found: string[] = [];
  const options = { name: "a list", end, longest };
  for await (const lines of readLines(stream(), options)) {
    found.push(...lines.map((line) => new TextDecoder().decode(line)));
  }
  return found;
}

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("lines are found wherever the chunks end", async () => {
  const text = fc.string({ unit: fc.constantFrom("a", "é", "\n", "\0") });
  await fc.assert(fc.asyncProperty(
    fc.array(text),
    fc.constantFrom(LF, NUL),
    async (texts, end) => {
      const expected = texts.join("").split(end === LF ? "\n" : "\0");
      if (expected.at(-1) === "") expected.pop();
      assert.deepEqual(await linesOf(texts.map(bytes), end), expected);
    },
  ));
});

Deno.test("a line that is too long is rejected before it is read to its end", async () => {
  assert.deepEqual(await linesOf([bytes("1234\n"), bytes("12")], LF, 4), [
    "1234",
    "12",
  ]);
  let asked = 0;
  async function* endless() {
    for (;; asked++) yield await Promise.resolve(bytes("12"));
  }
  const options = { name: "a list", end: LF, longest: 9 };
  await assert.rejects(
    readLines(endless(), options).next(),
    /^RecordfsError: Cannot read line 1 of a list: it has more than 9 bytes$/,
  );
  assert.ok(asked < 6, `${asked}`);
  await assert.rejects(
    linesOf([bytes("1\n12345\n")], LF, 4),
    /Cannot read line 2 of a list: it has more than 4 bytes/,
  );
});
