import assert from "node:assert/strict";
import { isStale } from "../../../fuse/mounting/mountinfo.ts";
import { within } from "../../../src/cli/mount/mount_state.ts";

Deno.test("a plain directory responds in time, however long this process was suspended", async () => {
  for (let i = 0; i < 5; i++) {
    const answer = within<boolean | "late">(100, isStale("/"), "late");
    const end = performance.now() + 150;
    while (performance.now() < end); // blocks the event loop, like a suspension
    assert.equal(await answer, false);
  }
});

Deno.test("a mount that never responds times out", async () => {
  assert.equal(await within(50, new Promise(() => {}), "late"), "late");
});
