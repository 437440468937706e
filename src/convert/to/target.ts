import * as fs from "node:fs";
import * as path from "node:path";
import { liesIn } from "../../io/write/lies_in.ts";
import { WriteError } from "../../base/errors.ts";
import { requireNewDirectory } from "../../io/write/new_directory.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import { findTarget } from "../../io/write/write_target.ts";
import {
  type Conversion,
  ConversionError,
  type ConvertOptions,
} from "../conversion.ts";
import type { ConversionSource } from "../from/source.ts";

/** What a target is on the disk. */
export interface TargetForm {
  /** Whether it is a directory, and not files. */
  readonly isDirectory: boolean;
  /** The files that it is, of its path, in the order in which they appear; the last one is the path. */
  files(path: string): readonly string[];
}

/** A target that is a directory. */
export const DIRECTORY: TargetForm = {
  isDirectory: true,
  files: (path) => [path],
};

/** A target that is one file. */
export const FILE: TargetForm = { isDirectory: false, files: (path) => [path] };

/** What tells a target from others, before its format is loaded. */
export interface TargetName {
  /** What the option `to` calls it. */
  readonly name: string;
  /** How paths end that mean it without that option. */
  readonly suffix?: string;
  /** Whether such a path means it for sources of numbered records alone, or for all others. */
  readonly ofNumbered?: boolean;
}

/** Something that sources are converted to. */
export interface ConversionTarget {
  /** The options that it takes beside those of all. */
  readonly options: readonly (keyof ConvertOptions)[];
  /** What a directory holds that is such a target and nothing else; any might be anything without. */
  readonly content?: {
    /** For people. */
    readonly what: string;
    /** Whether a file belongs to one. */
    isOwn(name: string): boolean;
    /** Whether a directory may be a part of one, which holds the same again. */
    isPart?(name: string): boolean;
  };
  /** Whether the directories above it are made, where they are not there. */
  readonly makesParents?: boolean;
  /**
   * Looks whether its options are for a source.
   *
   * @throws {ConversionError} If one is not.
   */
  requireOptions?(source: ConversionSource, options: ConvertOptions): void;
  /**
   * What it is on the disk.
   *
   * @throws {WriteError} If its path is none of such a target.
   */
  form(path: string, options: ConvertOptions): TargetForm;
  /**
   * Plans to write it.
   *
   * @throws {ConversionError} If the source has no form in it.
   */
  plan(
    source: ConversionSource,
    path: string,
    options: ConvertOptions,
  ): Conversion | Promise<Conversion>;
}

const COUNTS = ["shardSize", "shardLength", "parts", "videosPerChunk"] as const;

/** All options that are for some targets alone. */
const OWN_OPTIONS = ["generation", "spec", ...COUNTS] as const;

/**
 * Makes sure that all options are for the target.
 *
 * @param name What the target is called.
 * @throws {ConversionError} If one is not, or means nothing.
 */
export function requireOptions(
  source: ConversionSource,
  target: ConversionTarget,
  name: string,
  options: ConvertOptions,
): void {
  const bad = (what: string) =>
    new ConversionError("bad-option", what, source.path);
  for (const option of OWN_OPTIONS) {
    if (options[option] === undefined || target.options.includes(option)) {
      continue;
    }
    throw bad(`The option \`${option}\` is not for ${name}: leave it out`);
  }
  for (const option of COUNTS) {
    const count = options[option];
    if (count === undefined || Number.isSafeInteger(count) && count >= 1) {
      continue;
    }
    throw bad(
      `The option \`${option}\` is a whole number from 1 on, not ${count}`,
    );
  }
  const { generation } = options;
  if (generation !== undefined && ![1, 2, 3].includes(generation)) {
    throw bad(`The option \`generation\` is 1, 2 or 3, not ${generation}`);
  }
  target.requireOptions?.(source, options);
}

/**
 * Makes sure that nothing is there but an empty directory, where the target is one: before any work is
 * done for it.
 *
 * @throws {WriteError} If something is, or the target's directory is missing.
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
    ? "the option `replace` replaces it; or choose another name"
    : "remove it, or choose another name";
  throw new WriteError(
    "exists",
    `Cannot write ${target}: it exists; ${advice}`,
    { path: target },
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
      `Cannot write the directory ${target}: it exists and is not empty; the option \`replace\` ` +
        "replaces one that holds such a container and nothing else; or choose another name",
      { path: target, cause },
    );
  }
}

/**
 * Makes sure that the target is not in the source, which would be read while it grows.
 *
 * @throws {WriteError} If it is.
 */
export function requireApart(source: string, target: string): void {
  if (!liesIn(path.dirname(target), source)) return;
  throw new WriteError(
    "bad-name",
    `Cannot write ${target}: it lies in ${source}, which is converted; choose another place`,
    { path: target },
  );
}
