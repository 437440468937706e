import { messageOf } from "../../base/message_text.ts";
import { DataError } from "../data_error.ts";
import type { Dataset } from "../dataset.ts";
import {
  type Imported,
  importedFunction,
  importedRecipe,
  isPlain,
  RECIPE,
  type Recipe,
} from "../recipe.ts";

/**
 * Makes a dataset by calling a function that a module exports. A loader calls it again in each worker thread, so
 * custom classes that extend a dataset can be loaded by threads.
 *
 * @typeParam T What one sample is.
 * @param from URL of the module, whose default export is called, or the module and the name of an export.
 * @param options Argument of the function: plain data that can be posted to another thread.
 * @throws {DataError} With code `not-portable` if there is no such function, or the options cannot be posted.
 * @throws {TypeError} If the function does not return a dataset.
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
  from: Imported<never>,
  options?: unknown,
): Promise<Dataset<T>> {
  const posted = post(options);
  const make = await importedFunction<(options: unknown) => unknown>(from);
  const { module, name } = importedRecipe(from, "");
  const dataset: unknown = await make(post(posted));
  if (!isDataset<T>(dataset)) {
    throw new TypeError(
      `The function '${name}' of ${module} must return a dataset, or a ` +
        "promise of one, with 'length' and 'get'",
    );
  }
  const recipe: Recipe = { module, name, how: "call", args: [posted] };
  Object.defineProperty(dataset, RECIPE, { value: () => recipe });
  return dataset;
}

/** Returns the options as another thread would receive them. The copy protects them from later changes. */
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
    `Cannot send the options of datasetFrom to another thread: ${
      `${why}`.replace(/\.$/, "")
    }. ` +
      "Give plain data, and make the rest of it in the function",
    { cause },
  );
}

/** Finds a part that posting silently turned into a plain object, losing its class. */
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

/** Whether a value has a dataset's `get` and `length`. */
export function isDataset<T>(value: unknown): value is Dataset<T> {
  const { get, length } = (value ?? {}) as Partial<Dataset<T>>;
  return typeof get === "function" && typeof length === "number";
}
