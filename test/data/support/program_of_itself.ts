/** Program that imports a function from itself before it has ended. */
import { importedFunction } from "../../../src/data/recipe.ts";

/** Imported function. */
export default function (): void {}

await importedFunction(new URL(import.meta.url));
