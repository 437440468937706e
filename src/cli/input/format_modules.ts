import { registerFormat } from "../../formats/registry.ts";
import { UsageError } from "../exit.ts";
import { absolutePath } from "./given.ts";

const OPTION = "--format-module";

/** Registers format modules, given as files or URLs, before anything is opened. Returns their URLs. */
export async function registerAll(given: readonly string[]): Promise<string[]> {
  const urls = given.map(moduleUrl);
  for (const url of urls) await registerFormat(url);
  return urls;
}

/**
 * Registers the format modules that a command line names. Runs before parsing, since the modules determine the valid
 * values of other options.
 */
export async function registerGiven(args: readonly string[]): Promise<void> {
  const given: string[] = [];
  for (let i = 0; i < args.length && args[i] !== "--"; i++) {
    const arg = args[i]!;
    if (arg.startsWith(`${OPTION}=`)) given.push(arg.slice(OPTION.length + 1));
    else if (arg === OPTION) given.push(args[++i] ?? "");
  }
  if (given.includes("")) throw new UsageError(`${OPTION} needs a file`);
  await registerAll(given);
}

/** Returns the URL of a module given as a file or URL. */
export function moduleUrl(module: string): string {
  if (/^[a-z][a-z0-9+.-]+:/.test(module)) return module;
  const { pathToFileURL } = process.getBuiltinModule("node:url");
  return pathToFileURL(absolutePath(module)).href;
}
