/** Mutations of JSON lines, CSV and TSV: misplaced or missing ends of rows and cells. */
import { Buffer } from "node:buffer";
import { type Mutation, pickNamed } from "./mutation.ts";

const NAMED = /\.(jsonl|ndjson|csv|tsv)$/;

const PIECES = [
  ...[
    '"',
    '""',
    ",",
    "\t",
    "\n",
    "\r\n",
    "\r",
    "\n\n",
    " ",
    "\\",
    "{",
    "[",
    "}",
  ],
  ...[
    "\ufeff",
    "\0",
    "null",
    "1e999",
    "9".repeat(400),
    '{"a":1}\n',
    "NaN",
    "é",
  ],
];

const insertPiece: Mutation = {
  name: "insert text into a row",
  weight: 6,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, NAMED);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const at = dice.int(bytes.length + 1);
    const times = dice.once(4) ? dice.size(1, 5000) : 1;
    const text = new TextEncoder().encode(dice.pick(PIECES).repeat(times));
    const parts = [bytes.subarray(0, at), text, bytes.subarray(at)];
    draft.replace(path, Buffer.concat(parts), `${times} texts at ${at}`);
  },
};

export const LINE_MUTATIONS: readonly Mutation[] = [insertPiece];
