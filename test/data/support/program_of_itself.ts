/** A program that imports a function from itself before it has ended. */
import { importedFunction } from "../../../src/data/recipe.ts";

/** What is imported. */
export default function (): void {}

await importedFunction(new URL(import.meta.url));
