import { FormatError, RecordfsError } from "../../../base/errors.ts";
import { inserted } from "../../../codecs/insertions.ts";
import { endOfObject, insertItems } from "../../../codecs/json/insert_items.ts";
import { formatJson, formatString } from "../../../codecs/json/format.ts";
import { MsgpackFloat } from "../../../codecs/msgpack/mod.ts";
import { NewFile } from "../../../io/write/new_file.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { readFile } from "../../../io/read/read_file.ts";
import { systemCode } from "../../../io/libc/system_error.ts";
import { writeError } from "../../../io/write/write_error.ts";
import { byCodePoint } from "../../../base/names.ts";
import * as path from "node:path";
import { LABEL_FILE } from "../read/chunk_files.ts";
import { parseLabels } from "../meta/labels.ts";
import type { LabelledVideo } from "./listed_adapter.ts";

type Label = LabelledVideo["label"];

/** Label file without labels. */
const NONE = new TextEncoder().encode("{}");

/**
 * Label numbers of `label2idx.json`. Labels in the file keep their numbers and positions; new ones are appended,
 * sorted.
 */
export class LabelNumbers {
  readonly #path: string | undefined;
  readonly #numbers: Map<string, number>;

  /** @param outputFolder Directory of the file, which need not exist; without it, labels are not saved. */
  constructor(outputFolder: string | undefined, labels: Iterable<Label>) {
    this.#path = outputFolder === undefined
      ? undefined
      : path.join(outputFolder, LABEL_FILE);
    const there = this.#path === undefined
      ? undefined
      : readNumbers(this.#path);
    this.#numbers = there?.labels ?? new Map();
    // Gaps in the numbers are not filled.
    let next = this.#numbers.size;
    for (const number of this.#numbers.values()) {
      next = Math.max(next, number + 1);
    }
    for (const label of [...new Set(labels)].sort(byLabel)) {
      const key = keyOf(label);
      if (!this.#numbers.has(key)) this.#numbers.set(key, next++);
    }
  }

  of(label: Label): number {
    return this.#numbers.get(keyOf(label))!;
  }

  get all(): ReadonlyMap<string, number> {
    return this.#numbers;
  }

  /** Writes the file, unless it is up to date. */
  async save(): Promise<void> {
    await runAsync(this.#save());
  }

  *#save(): Steps<void> {
    const file = this.#path;
    if (file === undefined) return;
    const there = readNumbers(file);
    const isKept = there?.labels.entries().every(([label, number]) =>
      this.#numbers.get(label) === number
    );
    const before = isKept ? there : undefined; // otherwise another process has renumbered them
    if (before?.labels.size === this.#numbers.size) return;
    const entries = [...this.#numbers]
      .filter(([label]) => !before?.labels.has(label))
      .map(([label, number]) => `${formatString(label)}: ${number}`);
    const text = before?.bytes ?? NONE;
    const items = insertItems(endOfObject(text), entries);
    yield* NewFile.write(file, inserted(text, [items]));
  }
}

/** Reads the file in one go: another thread may be replacing it with the same numbers. */
function readNumbers(
  file: string,
):
  | { readonly bytes: Uint8Array; readonly labels: Map<string, number> }
  | undefined {
  try {
    const bytes = runSync(readFile(file));
    return { bytes, labels: parseLabels(file, bytes) };
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    if (error instanceof FormatError) {
      if (error.code !== "changed") throw error;
      return readNumbers(file); // replaced while being read; the new file is complete
    }
    // A file that cannot be read could not be written either.
    throw writeError(
      file,
      error instanceof RecordfsError ? error.cause ?? error : error,
    );
  }
}

/** Returns a label as a JSON object key, as Python writes it. */
function keyOf(label: Label): string {
  return typeof label === "string" ? label : formatJson(label);
}

/** Orders numbers by value, before all other labels by code point. */
function byLabel(first: Label, second: Label): number {
  const [a, b] = [first, second].map((label) =>
    label instanceof MsgpackFloat ? label.value : label
  ) as [Label, Label];
  if (isNumber(a)) return !isNumber(b) || a < b ? -1 : a > b ? 1 : 0;
  return isNumber(b) ? 1 : byCodePoint(keyOf(a), keyOf(b));
}

function isNumber(label: Label): label is number | bigint {
  return typeof label === "number" || typeof label === "bigint";
}
