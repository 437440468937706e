import * as fs from "node:fs";
import * as path from "node:path";
import { liesIn } from "../../io/write/lies_in.ts";
import { WriteError } from "../../base/errors.ts";
import {
  type NamedOption,
  optionText,
  REPLACE,
} from "../../base/named_option.ts";
import { requireNewDirectory } from "../../io/write/new_directory.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import { findTarget } from "../../io/write/write_target.ts";
import {
  type Conversion,
  ConversionError,
  type ConvertOptions,
} from "../conversion.ts";
import type { ConversionSource } from "../from/source.ts";

/** Form of a target on disk. */
export interface TargetForm {
  /** Whether it is a directory rather than files. */
  readonly isDirectory: boolean;
  /** Returns the files of a target at a path, in the order in which they appear; the last one is the path itself. */
  files(path: string): readonly string[];
}

/** Form of a single directory. */
export const DIRECTORY: TargetForm = {
  isDirectory: true,
  files: (path) => [path],
};

/** Form of a single file. */
export const FILE: TargetForm = { isDirectory: false, files: (path) => [path] };

/** Identifies a target before its format is loaded. */
export interface TargetName {
  /** Name for the option `to`. */
  readonly name: string;
  /** Suffix of paths that select it without that option. */
  readonly suffix?: string;
  /** Whether the suffix selects it only for sources of numbered records (`true`) or only for others (`false`). */
  readonly ofNumbered?: boolean;
}

/** Target of conversions. */
export interface ConversionTarget {
  /** Options that it takes besides the common ones. */
  readonly options: readonly (keyof ConvertOptions)[];
  /** Recognizes directories that contain only such a target. If absent, a directory might contain anything. */
  readonly content?: {
    /** Description for messages. */
    readonly what: string;
    /** Whether a file belongs to such a target. */
    isOwn(name: string): boolean;
    /** Whether a directory may be a part of one, with the same kinds of files. */
    isPart?(name: string): boolean;
  };
  /** Whether missing parent directories are created. */
  readonly makesParents?: boolean;
  /**
   * Validates its options for a source.
   *
   * @throws {ConversionError} If an option does not fit.
   */
  requireOptions?(source: ConversionSource, options: ConvertOptions): void;
  /**
   * Returns its form on disk.
   *
   * @throws {WriteError} If the path is invalid for such a target.
   */
  form(path: string, options: ConvertOptions): TargetForm;
  /**
   * Plans to write it.
   *
   * @throws {ConversionError} If it cannot represent the source.
   */
  plan(
    source: ConversionSource,
    path: string,
    options: ConvertOptions,
  ): Conversion | Promise<Conversion>;
}

const COUNTS = [
  "shardSize",
  "shardLength",
  "parts",
  "rowGroup",
  "videosPerChunk",
] as const;

/** All options that only some targets take. */
const OWN_OPTIONS = ["generation", "spec", ...COUNTS] as const;

/**
 * Validates the options for the target.
 *
 * @param name Name of the target.
 * @throws {ConversionError} If an option does not fit the target, or is invalid.
 */
export function requireOptions(
  source: ConversionSource,
  target: ConversionTarget,
  name: string,
  options: ConvertOptions,
): void {
  const bad = (option: NamedOption, reason: (text: string) => string) =>
    new ConversionError(
      "bad-option",
      reason(optionText(option)),
      source.path,
      [],
      undefined,
      [option],
    );
  for (const option of OWN_OPTIONS) {
    if (options[option] === undefined || target.options.includes(option)) {
      continue;
    }
    throw bad(
      { name: option },
      (text) => `The target ${name} does not support ${text}`,
    );
  }
  for (const option of COUNTS) {
    const count = options[option];
    if (count === undefined || Number.isSafeInteger(count) && count >= 1) {
      continue;
    }
    throw bad(
      { name: option },
      (text) =>
        `The value of ${text} must be a whole number from 1, not ${count}`,
    );
  }
  const { generation } = options;
  if (generation !== undefined && ![1, 2, 3].includes(generation)) {
    throw bad(
      { name: "generation" },
      (text) => `The value of ${text} must be 1, 2 or 3, not ${generation}`,
    );
  }
  target.requireOptions?.(source, options);
}

/**
 * Checks, before any work is done, that nothing exists at the target but possibly an empty directory.
 *
 * @throws {WriteError} If something exists, or the parent directory is missing.
 */
export async function requireAbsent(
  target: string,
  { makesParents, content }: ConversionTarget,
  form: TargetForm,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (form.isDirectory) {
    const parent = path.dirname(path.resolve(target));
    if (makesParents && !fs.existsSync(parent)) return;
    return await requireEmpty(target, content !== undefined, signal);
  }
  const { found } = await runAsync(findTarget(target), signal);
  if (found === undefined) return;
  const advice = found.isFile()
    ? `Replace it with ${optionText(REPLACE)}, or choose another name`
    : "Remove it, or choose another name";
  throw new WriteError(
    "exists",
    `Cannot write ${target}: it exists. ${advice}`,
    { path: target, namedOptions: found.isFile() ? [REPLACE] : undefined },
  );
}

async function requireEmpty(
  target: string,
  isReplaceable: boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await runAsync(requireNewDirectory(target), signal);
  } catch (cause) {
    const isFilled = cause instanceof WriteError && cause.code === "not-empty";
    if (!isFilled || !isReplaceable) throw cause;
    throw new WriteError(
      "not-empty",
      `Cannot write the directory ${target}: it exists and is not empty. ` +
        `Replace it with ${
          optionText(REPLACE)
        }, if it holds only such a container, or ` +
        "choose another name",
      { path: target, cause, namedOptions: [REPLACE] },
    );
  }
}

/**
 * Rejects a target inside the source, which would be read while it grows.
 *
 * @throws {WriteError} If it is inside.
 */
export function requireApart(source: string, target: string): void {
  if (!liesIn(path.dirname(target), source)) return;
  throw new WriteError(
    "bad-name",
    `Cannot write ${target}: it lies in ${source}, which is converted. ` +
      "Choose another path",
    { path: target },
  );
}
