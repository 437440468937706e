import * as fs from "node:fs";
import * as path from "node:path";
import { WriteError } from "../../base/errors.ts";
import { makeTemporaryDirectory } from "../../io/write/new_directory.ts";
import { removeTree } from "../../io/write/remove_tree.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import type { Temporary } from "../../io/write/temporaries.ts";
import { renamed, writeError } from "../../io/write/write_error.ts";
import { findTarget, syncDirectoryOf } from "../../io/write/write_target.ts";
import type { ConversionTarget, TargetForm } from "./target.ts";

/**
 * Replacement of an existing target. The new one is written to a hidden directory next to it, and takes its place when
 * complete; any earlier failure leaves the old one unchanged. If the process is killed during the swap, the old one
 * remains as `.NAME.recordfs-PID-N.old`, which nothing removes.
 */
export class Replacement {
  readonly path: string;
  readonly #given: string;
  readonly #target: string;
  readonly #form: TargetForm;
  readonly #temporary: Temporary<void>;

  private constructor(
    given: string,
    target: string,
    form: TargetForm,
    temporary: Temporary<void>,
  ) {
    this.#given = given;
    this.#target = target;
    this.#form = form;
    this.#temporary = temporary;
    this.path = path.join(temporary.path, path.basename(target));
  }

  /**
   * Prepares to replace a target.
   *
   * @param source Local path of the source, which must not be in the target.
   * @returns `undefined` if there is nothing to replace.
   * @throws {WriteError} If the existing target is not such a container, and might be anything.
   */
  static async of(
    source: string | undefined,
    given: string,
    content: ConversionTarget["content"],
    form: TargetForm,
  ): Promise<Replacement | undefined> {
    const location = given.replace(/(?<=[^/])\/+$/, "");
    const { path: target, found } = await runAsync(findTarget(location));
    if (found === undefined && !form.files(target).some(exists)) {
      return undefined;
    }
    if (!form.isDirectory) {
      if (found !== undefined && !found.isFile()) {
        throw refusal(given, "it is not a file");
      }
    } else {
      if (found!.isFile()) {
        throw refusal(given, "it is a file, not a directory");
      }
      if (entriesIn(given, target).length === 0) return undefined;
      requireContainer(given, target, content);
      if (source !== undefined) requireOutside(source, given, target);
    }
    try {
      const temporary = await runAsync(makeTemporaryDirectory(target));
      return new Replacement(given, target, form, temporary);
    } catch (error) {
      throw writeError(given, error);
    }
  }

  /**
   * Swaps the new target in, and removes the old one.
   *
   * @throws {WriteError} If the system reports an error; the old target is then back in place.
   */
  async publish(): Promise<void> {
    const targets = this.#form.files(this.#target);
    const moves = this.#form.files(this.path)
      .map((from, i) => ({ from, to: targets[i]! }));
    const undo: (() => void)[] = [];
    const replaced: string[] = [];
    try {
      if (this.#form.isDirectory || moves.length > 1) { // renaming replaces a single file
        for (const { to } of moves) {
          if (!exists(to)) continue;
          const old = this.#temporary.path
            .replace(/part$/, `old${path.extname(to)}`);
          fs.renameSync(to, old);
          replaced.push(old);
          undo.push(() => fs.renameSync(old, to));
        }
      }
      for (const { from, to } of moves) {
        if (!exists(from)) continue; // some of the files are optional
        fs.renameSync(from, to);
        undo.push(() => fs.renameSync(to, from));
      }
    } catch (error) {
      for (const step of undo.reverse()) step();
      throw writeError(this.#given, error);
    }
    await runAsync(syncDirectoryOf(this.#target));
    for (const old of replaced) {
      if (fs.lstatSync(old).isDirectory()) removeTree(old);
      else fs.rmSync(old);
    }
  }

  /** Makes errors name the final path instead of the hidden directory. */
  asPublished(error: unknown): unknown {
    return error instanceof WriteError
      ? renamed(error, this.path, this.#given)
      : error;
  }

  discard(): void {
    this.#temporary.discard();
  }
}

/** Rejects a directory that contains anything but such a container. */
function requireContainer(
  given: string,
  directory: string,
  content: ConversionTarget["content"],
): void {
  if (content === undefined) {
    throw refusal(
      given,
      "it is a folder, which may hold any files. Remove it yourself",
    );
  }
  const strayIn = (place: string, entries: readonly fs.Dirent[]) => {
    const stray = entries.find((entry) =>
      entry.isDirectory() || !content.isOwn(entry.name)
    );
    return stray && `${place}${stray.name}`;
  };
  const entries = entriesIn(given, directory);
  const isParts = entries.every((entry) =>
    entry.isDirectory() && content.isPart?.(entry.name)
  );
  const stray = isParts
    ? entries.map(({ name }) =>
      strayIn(`${name}/`, entriesIn(given, path.join(directory, name)))
    ).find((name) => name !== undefined)
    : strayIn("", entries);
  if (stray === undefined) return;
  throw refusal(given, `it is not only ${content.what}: it holds ${stray}`);
}

/** Rejects a target that contains the source, which would be deleted with it. */
function requireOutside(source: string, given: string, target: string): void {
  const real = fs.realpathSync(source);
  const inside = `${fs.realpathSync(target)}${path.sep}`;
  if (!real.startsWith(inside)) return;
  throw refusal(given, `it holds ${source}, which is converted`);
}

function entriesIn(given: string, directory: string): fs.Dirent[] {
  try {
    return fs.readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    throw writeError(given, error);
  }
}

function exists(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

function refusal(target: string, why: string): WriteError {
  return new WriteError(
    "exists",
    `Cannot replace ${target}: ${why}`,
    { path: target },
  );
}
