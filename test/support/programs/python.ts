/** Python beside us, for comparisons. */
import assert from "node:assert/strict";
import { PYTHON } from "./programs.ts";

/**
 * Runs a script that reads `input` and prints JSON in lines; returns what the lines hold.
 *
 * @param python The interpreter; defaults to that of the setup.
 * @param args Arguments of the script.
 */
export async function pythonLines(
  script: string,
  input = "",
  { python = PYTHON, args = [] }: {
    readonly python?: string;
    readonly args?: readonly string[];
  } = {},
): Promise<unknown[]> {
  const child = new Deno.Command(python, {
    args: ["-c", script, ...args],
    env: { PYTHONIOENCODING: "utf-8" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const written = ReadableStream.from([new TextEncoder().encode(input)])
    .pipeTo(child.stdin);
  const { stdout, stderr, success } = await child.output();
  assert.ok(success, new TextDecoder().decode(stderr));
  await written;
  const lines = new TextDecoder().decode(stdout).trim();
  return lines === "" ? [] : lines.split("\n").map((line) => JSON.parse(line));
}

/** The bytes that hexadecimal digits stand for; blanks between them count for nothing. */
export function hex(digits: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromHex(digits.replaceAll(" ", ""));
}
