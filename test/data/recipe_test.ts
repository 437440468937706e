/** Recipes that are sent to other threads, and the values made from them there. */
import assert from "node:assert/strict";
import { DataError } from "../../src/data/data_error.ts";
import {
  argument,
  followRecipe,
  importedFunction,
  importedRecipe,
  importedValue,
  isPortable,
  RECIPE,
  type Recipe,
} from "../../src/data/recipe.ts";
import { lengths, summarise } from "./support/custom_dataset.ts";

const USER = new URL("support/custom_dataset.ts", import.meta.url);

/** Value with a recipe from which tests make it again. */
export class Point {
  readonly made: unknown[];

  constructor(...made: unknown[]) {
    this.made = made;
  }

  static open(...made: unknown[]): Promise<Point> {
    return Promise.resolve(new Point("opened", ...made));
  }

  [RECIPE](): Recipe {
    return recipeOf("Point", "new", this.made);
  }
}

/** Called by recipes. */
export function point(...made: unknown[]): Point {
  return new Point("called", ...made);
}

function recipeOf(
  name: string,
  how: Recipe["how"],
  args: readonly unknown[],
): Recipe {
  const own = args.map((arg, i) => argument(arg, `argument ${i}`));
  return { module: import.meta.url, name, how, args: own };
}

/** Makes the value of a recipe, as another thread does. */
async function remade(recipe: Recipe): Promise<unknown> {
  return await followRecipe(structuredClone(recipe));
}

Deno.test("a recipe calls, constructs, opens or takes an export of a module", async () => {
  const args = [1, "two", [3, null], { four: 4n }, new Date(5), undefined];
  for (
    const [name, how, first] of [
      ["point", "call", ["called"]],
      ["Point", "new", []],
      ["Point", "open", ["opened"]],
    ] as const
  ) {
    const made = await remade(recipeOf(name, how, args));
    assert.ok(made instanceof Point);
    assert.deepEqual(made.made, [...first, ...args]);
  }
  assert.equal(await remade(recipeOf("point", "value", [])), point);
});

Deno.test("values with recipes may be anywhere among the arguments", async () => {
  const shared = new Uint8Array(new SharedArrayBuffer(4));
  const inner = new Point("a", new Point("b"));
  const outer = new Point([inner, 1], { of: { inner } }, shared, USER);
  const made = (await remade(outer[RECIPE]())) as Point;
  assert.deepEqual(made.made.slice(0, 2), [[inner, 1], { of: { inner } }]);
  assert.equal((made.made[2] as Uint8Array).buffer.byteLength, 4);
  assert.equal(made.made[3], USER.href);
  assert.ok(isPortable(inner) && !isPortable(null) && !isPortable(inner.made));
});

Deno.test("data that looks like a recipe's stays data", async () => {
  const odd = Object.fromEntries([["__proto__", 1], ["recipe", "bread"]]);
  const bread = { module: "m", name: "n", how: "call" };
  for (const data of [odd, { recipe: bread }, { recipe: null }]) {
    const made = (await remade(recipeOf("point", "call", [data]))) as Point;
    assert.deepEqual(made.made[1], data);
  }
});

Deno.test("exports of a module are sent by name, other functions are rejected", async () => {
  const from = { module: USER, name: "summarise" };
  assert.equal(await importedFunction(from), summarise);
  assert.equal(await importedFunction(summarise), summarise);
  assert.equal(await importedValue({ ...from, name: "lengths" }), lengths);
  const recipe: Recipe = {
    module: USER.href,
    name: "summarise",
    how: "value",
    args: [],
  };
  assert.deepEqual(importedRecipe(from, "it"), recipe);
  assert.deepEqual(importedRecipe(USER, "it"), { ...recipe, name: "default" });
  const args = [summarise, lengths, { deep: [summarise] }];
  const made = (await remade(recipeOf("point", "call", args))) as Point;
  assert.equal(made.made[1], summarise);
  assert.equal(made.made[2], lengths);
  assert.equal((made.made[3] as { deep: unknown[] }).deep[0], summarise);

  const isRefusal = (words: RegExp) => (error: unknown) =>
    error instanceof DataError && error.code === "not-portable" &&
    words.test(error.message);
  const inline = () => 1;
  assert.throws(
    () => argument({ process: [inline] }, "The option"),
    isRefusal(/^The option \(its 'process'\) \(its entry 0\) cannot be sent/),
  );
  assert.throws(() => importedRecipe(inline, "It"), isRefusal(/^It cannot/));
  const hidden = { [RECIPE]: () => undefined };
  assert.throws(() => argument(hidden, "It"), isRefusal(/^It cannot/));
  for (
    const [from, words] of [
      [
        { module: USER, name: "number" },
        /export 'number' of .* must be a function/,
      ],
      [{ module: USER, name: "nope" }, /has no export 'nope'/],
      [{ module: import.meta.url }, /has no default export/],
      [{ module: "./custom_dataset.ts" }, /must be the URL of a module/],
      [
        "./custom_dataset.ts" as never,
        /'\.\/custom_dataset.ts' must be the URL/,
      ],
      [{ module: "data:text/javascript,throw new Error('odd')" }, /: odd/],
    ] as const
  ) {
    await assert.rejects(importedFunction(from), isRefusal(words));
  }
  await assert.rejects(
    followRecipe({ module: USER.href, name: "nope", how: "call", args: [] }),
    isRefusal(/has no export 'nope'/),
  );
});
