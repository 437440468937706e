import { Command } from "commander";
/** stub until written */
export function benchLoaderCommand(): Command {
  return new Command("bench-loader");
}
