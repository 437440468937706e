import { messageOf } from "../../../base/message_text.ts";
import { variable } from "../../../base/environment.ts";
import { RecordfsError } from "../../../base/errors.ts";
import {
  type MessageListener,
  type NamedOption,
  optionText,
} from "../../../base/named_option.ts";
import { NotTrustedError } from "../../dirfd/trust.ts";
import { TrustedDirectory } from "../../dirfd/trusted_directory.ts";
import { SystemError } from "../../libc/system_error.ts";
import type { CacheOptions } from "../remote_options.ts";
import { warnedCaches } from "./warned_caches.ts";

const DIRECTORY: NamedOption = { name: "cache.directory" };
const SHARED: NamedOption = { name: "cache.shared" };

/** The directory of a cache. Used only if untrusted users cannot have put anything into it. */
export class CacheRoot {
  readonly path: string;
  /** Why Deno would prompt before using it, or refuse it. */
  readonly missing: string | undefined;
  /** Whether its owner and group are trusted. */
  readonly isShared: boolean;
  readonly #onWarning: MessageListener;

  constructor(
    { directory, shared }: CacheOptions,
    onWarning: MessageListener,
  ) {
    this.path = directory ?? usualDirectory();
    this.missing = missingFor(this.path);
    this.isShared = shared === true;
    this.#onWarning = onWarning;
  }

  /**
   * Opens the directory or one below it; `undefined` if it does not exist. Throws a {@linkcode NotTrustedError} if
   * untrusted users could have put something into it.
   */
  open(names: readonly string[] = []): TrustedDirectory | undefined {
    return this.#descend(names, false, (above, name) => above.open(name));
  }

  /** {@linkcode CacheRoot.open}, creating the directory if it is missing. */
  make(names: readonly string[]): TrustedDirectory {
    return this.#descend(names, true, (above, name) => above.make(name))!;
  }

  /** @throws {RecordfsError} If it exists and cannot be used. */
  require(): void {
    try {
      this.open()?.[Symbol.dispose]();
    } catch (error) {
      throw new RecordfsError(
        error instanceof RecordfsError ? error.code : "bad-cache",
        `Cannot use the cache ${this.path}: ${reasonOf(error)}. ${
          hintFor(error)
        }`,
        { path: this.path, cause: error, namedOptions: optionsFor(error) },
      );
    }
  }

  /** Warns once that the cache cannot be used, which only makes reading slower. */
  warn(error: unknown): void {
    const warned = warnedCaches(this.#onWarning);
    if (warned.has(this.path)) return;
    warned.add(this.path);
    this.#onWarning(
      `Cannot use the cache ${this.path}: ${reasonOf(error)}. ` +
        `Data that is read again may be fetched again; ${
          uncapital(hintFor(error))
        }`,
      optionsFor(error),
    );
  }

  #descend(
    names: readonly string[],
    isToMake: boolean,
    step: (
      above: TrustedDirectory,
      name: string,
    ) => TrustedDirectory | undefined,
  ): TrustedDirectory | undefined {
    if (this.missing !== undefined) throw new Error(this.missing);
    const trust = { isShared: this.isShared };
    let directory = TrustedDirectory.open(this.path, trust, isToMake);
    for (const name of names) {
      if (directory === undefined) return undefined;
      using above = directory;
      directory = step(above, name);
    }
    return directory;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof NotTrustedError) return error.reason;
  if (error instanceof SystemError) {
    return `${error.code}: ${capital(error.message)}`;
  }
  return messageOf(error);
}

function hintFor(error: unknown): string {
  const other = `Choose another with ${optionText(DIRECTORY)}`;
  return error instanceof NotTrustedError
    ? `${other}, or trust its owner and group, but never everybody, with ${
      optionText(SHARED)
    }`
    : other;
}

function optionsFor(error: unknown): readonly NamedOption[] {
  return error instanceof NotTrustedError ? [DIRECTORY, SHARED] : [DIRECTORY];
}

function uncapital(text: string): string {
  return text[0]!.toLowerCase() + text.slice(1);
}

function capital(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1);
}

/** Returns the default directory; empty if unknown. */
function usualDirectory(): string {
  const home = variable("HOME");
  const base = variable("XDG_CACHE_HOME") ?? (home && `${home}/.cache`);
  return base === undefined ? "" : `${base}/recordfs`;
}

function missingFor(path: string): string | undefined {
  if (path === "") return "HOME is not set, or needs --allow-env";
  const missing = (["read", "write"] as const).find((name) =>
    Deno.permissions.querySync({ name, path }).state !== "granted"
  );
  return missing && `it needs --allow-${missing}`;
}
