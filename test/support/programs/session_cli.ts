/**
 * Runs command lines of recordfs, one after the other. Each line of standard input is `{ args, cwd }` as JSON. For
 * each, prints a line with its output in Base64 and its exit code.
 *
 * @module
 */
import { main } from "../../../src/cli/main.ts";
import { Captured } from "./captured.ts";

let text = "";
for await (
  const part of Deno.stdin.readable.pipeThrough(new TextDecoderStream())
) {
  const lines = (text + part).split("\n");
  text = lines.pop()!;
  for (const line of lines) await run(JSON.parse(line));
}

async function run(
  { args, cwd }: { readonly args: string[]; readonly cwd: string },
): Promise<void> {
  Deno.chdir(cwd);
  const output = new Captured();
  const code = await output.during(() => main(args));
  const { stdout, stderr } = output.bytes;
  const ended = {
    code,
    stdout: stdout.toBase64(),
    stderr: stderr.toBase64(),
  };
  let rest = new TextEncoder().encode(`${JSON.stringify(ended)}\n`);
  while (rest.length > 0) rest = rest.subarray(Deno.stdout.writeSync(rest));
}
