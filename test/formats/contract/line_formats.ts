/** Line formats in the table of the contract suite. */
import { openDataset } from "../../../src/open/data/open_dataset.ts";
import { type FormatCase, goldensIn } from "./format_case.ts";
import {
  byWord,
  fileShards,
  oneFile,
  text,
  TEXTS,
  utf8,
  WORDS,
} from "./small_containers.ts";

/** JSON lines, and quoted cells of CSV. */
const JSON_LINES = TEXTS.map((text, i) =>
  JSON.stringify({ text, word: WORDS[i] })
);
const QUOTED = TEXTS.map((text) => `"${text}"`);

function linesOf(lines: readonly string[]): Uint8Array<ArrayBuffer> {
  return utf8(lines.map((line) => `${line}\n`).join(""));
}

/** Returns truncations at line boundaries: before the first line, and before and after each newline. */
function endsOf(file: string, lines: readonly string[]): string[] {
  const ends = [0];
  for (const line of lines) {
    const end = ends.at(-1)! + line.length;
    ends.push(end, end + 1);
  }
  return ends.slice(0, -1).map((end) => `${file} ${end}`);
}

export const LINE_FORMATS: readonly FormatCase[] = [
  {
    name: "jsonl",
    goldens: goldensIn("jsonl"),
    write: oneFile("a.jsonl", () => linesOf(JSON_LINES)),
    files: {
      "000000.json": JSON_LINES[0],
      "000001.json": JSON_LINES[1],
      "000002.json": JSON_LINES[2],
    },
    openDataset: (path, options) => openDataset(path, options),
    keys: TEXTS,
    keyOf: (sample) => {
      const { text: value, content } = sample as Record<string, unknown>;
      return value ?? text(content);
    },
    labels: byWord,
    isSummed: false,
    cuts: ["bad-structure", "truncated-data"],
    // A last line without a newline is complete if it is valid JSON.
    soundCuts: endsOf("a.jsonl", JSON_LINES),
    shards: fileShards(
      "jsonl",
      Infinity, // other lines are found after a damaged one
      (samples) => linesOf(samples.map((n) => JSON.stringify({ n }))),
      (sample) => (sample as { n: number }).n,
    ),
    damages: [{ at: 0 }, { at: -3 }],
  },
  ...(["csv", "tsv"] as const).map((name): FormatCase => ({
    name,
    goldens: goldensIn(name),
    write: oneFile(`a.${name}`, () => linesOf(["text", ...QUOTED])),
    files: {
      "000000.txt": QUOTED[0],
      "000001.txt": QUOTED[1],
      "000002.txt": QUOTED[2],
    },
    openDataset: (path, options) => openDataset(path, options),
    keys: TEXTS,
    keyOf: (sample) => Object.values(sample as Record<string, string>)[0],
    labels: { key: "text", values: TEXTS },
    isSummed: false,
    cuts: ["truncated-data"],
    // A truncation after the last byte of a row is only noted.
    soundCuts: endsOf(`a.${name}`, ["text", ...QUOTED])
      .filter((_, i) => i === 0 || i % 2 === 0),
    shards: fileShards(
      name,
      Infinity,
      (samples) => linesOf(["n", ...samples.map(String)]),
      (sample) => (sample as { n: number }).n,
    ),
    indexed: {
      name: `large.${name}`,
      bytes: (contents) => linesOf(["text", ...contents]),
      ruin: (bytes) => void bytes.fill(0, 0, 4), // the header
    },
    damages: [{ at: 5 + 1 + TEXTS[0]!.length }, { at: -2 }],
  })),
];
