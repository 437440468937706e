/** Memory of batches that are never recycled. */
import assert from "node:assert/strict";

const PROGRAM = new URL(
  "../support/program_that_keeps_nothing.ts",
  import.meta.url,
);

Deno.test(
  "batches of threads are freed once they are unreachable, even if they are not recycled",
  {
    ignore: Deno.build.os !== "linux",
  },
  async () => {
    const { success, stdout, stderr } = await new Deno.Command(
      Deno.execPath(),
      {
        args: ["run", "--allow-all", PROGRAM.href],
      },
    ).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    const megabytes = Number(new TextDecoder().decode(stdout));
    // Of 2 GB in total. V8 collects after 128 MB of external memory, as much again accumulates meanwhile, plus
    // prefetched batches.
    assert.ok(megabytes > 50 && megabytes < 500, `${megabytes} MB`);
  },
);
