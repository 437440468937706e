/** A case while it runs: the current attempts, and the findings. */
import { RecordfsError } from "../../src/base/errors.ts";
import type { Dice } from "./dice.ts";
import { digestOf } from "./digest.ts";
import type { Touched } from "./draft.ts";
import type { Original } from "./originals.ts";

/** Kinds of findings. */
export type FindingKind =
  | "crash"
  | "descriptors"
  | "disagreement"
  | "escape"
  | "exit"
  | "hang"
  | "left-behind"
  | "memory"
  | "message"
  | "mount"
  | "output"
  | "slow"
  | "uncaught"
  | "wrong-bytes"
  | "wrong-class";

/** A problem in a case. */
export interface Finding {
  readonly kind: FindingKind;
  /** The drive and step in which it was found. */
  readonly step: string;
  readonly text: string;
}

/** How a container was mutated. */
export interface Mutated {
  readonly log: readonly string[];
  /** Ranges that changed in place; `undefined` after any other change. */
  readonly touched: readonly Touched[] | undefined;
}

/** Result of an attempt. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

/** Maximum length of a message. Longer ones repeat their input. */
const LONGEST_MESSAGE = 8192;

/** A case whose container is on disk. */
export class Scene {
  /** Directory of the case: `in`, `out`, and entries that must not be touched. */
  readonly directory: string;
  /** Path of the container. */
  readonly path: string;
  readonly original: Original;
  readonly mutated: Mutated;
  readonly dice: Dice;
  readonly findings: Finding[] = [];
  readonly #onStep: (step: string) => void;
  #drive = "";
  #step = "";
  #outputs = 0;

  constructor(
    directory: string,
    original: Original,
    mutated: Mutated,
    dice: Dice,
    onStep: (step: string) => void,
  ) {
    this.directory = directory;
    this.path = `${directory}/in/${original.target}`;
    this.original = original;
    this.mutated = mutated;
    this.dice = dice;
    this.#onStep = onStep;
  }

  /** Starts a drive. */
  begin(drive: string): void {
    this.#drive = drive;
    this.#tell("");
  }

  /** Returns a new path for output. */
  output(suffix = ""): string {
    const drive = this.#drive.replaceAll(" ", "-");
    return `${this.directory}/out/${drive}-${this.#outputs++}${suffix}`;
  }

  report(kind: FindingKind, text: string): void {
    this.findings.push({ kind, step: this.#step, text });
  }

  /** Runs an attempt, which may only fail with an error of the project. */
  async attempt<T>(
    step: string,
    act: () => Promise<T> | T,
  ): Promise<Outcome<T>> {
    this.#tell(step);
    try {
      return { ok: true, value: await act() };
    } catch (error) {
      this.judge(error);
      return { ok: false, error };
    }
  }

  /** Synchronous {@linkcode Scene.attempt}. */
  attemptSync<T>(step: string, act: () => T): Outcome<T> {
    this.#tell(step);
    try {
      return { ok: true, value: act() };
    } catch (error) {
      this.judge(error);
      return { ok: false, error };
    }
  }

  /** Runs an asynchronous and a synchronous attempt, which must have the same result or the same error. */
  async both<T>(
    step: string,
    wait: () => Promise<T>,
    now: () => T,
    seen: (value: T) => unknown = (value) => value,
    sameError = true,
  ): Promise<readonly [Outcome<T>, Outcome<T>]> {
    const waited = await this.attempt(step, wait);
    const immediate = this.attemptSync(`${step}Sync`, now);
    if (sameError || waited.ok || immediate.ok) {
      this.compare(waited, immediate, "waiting", "not waiting", seen);
    }
    return [waited, immediate];
  }

  /** Reports different results. */
  compare<T, U>(
    one: Outcome<T>,
    other: Outcome<U>,
    nameOfOne: string,
    nameOfOther: string,
    seen: (value: T & U) => unknown = (value) => value,
  ): void {
    const said = [one, other].map((outcome) =>
      outcome.ok
        ? `gives ${digestOf(seen(outcome.value as T & U))}`
        : `fails: ${firstLine(outcome.error)}`
    );
    const isSame = one.ok && other.ok
      ? said[0] === said[1]
      : !one.ok && !other.ok && codeOf(one.error) === codeOf(other.error);
    if (isSame) return;
    this.report(
      "disagreement",
      `${nameOfOne} ${said[0]}\n${nameOfOther} ${said[1]}`,
    );
  }

  /** Reports a value that differs from the expected one. */
  expect(digest: string, value: unknown, what: string): void {
    const found = digestOf(value);
    if (found === digest) return;
    this.report("wrong-bytes", `${what}: not what it was before`);
  }

  /** Reports an error that is not one of the project, or whose message is too long. */
  judge(error: unknown): void {
    if (!(error instanceof RecordfsError)) {
      this.report("wrong-class", textOf(error));
    } else if (error.message.length > LONGEST_MESSAGE) {
      this.report(
        "message",
        `${error.name} of ${error.message.length} characters: ` +
          error.message.slice(0, 300),
      );
    }
  }

  #tell(step: string): void {
    this.#step = step === "" ? this.#drive : `${this.#drive}: ${step}`;
    this.#onStep(this.#step);
  }
}

/** Describes an unexpected error. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return `no error: ${String(error)}`;
  return (error.stack ?? `${error.name}: ${error.message}`).slice(0, 4000);
}

function codeOf(error: unknown): string {
  return error instanceof RecordfsError ? error.code : String(error);
}

function firstLine(error: unknown): string {
  const { name, message } = error as Error;
  return `${name} ${codeOf(error)}: ${message}`.slice(0, 400);
}
