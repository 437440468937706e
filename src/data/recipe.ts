import { messageOf } from "../base/message_text.ts";
import { backoffTable } from "../io/remote/backoff_table.ts";
import type { RemoteOptions } from "../io/remote/remote_options.ts";
import {
  type InternalOptions,
  RemoteStorage,
} from "../io/remote/remote_storage.ts";
import { LOCAL_DISK, type Storage } from "../io/storage/storage.ts";
import { DataError } from "./data_error.ts";

/**
 * How to make a value in another thread: what to import, and what to call it with. It survives
 * `postMessage`.
 */
export interface Recipe {
  /** URL of the module. */
  readonly module: string;
  /** Name of its export: a class or a function. */
  readonly name: string;
  /** Use of the export: `open` is the class's static method of that name. */
  readonly how: "call" | "new" | "open" | "value";
  /** Arguments: plain data, typed arrays over shared memory, and further recipes in `{ recipe }`. */
  readonly args: readonly unknown[];
}

/** The method by which a value says how another thread makes it. */
export const RECIPE: unique symbol = Symbol("recordfs.recipe");

/** A function, or where another thread finds it: as a module's URL (its default export), or by name too. */
export type Imported<F> = F | URL | ImportedName;

/** An export of a module. */
export interface ImportedName {
  /** The module: `import.meta.resolve("./decode.ts")`. */
  readonly module: URL | string;
  /** The export; unless given, the default one. */
  readonly name?: string;
}

/** A value with a recipe of its own. */
export interface Portable {
  /** Recipe by which another thread makes the value; `undefined` where it cannot. */
  [RECIPE](): Recipe | undefined;
}

/** Stands for a value among the arguments of a recipe. */
interface Nested {
  readonly recipe: Recipe;
}

/** Where values that were imported by name come from. */
const origins = new WeakMap<object, Recipe>();

/** True if a value says how another thread makes it. */
export function isPortable(value: unknown): value is Portable {
  return typeof value === "object" && value !== null && RECIPE in value;
}

/**
 * The recipe of a value that is an argument of another recipe, to be put in its place.
 *
 * @param value Plain data stays what it is; in its lists and objects may be values with recipes. A
 * function must have come from {@linkcode importedFunction}, or {@linkcode importedValue}.
 * @param what What it is, for the message.
 * @throws {DataError} With code `not-portable` if it is a function, or a value without a recipe.
 */
export function argument(value: unknown, what: string): unknown {
  if (typeof value === "function") {
    return { recipe: importedRecipe(value, what) } satisfies Nested;
  }
  if (typeof value !== "object" || value === null) return value;
  const origin = origins.get(value);
  if (origin !== undefined) return { recipe: origin } satisfies Nested;
  if (value instanceof URL) return value.href;
  if (isPortable(value)) {
    const recipe = value[RECIPE]();
    if (recipe !== undefined) return { recipe } satisfies Nested;
    throw notPortable(what);
  }
  if (Array.isArray(value)) {
    return value.map((entry, i) => argument(entry, `${what} (its entry ${i})`));
  }
  if (!isPlain(value)) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map((
      [key, entry],
    ) => [key, argument(entry, `${what} (its '${key}')`)]),
  );
}

/**
 * The storage of files, as an argument of a recipe; the local disk is not named.
 *
 * @param path One of the files, for the message.
 * @throws {DataError} With code `not-portable` unless it says how another thread makes it.
 */
export function storageArgument(
  storage: Storage | undefined,
  path: string,
): unknown {
  if (storage === undefined || storage === LOCAL_DISK) return undefined;
  if (storage instanceof RemoteStorage) {
    const { onWarning: _, ...options } = storage.options; // those of threads go to the console
    const warned = [...storage.warned];
    return {
      recipe: remoteRecipe(storage.url, options, {
        warned,
        backoffs: backoffTable(),
      }),
    } satisfies Nested;
  }
  if (origins.has(storage) || isPortable(storage)) {
    return argument(storage, `The storage of ${path}`);
  }
  throw new DataError(
    "not-portable",
    `${path} lies in a storage that the loader's worker threads cannot open: load with numWorkers: 0`,
    { path },
  );
}

function remoteRecipe(
  url: string,
  options: RemoteOptions,
  internal: InternalOptions,
): Recipe {
  const { href } = new URL("../io/remote/remote_storage.ts", import.meta.url);
  return {
    module: href,
    name: "RemoteStorage",
    how: "new",
    args: [url, options, internal],
  };
}

/** True if a value is an object of no class. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function notPortable(what: string): DataError {
  return new DataError(
    "not-portable",
    `${what} cannot be sent to the loader's worker threads: put it into a module of its own and give ` +
      `the module, as new URL("./my_module.ts", import.meta.url), or load with numWorkers: 0`,
  );
}

/**
 * The function that is meant by {@linkcode Imported}: itself, or what the module exports.
 *
 * @throws {DataError} With code `not-portable` if there is no such function.
 */
export async function importedFunction<F>(from: Imported<F>): Promise<F> {
  if (typeof from === "function") return from;
  const found = await importedValue(from as URL | ImportedName);
  if (typeof found === "function") return found as F;
  const { module, name } = namedExport(from as URL | ImportedName);
  throw new DataError(
    "not-portable",
    `The ${
      exportName(name)
    } of ${module} is no function: export the one that is meant`,
    { path: module },
  );
}

/**
 * What a module exports; other threads can import it too, where it is an object or a function.
 *
 * @throws {DataError} With code `not-portable` if the module has no such export.
 */
export async function importedValue(
  from: URL | ImportedName,
): Promise<unknown> {
  const recipe = importedRecipe(from, "");
  const found = await exportOf(recipe.module, recipe.name);
  const isKnown = typeof found === "function" ||
    typeof found === "object" && found !== null;
  if (isKnown) origins.set(found, recipe);
  return found;
}

/**
 * The recipe's form of {@linkcode Imported}.
 *
 * @throws {DataError} With code `not-portable` for a function that was not imported by
 * {@linkcode importedFunction}.
 */
export function importedRecipe(
  from: Imported<unknown>,
  what: string,
): Recipe {
  const origin = typeof from === "function" ? origins.get(from) : undefined;
  if (origin !== undefined) return origin;
  if (typeof from === "function") throw notPortable(what);
  return { ...namedExport(from as URL | ImportedName), how: "value", args: [] };
}

function namedExport(from: URL | ImportedName) {
  return from instanceof URL
    ? { module: from.href, name: "default" }
    : { module: String(from.module ?? from), name: from.name ?? "default" };
}

/**
 * Makes what a recipe describes.
 *
 * @throws {DataError} With code `not-portable` if the module has no such export.
 */
export async function followRecipe(recipe: Recipe): Promise<unknown> {
  const args: unknown[] = [];
  for (const value of recipe.args) args.push(await followArgument(value));
  const found = await exportOf(recipe.module, recipe.name);
  if (recipe.how === "value") return found;
  // deno-lint-ignore no-explicit-any
  const made = found as any;
  switch (recipe.how) {
    case "call":
      return await made(...args);
    case "new":
      return new made(...args);
    case "open":
      return await made.open(...args);
  }
}

async function followArgument(value: unknown): Promise<unknown> {
  if (Array.isArray(value)) return await Promise.all(value.map(followArgument));
  if (typeof value !== "object" || value === null) return value;
  if (isNested(value)) return await followRecipe(value.recipe);
  if (!isPlain(value)) return value;
  const reopened: [string, unknown][] = [];
  for (const [key, entry] of Object.entries(value)) {
    reopened.push([key, await followArgument(entry)]);
  }
  return Object.fromEntries(reopened);
}

/** Data of the user's may have an entry `recipe` too. */
function isNested(value: object): value is Nested {
  const { recipe, ...more } = value as Partial<Nested>;
  return typeof recipe === "object" && recipe !== null &&
    typeof recipe.module === "string" && typeof recipe.name === "string" &&
    typeof recipe.how === "string" && Array.isArray(recipe.args) &&
    Object.keys(more).length === 0;
}

async function exportOf(module: string, name: string): Promise<unknown> {
  const exports = await importModule(module);
  if (name in exports) return exports[name];
  throw new DataError(
    "not-portable",
    `The module ${module} has no ${
      exportName(name)
    }: export what is to be used`,
    { path: module },
  );
}

async function importModule(module: string): Promise<Record<string, unknown>> {
  if (!URL.canParse(module)) {
    throw new DataError(
      "not-portable",
      `'${module}' is no URL of a module: give import.meta.resolve("./my_module.ts")`,
      { path: module },
    );
  }
  try {
    const imported = import(module);
    return await (module === Deno.mainModule ? ofProgram(imported) : imported);
  } catch (cause) {
    throw new DataError(
      "not-portable",
      `Cannot load the module ${module}: ${messageOf(cause)}`,
      { path: module, cause },
    );
  }
}

/** Time that the program's own module may take to be there, in ms; one that has been run is at once. */
const PROGRAM_PATIENCE = 2000;

/** Exports of the program itself: they can only be had when the program does not wait for it. */
async function ofProgram<M>(imported: Promise<M>): Promise<M> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(
      new Error(
        "it is the program itself, which waits for this with an await outside of functions, so that each " +
          "waits for the other: put what is imported into a module of its own",
      ),
    );
  }, PROGRAM_PATIENCE);
  try {
    return await Promise.race([imported, late]);
  } finally {
    clearTimeout(timer);
  }
}

function exportName(name: string): string {
  return name === "default" ? "default export" : `export '${name}'`;
}
