import { messageOf } from "../../base/message_text.ts";
import { DataError } from "../data_error.ts";
import type { Dataset } from "../dataset.ts";
import {
  importedFunction,
  type ImportedName,
  importedRecipe,
  isPlain,
  RECIPE,
  type Recipe,
} from "../recipe.ts";

/** A function of a module that makes a dataset. */
export type MakeDataset<T, O = unknown> = (
  options: O,
) => Dataset<T> | Promise<Dataset<T>>;

/**
 * Makes a dataset by a function that a module exports: here, and again in each worker thread of a
 * loader. So classes of yours that extend a dataset can be loaded by threads.
 *
 * @typeParam T What one sample is.
 * @param from The module, whose default export is called, or the module and the name of its export.
 * @param options What the function is called with: plain data, as it can be posted to another thread.
 * @throws {DataError} With code `not-portable` if there is no such function, or the options cannot be
 * posted.
 * @throws {TypeError} If the function does not make a dataset.
 *
 * @example A class in a module of its own
 * ```ts
 * import { datasetFrom } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * // custom_dataset.ts: export default (options: { path: string }) => new CustomDataset(options.path);
 * const module = new URL("test/data/support/custom_dataset.ts", `file://${Deno.cwd()}/`);
 * using dataset = await datasetFrom<{ index: number; text: string }>(module, {
 *   path: "test/golden/ffrecord/plain_many/sample_92.ffr",
 * });
 * const [sample] = await dataset.get([7]);
 * assert.equal(sample?.index, 7);
 * ```
 */
export async function datasetFrom<T>(
  from: URL | ImportedName,
  options?: unknown,
): Promise<Dataset<T>> {
  const posted = post(options);
  const make = await importedFunction<MakeDataset<T>>(from);
  const { module, name } = importedRecipe(from, "");
  const dataset: unknown = await make(post(posted));
  if (!isDataset<T>(dataset)) {
    throw new TypeError(
      `The function '${name}' of ${module} makes no dataset: it must return one, ` +
        `or a promise of one, with 'length' and 'get'`,
    );
  }
  const recipe: Recipe = { module, name, how: "call", args: [posted] };
  Object.defineProperty(dataset, RECIPE, { value: () => recipe });
  return dataset;
}

/** The value that another thread would get; changing one's own later has no effect on it. */
function post(options: unknown): unknown {
  let posted: unknown;
  try {
    posted = structuredClone(options);
  } catch (cause) {
    throw notPosted(messageOf(cause), cause);
  }
  const lost = classLost(options, posted, new Set());
  if (lost === undefined) return posted;
  const hint = lost instanceof URL ? " (give its href)" : "";
  throw notPosted(
    `a ${lost.constructor.name} in them would arrive as a plain object${hint}`,
  );
}

function notPosted(why: unknown, cause?: unknown): DataError {
  return new DataError(
    "not-portable",
    `The options of datasetFrom cannot be posted to another thread: ${why}; give plain data, and make the ` +
      `rest of it in the function`,
    { cause },
  );
}

/** A part that posting has made a plain object of: what it was is lost, and nothing would say so. */
function classLost(
  value: unknown,
  posted: unknown,
  seen: Set<unknown>,
): object | undefined {
  const isObject = typeof value === "object" && value !== null &&
    typeof posted === "object" && posted !== null;
  if (!isObject || ArrayBuffer.isView(value) || seen.has(value)) {
    return undefined;
  }
  seen.add(value);
  if (isPlain(posted) && !isPlain(value)) return value;
  for (const [key, part] of Object.entries(value)) {
    const other: unknown = (posted as Record<string, unknown>)[key];
    const lost = classLost(part, other, seen);
    if (lost !== undefined) return lost;
  }
  return undefined;
}

/** True if a value can be read as a dataset. */
export function isDataset<T>(value: unknown): value is Dataset<T> {
  const { get, length } = (value ?? {}) as Partial<Dataset<T>>;
  return typeof get === "function" && typeof length === "number";
}
