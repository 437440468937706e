/** Programs that name themselves as the module from which threads import. */
import assert from "node:assert/strict";

/** Returns the error output of a program. */
async function failureOf(program: string): Promise<string> {
  const path = new URL(`../support/${program}`, import.meta.url);
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", path.href],
  }).output();
  assert.equal(code, 1);
  return new TextDecoder().decode(stderr);
}

Deno.test("a thread that runs the program starts no threads of its own", async () => {
  const message = await failureOf("program_with_loader.ts");
  assert.match(message, /start worker threads in a loader's worker thread/);
  assert.match(message, /into a module of their own/);
});

Deno.test("a program that waits for itself gets an error", async () => {
  const message = await failureOf("program_of_itself.ts");
  assert.match(message, /it is the program itself, which waits for this/);
});
