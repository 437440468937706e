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
  /** How the export is used: `open` is the class's static method of that name. */
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
  [RECIPE](): Recipe | undefined;
}

/** Stands for a value among the arguments of a recipe. */
interface Nested {
  readonly recipe: Recipe;
}

/** Whether a value says how another thread makes it. */
export function isPortable(value: unknown): value is Portable {
  return typeof value === "object" && value !== null && RECIPE in value;
}

/**
 * The recipe of a value that is an argument of another recipe, to be put in its place.
 *
 * @param value Plain data stays what it is.
 * @param what What it is, for the message.
 * @throws {DataError} With code `not-portable` if it is a function, or a value without a recipe.
 */
export function argument(value: unknown, what: string): unknown {
  if (value instanceof URL) return value.href;
  if (isPortable(value)) {
    const recipe = value[RECIPE]();
    if (recipe !== undefined) return { recipe } satisfies Nested;
    throw notPortable(what);
  }
  if (typeof value === "function") throw notPortable(what);
  return value;
}

function notPortable(what: string): DataError {
  return new DataError(
    "not-portable",
    `${what} cannot be sent to the loader's worker threads: put it into a module of its own and give ` +
      `the module, as new URL("./my_module.ts", import.meta.url), or load with numWorkers: 0`,
  );
}

/** The export that is meant by {@linkcode Imported}: the function itself, or what the module exports. */
export async function importedFunction<F>(from: Imported<F>): Promise<F> {
  if (typeof from === "function") return from;
  const { module, name } = namedExport(from as URL | ImportedName);
  return (await exportOf(module, name)) as F;
}

/** The recipe's form of {@linkcode Imported}. */
export function importedRecipe(
  from: Imported<unknown>,
  what: string,
): Recipe {
  if (typeof from === "function") throw notPortable(what);
  return { ...namedExport(from as URL | ImportedName), how: "value", args: [] };
}

function namedExport(from: URL | ImportedName) {
  return from instanceof URL
    ? { module: from.href, name: "default" }
    : { module: String(from.module), name: from.name ?? "default" };
}

/**
 * Makes what a recipe describes.
 *
 * @throws {DataError} With code `not-portable` if the module has no such export.
 */
export async function revive(recipe: Recipe): Promise<unknown> {
  const args: unknown[] = [];
  for (const value of recipe.args) args.push(await reviveArgument(value));
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

async function reviveArgument(value: unknown): Promise<unknown> {
  if (Array.isArray(value)) return await Promise.all(value.map(reviveArgument));
  if (typeof value !== "object" || value === null) return value;
  if ("recipe" in value) return await revive((value as Nested).recipe);
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const revived: Record<string, unknown> = {};
  for (const [key, entry] of Object.entries(value)) {
    revived[key] = await reviveArgument(entry);
  }
  return revived;
}

async function exportOf(module: string, name: string): Promise<unknown> {
  const exports: Record<string, unknown> = await import(module);
  if (name in exports) return exports[name];
  throw new DataError(
    "not-portable",
    `The module ${module} has no ${
      name === "default" ? "default export" : `export '${name}'`
    }: export what the loader's worker threads are to use`,
    { path: module },
  );
}
