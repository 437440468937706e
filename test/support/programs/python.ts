/** Runs Python for comparisons. */
import assert from "node:assert/strict";
import { PYTHON } from "./programs.ts";

/**
 * Runs a script that reads `input` and prints lines of JSON. Returns their values.
 *
 * @param python Interpreter; by default that of the setup.
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

/** Decodes hexadecimal digits, ignoring whitespace. */
export function hex(digits: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromHex(digits.replaceAll(" ", ""));
}
