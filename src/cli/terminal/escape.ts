import { escapeUnshown } from "../../message_text.ts";

/** How names are shown on standard output: escaped on a terminal, exact anywhere else. */
export function nameWriter(): (name: string) => string {
  return Deno.stdout.isTerminal() ? escapeUnshown : (name) => name;
}
