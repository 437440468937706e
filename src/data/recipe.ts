import { messageOf } from "../base/message_text.ts";
import { backoffTable } from "../io/remote/retry/backoff_table.ts";
import type { RemoteOptions } from "../io/remote/remote_options.ts";
import {
  type InternalOptions,
  RemoteStorage,
} from "../io/remote/remote_storage.ts";
import {
  baseOf,
  LayeredStorage,
  layersOf,
} from "../io/storage/layered_storage.ts";
import { LOCAL_DISK, type Storage } from "../io/storage/storage.ts";
import { DataError } from "./data_error.ts";

/**
 * Describes how to construct a value in another thread: which export to import, and the arguments. Can be sent by
 * `postMessage`.
 */
export interface Recipe {
  /** URL of the module. */
  readonly module: string;
  /** Name of the export: a class, a function, or for `value` any value. */
  readonly name: string;
  /** How to use the export: `open` is a static method of the class. */
  readonly how: "call" | "new" | "open" | "value";
  /** Arguments: plain data, typed arrays over shared memory, and nested recipes as `{ recipe }`. */
  readonly args: readonly unknown[];
}

/** Key of the method that returns a value's recipe. */
export const RECIPE: unique symbol = Symbol("recordfs.recipe");

/**
 * A function, or the export that another thread can import it from: a module's URL (its default export), or a
 * module and a name.
 *
 * @typeParam F The function; `never` if only a module's export will do.
 */
export type Imported<F> = F | URL | {
  /** URL of the module: `import.meta.resolve("./decode.ts")`. */
  readonly module: URL | string;
  /** Name of the export. Defaults to the default export. */
  readonly name?: string;
};

/** A value that can be constructed in another thread. */
export interface Portable {
  /** Returns the recipe that constructs the value in another thread; `undefined` if that is impossible. */
  [RECIPE](): Recipe | undefined;
}

/** A value in the arguments of a recipe, replaced by its own recipe. */
interface Nested {
  readonly recipe: Recipe;
}

/** Recipes of values that were imported by name. */
const origins = new WeakMap<object, Recipe>();

export function isPortable(value: unknown): value is Portable {
  return typeof value === "object" && value !== null && RECIPE in value;
}

/**
 * Returns a value in the form that a recipe's arguments have.
 *
 * @param value Plain data is passed on. Lists and objects may contain values with recipes. A function must come
 * from {@linkcode importedFunction} or {@linkcode importedValue}.
 * @param what Name of the value, for messages.
 * @throws {DataError} With code `not-portable` if the value is a function that was not imported, or has no recipe.
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
 * Returns a storage as an argument of a recipe; `undefined` for the local disk.
 *
 * @param path One of the files, for messages.
 * @throws {DataError} With code `not-portable` if the storage has no recipe.
 */
export function storageArgument(
  storage: Storage | undefined,
  path: string,
): unknown {
  if (storage === undefined || storage === LOCAL_DISK) return undefined;
  if (storage instanceof RemoteStorage) {
    const { onWarning: _, ...options } = storage.options; // worker threads warn on the console
    const warned = [...storage.warned];
    return {
      recipe: remoteRecipe(storage.url, options, {
        warned,
        backoffs: backoffTable(),
      }),
    } satisfies Nested;
  }
  if (storage instanceof LayeredStorage) {
    const { href } = new URL(
      "../io/storage/layered_storage.ts",
      import.meta.url,
    );
    const base = storageArgument(baseOf(storage), path);
    return {
      recipe: {
        module: href,
        name: "reopenLayers",
        how: "call",
        args: [layersOf(storage), base],
      },
    } satisfies Nested;
  }
  if (origins.has(storage) || isPortable(storage)) {
    return argument(storage, `The storage of ${path}`);
  }
  throw new DataError(
    "not-portable",
    `Cannot open ${path} in the loader's worker threads: it lies in a ` +
      "storage that they cannot open. Load with numWorkers: 0",
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

/** Whether an object has no class. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function notPortable(what: string): DataError {
  return new DataError(
    "not-portable",
    `${what} cannot be sent to the loader's worker threads: put it into a module of its own ` +
      `and give its URL, such as new URL("./my_module.ts", import.meta.url), or load with numWorkers: 0`,
  );
}

/**
 * Returns the function that {@linkcode Imported} refers to: itself, or the export of the module.
 *
 * @throws {DataError} With code `not-portable` if there is no such function.
 */
export async function importedFunction<F>(from: Imported<F>): Promise<F> {
  if (typeof from === "function") return from;
  const found = await importedValue(from as Imported<never>);
  if (typeof found === "function") return found as F;
  const { module, name } = namedExport(from as Imported<never>);
  throw new DataError(
    "not-portable",
    `The ${exportName(name)} of ${module} must be a function`,
    { path: module },
  );
}

/**
 * Returns the export of a module. If it is an object or a function, its recipe is recorded, so that other threads
 * can import it too.
 *
 * @throws {DataError} With code `not-portable` if the module has no such export.
 */
export async function importedValue(
  from: Imported<never>,
): Promise<unknown> {
  return await valueOf(importedRecipe(from, ""));
}

/** Imports the export of a recipe, and records that recipe. */
async function valueOf(recipe: Recipe): Promise<unknown> {
  const found = await exportOf(recipe.module, recipe.name);
  const isKnown = typeof found === "function" ||
    typeof found === "object" && found !== null;
  if (isKnown) origins.set(found, recipe);
  return found;
}

/**
 * Returns the recipe of an {@linkcode Imported}.
 *
 * @throws {DataError} With code `not-portable` for a function that {@linkcode importedFunction} did not import.
 */
export function importedRecipe(
  from: Imported<unknown>,
  what: string,
): Recipe {
  const origin = typeof from === "function" ? origins.get(from) : undefined;
  if (origin !== undefined) return origin;
  if (typeof from === "function") throw notPortable(what);
  return { ...namedExport(from as Imported<never>), how: "value", args: [] };
}

function namedExport(from: Imported<never>) {
  return from instanceof URL
    ? { module: from.href, name: "default" }
    : { module: String(from.module ?? from), name: from.name ?? "default" };
}

/**
 * Constructs the value that a recipe describes.
 *
 * @throws {DataError} With code `not-portable` if the module has no such export.
 */
export async function followRecipe(recipe: Recipe): Promise<unknown> {
  const args: unknown[] = [];
  for (const value of recipe.args) args.push(await followArgument(value));
  if (recipe.how === "value") return await valueOf(recipe);
  const found = await exportOf(recipe.module, recipe.name);
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

/**
 * Constructs the value that {@linkcode argument} described. Returns a constructed value unchanged.
 *
 * @throws {DataError} With code `not-portable` if a module has no such export.
 */
export async function followArgument(value: unknown): Promise<unknown> {
  if (Array.isArray(value)) return await Promise.all(value.map(followArgument));
  if (typeof value !== "object" || value === null) return value;
  if (origins.has(value)) return value;
  if (isNested(value)) return await followRecipe(value.recipe);
  if (!isPlain(value)) return value;
  const reopened: [string, unknown][] = [];
  for (const [key, entry] of Object.entries(value)) {
    reopened.push([key, await followArgument(entry)]);
  }
  return Object.fromEntries(reopened);
}

/** Whether an object is a nested recipe. Checks all fields, since user data may have an entry `recipe` too. */
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
    `The module ${module} has no ${exportName(name)}: export it`,
    { path: module },
  );
}

async function importModule(module: string): Promise<Record<string, unknown>> {
  if (!URL.canParse(module)) {
    throw new DataError(
      "not-portable",
      `'${module}' must be the URL of a module, such as ` +
        `import.meta.resolve("./my_module.ts")`,
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

/** Time limit for importing the program's own module, in ms. A module that has already run is there at once. */
const PROGRAM_PATIENCE = 2000;

/** Waits for the exports of the program itself, which never come if the program waits for this import. */
async function ofProgram<M>(imported: Promise<M>): Promise<M> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(
      new Error(
        "it is the program itself, which waits for this with an await outside of " +
          "functions, so that each waits for the other. Put the imported functions into " +
          "a module of their own",
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
