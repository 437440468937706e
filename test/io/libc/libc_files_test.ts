import assert from "node:assert/strict";
import { constants } from "node:os";
import { call } from "../../../src/io/libc/libc_files.ts";

/** Makes calls that fail one after the other, each with its errno, and then succeed. */
function calls(codes: readonly (keyof typeof constants.errno)[]) {
  const errno = new Int32Array(1);
  let made = 0;
  const libc = {
    errnoLocation: () => Deno.UnsafePointer.of(errno),
    strerror: () => null,
  };
  const act = () => {
    const code = codes[made++];
    if (code === undefined) return 7;
    errno[0] = constants.errno[code];
    return -1;
  };
  return { run: () => call(libc, act), made: () => made };
}

Deno.test("a call is repeated if a signal interrupts it, or errno is that of a lock", () => {
  const { run, made } = calls(["EINTR", "EAGAIN", "ETIMEDOUT"]);
  assert.equal(run(), 7);
  assert.equal(made(), 4);
  const missing = calls(["EAGAIN", "ENOENT"]);
  assert.throws(missing.run, { code: "ENOENT" });
});

Deno.test("a permanent error of a file system is returned", () => {
  const { run } = calls(Array(100).fill("EAGAIN"));
  assert.throws(run, { code: /^(EAGAIN|EWOULDBLOCK)$/ });
});
