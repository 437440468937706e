import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { AdapterClass } from "../../../formats/gulp/adapters/dataset_adapter.ts";
import { loadAdapterClass } from "../../../formats/gulp/adapters/load_adapter.ts";
import { UsageError } from "../../exit.ts";

/** An adapter of the user's own, as `--adapter` names it. */
export interface OwnAdapter {
  /** As it was given. */
  readonly given: string;
  /** URL of its module, and what that exports. */
  readonly module: string;
  readonly name: string;
  readonly class: AdapterClass;
}

/** A command line, and the adapter that it brings. */
export interface AdapterCommandLine {
  /** Without `--adapter` and its value; the adapter stands as the subcommand. */
  readonly args: readonly string[];
  readonly adapter: OwnAdapter | undefined;
}

/**
 * Loads the adapter that a command line `gulp --adapter MODULE#CLASS …` names: its other flags are
 * known only then.
 *
 * @param args A command line of `gulp`.
 * @throws {UsageError} If it names none.
 * @throws {RecordfsError} If it does not load.
 */
export async function takeAdapter(
  args: readonly string[],
): Promise<AdapterCommandLine> {
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const at = args.findIndex((arg, i) =>
    i < end && (arg === "--adapter" || arg.startsWith("--adapter="))
  );
  if (at < 0) return { args, adapter: undefined };
  const inOne = args[at]!.startsWith("--adapter=");
  const given = inOne ? args[at]!.slice("--adapter=".length) : args[at + 1];
  const [, path, name] = /^(.+)#([^#]+)$/.exec(given ?? "") ?? [];
  if (given === undefined || path === undefined || name === undefined) {
    throw new UsageError(
      "--adapter takes a module and the class that it exports, as in " +
        "--adapter ./mine.ts#MyAdapter",
    );
  }
  const module = /^[a-z][a-z0-9+.-]+:/.test(path)
    ? path
    : pathToFileURL(resolve(path)).href;
  const adapter = {
    given,
    module,
    name,
    class: await loadAdapterClass(module, name),
  };
  const others = args.slice(1).toSpliced(at - 1, inOne ? 1 : 2);
  return { args: ["gulp", given, ...others], adapter };
}
