import * as fs from "node:fs";
import * as path from "node:path";
import { WriteError } from "../../errors.ts";
import { isInParts } from "../../formats/ffrecord/write/parts.ts";
import { recordFilePath } from "../../formats/ffrecord/write/record_file_path.ts";
import { requireNewDirectory } from "../../io/write/new_directory.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import { findTarget } from "../../io/write/write_target.ts";
import {
  ConversionError,
  type ConvertOptions,
  type ConvertTarget,
} from "../conversion.ts";
import type { TargetForm } from "./replacement.ts";
import type { Source } from "../from/source.ts";

/**
 * What to convert to: as the caller says, or as the name does.
 *
 * @throws {ConversionError} If neither does.
 */
export function targetOf(
  { kind, path }: Source,
  target: string,
  { to }: ConvertOptions,
): ConvertTarget {
  if (to !== undefined) return to;
  if (target.endsWith("/")) return "folder";
  if (target.endsWith(".bag")) return "bag";
  if (target.endsWith(".ffr")) {
    return kind === "samples" || kind === "bag"
      ? "ffrecord-samples"
      : "ffrecord";
  }
  throw new ConversionError(
    "bad-option",
    `The name ${target} does not say what ${path} is to become: end it in .ffr, .bag or a ` +
      "slash, or say it by the option `to`",
    path,
  );
}

/** The options that each target takes beside those of all. */
const OWN_OPTIONS: Record<ConvertTarget, readonly (keyof ConvertOptions)[]> = {
  "ffrecord": ["parts"],
  "ffrecord-samples": ["parts"],
  "gulp": ["videosPerChunk"],
  "bags": ["generation", "spec", "shardSize", "shardLength"],
  "bag": ["generation"],
  "folder": [],
};

const COUNTS = ["shardSize", "shardLength", "parts", "videosPerChunk"] as const;

/**
 * Makes sure that all options are for the target.
 *
 * @throws {ConversionError} If one is not, or means nothing.
 */
export function requireOptions(
  { kind, path }: Source,
  target: ConvertTarget,
  options: ConvertOptions,
): void {
  const bad = (what: string) => new ConversionError("bad-option", what, path);
  const own = OWN_OPTIONS[target];
  if (own === undefined) throw bad(`There is no target '${target}'`);
  for (const name of Object.values(OWN_OPTIONS).flat()) {
    if (options[name] === undefined || own.includes(name)) continue;
    throw bad(`The option \`${name}\` is not for ${target}: leave it out`);
  }
  for (const name of COUNTS) {
    const count = options[name];
    if (count === undefined || Number.isSafeInteger(count) && count >= 1) {
      continue;
    }
    throw bad(
      `The option \`${name}\` is a whole number from 1 on, not ${count}`,
    );
  }
  const { generation, spec } = options;
  if (generation !== undefined && ![1, 2, 3].includes(generation)) {
    throw bad(`The option \`generation\` is 1, 2 or 3, not ${generation}`);
  }
  if (spec === undefined || kind !== "dataset" && kind !== "videos") return;
  throw bad(
    `The option \`spec\` is for files and samples: ${path} has types of its own`,
  );
}

/** What a target is on the disk. */
export function formOf(
  target: string,
  kind: ConvertTarget,
  { parts }: ConvertOptions,
): TargetForm {
  if (kind === "bag") return "bag";
  return kind.startsWith("ffrecord") && !isInParts(target, parts)
    ? "file"
    : "directory";
}

/**
 * Makes sure that the target's name is one of what it becomes.
 *
 * @throws {WriteError} If it is not.
 */
export function requireName(target: string, form: TargetForm): void {
  if (form === "file") recordFilePath(target);
  if (form !== "bag" || /[^/]\.bag$/.test(target)) return;
  throw new WriteError(
    "bad-name",
    `Cannot write ${target}: the name of a bag ends in .bag`,
    { path: target },
  );
}

/**
 * Makes sure that nothing is there but an empty directory, where the target is one: before any work is
 * done for it.
 *
 * @throws {WriteError} If something is, or the target's directory is missing.
 */
export async function requireAbsent(
  target: string,
  kind: ConvertTarget,
  form: TargetForm,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (form === "directory") {
    // Parts of samples are put into directories that are made.
    if (kind === "ffrecord-samples" && !parentIsThere(target)) return;
    await requireEmpty(target, kind, signal);
    return;
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
  kind: ConvertTarget,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await runAsync(requireNewDirectory(target), signal);
  } catch (cause) {
    const isFilled = cause instanceof WriteError && cause.code === "not-empty";
    if (!isFilled || kind === "folder") throw cause;
    throw new WriteError(
      "not-empty",
      `Cannot write the directory ${target}: it exists and is not empty; the option \`replace\` ` +
        "replaces one that holds such a container and nothing else; or choose another name",
      { path: target, cause },
    );
  }
}

function parentIsThere(target: string): boolean {
  return fs.existsSync(path.dirname(path.resolve(target)));
}

/**
 * Makes sure that the target is not in the source, which would be read while it grows.
 *
 * @throws {WriteError} If it is.
 */
export function requireApart(source: string, target: string): void {
  const inside = `${realPath(source)}${path.sep}`;
  const place = realPath(path.dirname(target));
  if (!`${place}${path.sep}`.startsWith(inside)) return;
  throw new WriteError(
    "bad-name",
    `Cannot write ${target}: it lies in ${source}, which is converted; choose another place`,
    { path: target },
  );
}

/** What is not there has no other path; that is said where it is opened. */
function realPath(file: string): string {
  try {
    return fs.realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}
