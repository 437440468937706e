import { Command } from "commander";
import type { OwnAdapter } from "./gulp_adapter.ts";

/** First words of command lines that need to know all of `recordfs gulp`. */
const NEEDED_BY = ["gulp", "completions", "help"];

/**
 * `recordfs gulp`. What it is made of is loaded only where it is needed: other commands start faster
 * without.
 */
export async function gulpCommand(
  args: readonly string[],
  inherit: Command,
  own?: OwnAdapter,
): Promise<Command> {
  const gulp = new Command("gulp")
    .description("gulp a data set into GulpIO chunks, or repair such chunks")
    // Taken out of the command line before; here for the help.
    .option("--adapter <module#class>", "gulp by an adapter of your own")
    .copyInheritedSettings(inherit);
  if (NEEDED_BY.includes(args[0] ?? "")) {
    const { gulpCommands } = await import("./gulp.ts");
    gulpCommands(gulp, own);
  }
  return gulp;
}
