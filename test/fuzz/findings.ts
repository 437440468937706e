/** Findings are saved in one directory each, with instructions to reproduce them. */
import * as fs from "node:fs";
import { makeCase } from "./make_case.ts";
import type { CaseDone, CaseOrder, KeptContainer } from "./messages.ts";
import type { Original } from "./originals.ts";
import type { Finding } from "./scene.ts";

/** Number of cases saved per kind of finding; further ones are only counted. */
const KEPT_OF_A_KIND = 3;

/** Description of a saved case. */
interface CaseFile {
  readonly seed: number;
  readonly number: number;
  readonly original: string;
  readonly log: readonly string[];
  readonly touched: KeptContainer["touched"];
  readonly findings: readonly Finding[];
}

/** Findings of one kind, which probably have the same cause in the program. */
export interface KindOfFinding {
  readonly finding: Finding;
  /** Directories of the saved cases. */
  readonly directories: string[];
  count: number;
}

/** The findings of a run. */
export class Findings {
  readonly kinds = new Map<string, KindOfFinding>();
  readonly #directory: string;
  readonly #originals: readonly Original[];

  constructor(directory: string, originals: readonly Original[]) {
    this.#directory = directory;
    this.#originals = originals;
  }

  /** Number of findings. */
  get count(): number {
    return this.kinds.values().reduce((sum, { count }) => sum + count, 0);
  }

  /** Saves the findings of a case, unless enough of their kind are saved. */
  add(seed: number, { number, findings }: CaseDone): void {
    const place = `${this.#directory}/${seed}-${number}`;
    let isKept = false;
    for (const finding of findings) {
      const key = kindOf(finding);
      const kind = this.kinds.get(key) ??
        { finding, directories: [], count: 0 };
      this.kinds.set(key, kind);
      kind.count++;
      if (kind.directories.includes(place)) continue;
      if (kind.directories.length === KEPT_OF_A_KIND) continue;
      kind.directories.push(place);
      isKept = true;
    }
    if (isKept) this.#keep(place, seed, number, findings);
  }

  #keep(
    place: string,
    seed: number,
    number: number,
    findings: readonly Finding[],
  ): void {
    const { original, draft } = makeCase(this.#originals, seed, number);
    const { log, touched } = draft;
    fs.rmSync(place, { recursive: true, force: true });
    fs.mkdirSync(`${place}/in`, { recursive: true });
    draft.write(`${place}/in`);
    const described: CaseFile = {
      seed,
      number,
      original: original.name,
      log,
      touched,
      findings,
    };
    fs.writeFileSync(`${place}/case.json`, JSON.stringify(described, null, 2));
    const lines = [
      `Case ${number} of seed ${seed}: ${original.name}`,
      ...log.map((line) => `  ${line.slice(0, 300)}`),
      "",
      ...findings.map(({ kind, step, text }) =>
        `${kind} in ${step}\n${text}\n`
      ),
      "Reproduce it with",
      `  ${commandFor(place)}`,
      "or, without this directory, as long as the fuzzer is the same,",
      `  ${commandFor(`${seed}:${number}`)}`,
    ];
    fs.writeFileSync(`${place}/finding.txt`, `${lines.join("\n")}\n`);
  }
}

/** Returns the command that runs a case again. */
export function commandFor(what: string): string {
  return `deno task fuzz --replay ${what}`;
}

/**
 * Returns the order to run a case again.
 *
 * @param what Directory of a saved case, or `SEED:CASE`.
 */
export function orderFor(what: string): CaseOrder {
  const numbers = /^(\d+):(\d+)$/.exec(what);
  if (numbers !== null) {
    return { seed: Number(numbers[1]), number: Number(numbers[2]) };
  }
  const text = fs.readFileSync(`${what}/case.json`, "utf8");
  const { seed, number, original, log, touched } = JSON.parse(text) as CaseFile;
  const container = fs.realpathSync(`${what}/in`);
  return { seed, number, kept: { container, original, log, touched } };
}

/** Returns a key for similar findings, without numbers, names and paths. */
function kindOf({ kind, step, text }: Finding): string {
  const [message = "", second = ""] = text.split("\n");
  const frame = /^\s+at (?:async )?(.*?)(?::\d+)*\)?$/.exec(second)?.[1] ?? "";
  const words = message.replace(/\/[^\s:]+|'[^']*'|"[^"]*"/g, "…")
    .replace(/[0-9a-f]{8,}|\d+/g, "N").slice(0, 120);
  // The position of the throw says more than the current step.
  const isPlaced = frame !== "" || kind === "message";
  return [kind, isPlaced ? "" : step, words, frame].join(" | ");
}
