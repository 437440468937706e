#!/usr/bin/env -S deno run -A
/**
 * The `recordfs` command: `deno run -A cli.ts --help` says what it does.
 *
 * @module
 */
import { report } from "./src/cli/messages.ts";
import { permissionMessage } from "./src/cli/permissions.ts";

let code: number;
try {
  // Not imported above, so that a permission that a package lacks on loading is reported as well.
  const { main } = await import("./src/cli/main.ts");
  code = await main(Deno.args);
} catch (error) {
  if (!(error instanceof Deno.errors.NotCapable)) throw error;
  report(permissionMessage(error, Deno.args));
  code = 1;
}
Deno.exit(code);
