import { RecordfsError } from "../../../base/errors.ts";
import type { AdapterClass, DatasetAdapter } from "./dataset_adapter.ts";
import type { AdapterOption, AdapterOptions } from "./options.ts";

/** Remote constructor of an adapter: another thread calls `new` on a class exported by a module. */
export type AdapterRecipe = Parameters<typeof makeAdapter>[0];

/** Remote constructors of adapters from {@linkcode makeAdapter}. */
const recipes = new WeakMap<DatasetAdapter, AdapterRecipe>();

/** Loads a class that a module exports; throws RecordfsError if the module does not load or has no such class. */
export async function loadAdapterClass(
  module: string,
  name: string,
): Promise<AdapterClass> {
  let exports: Record<string, unknown>;
  try {
    exports = await import(module);
  } catch (cause) {
    throw new RecordfsError(
      "bad-adapter",
      `Cannot load the adapter ${module}: ${(cause as Error).message}`,
      { path: module, cause },
    );
  }
  const found = Object.hasOwn(exports, name) ? exports[name] : undefined;
  const iterData =
    (found as { prototype?: Partial<DatasetAdapter> } | undefined)
      ?.prototype?.iterData;
  if (typeof found === "function" && typeof iterData === "function") {
    return found as unknown as AdapterClass;
  }
  const classes = Object.keys(exports).join(", ");
  throw new RecordfsError(
    "bad-adapter",
    `Cannot load the adapter ${module}: it exports no class ${name} ` +
      "with a method iterData, but " +
      `${(classes === "" ? "nothing" : classes)}`,
    { path: module },
  );
}

/** Makes an adapter with `open` of its class if present, otherwise with `new`. */
export async function openAdapter(
  Adapter: AdapterClass,
  options: AdapterOptions,
): Promise<DatasetAdapter> {
  return await (Adapter.open?.(options as never) ??
    new Adapter(options as never));
}

/** Makes an adapter that other threads can make in the same way. */
export async function makeAdapter(recipe: {
  /** URL of the module. */
  readonly module: string;
  /** Name of the exported class. */
  readonly name: string;
  /** Arguments of the constructor; plain data. */
  readonly options: Readonly<Record<string, AdapterOption["default"]>>;
}): Promise<DatasetAdapter> {
  const Adapter = await loadAdapterClass(recipe.module, recipe.name);
  const adapter = await openAdapter(Adapter, recipe.options);
  recipes.set(adapter, recipe);
  return adapter;
}

/** Returns the remote constructor of an adapter; `undefined` if other threads cannot make it. */
export function recipeOf(adapter: DatasetAdapter): AdapterRecipe | undefined {
  // The adapter's own includes what it found in the output directory when it was made.
  const own = (adapter as { readonly recipe?: AdapterRecipe }).recipe;
  return own ?? recipes.get(adapter);
}
