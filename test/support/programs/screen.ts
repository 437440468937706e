import { run } from "../../cli/run_cli.ts";

/** Exit code of a command on a terminal, and the final content of the screen. */
export interface Shown {
  readonly code: number;
  /** Non-empty lines of the screen. */
  readonly lines: readonly string[];
}

/** Runs a command on a pseudo-terminal, made by `script`. */
export async function atTerminal(
  command: readonly string[],
  options: Parameters<typeof run>[1] = {},
): Promise<Shown> {
  const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`)
    .join(" ");
  const ran = await run(["script", "-qec", quoted, "/dev/null"], options);
  return { code: ran.code, lines: screenOf(ran.stdout) };
}

/** A key of a terminal's language (ECMA-48), or text up to the next one. */
// deno-lint-ignore no-control-regex -- they are what is looked for
const TOKEN = /\x1b\[([\d;?]*)([A-Za-z])|\x1b([78])|\r|\n|[^\x1b\r\n]+/g;

/**
 * Renders text that was sent to a terminal, with as many lines as needed. Supports the control sequences that recordfs
 * and `cli-progress` use.
 *
 * @throws {Error} For any other control sequence.
 */
export function screenOf(text: string): string[] {
  const lines = [""];
  let [row, column] = [0, 0];
  let saved = [0, 0] as [number, number];
  const put = (more: string, end: string) => {
    lines[row] = lines[row]!.slice(0, column).padEnd(column) + more + end;
  };
  for (const [token, number, letter, cursor] of text.matchAll(TOKEN)) {
    if (token === "\r") column = 0;
    else if (token === "\n") lines[++row] ??= "";
    else if (cursor === "7") saved = [row, column];
    else if (cursor === "8") [row, column] = saved;
    else if (letter === undefined) {
      put(token, lines[row]!.slice(column + token.length));
      column += token.length;
    } else if (letter === "G") column = Number(number) - 1;
    else if (letter === "K" && number === "2") lines[row] = "";
    else if (letter === "K") put("", "");
    else if (letter !== "m") throw new Error(`unknown key ${token}`);
  }
  return lines.filter((line) => line !== "");
}
