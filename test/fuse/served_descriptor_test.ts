import assert from "node:assert/strict";
import { cString, libc } from "../../fuse/libc.ts";
import { ServedDescriptor } from "../../fuse/served_descriptor.ts";

Deno.test({
  name: "a descriptor that two threads may close is closed once",
  ignore: Deno.build.os !== "linux",
  fn: () => {
    const open = () => libc().open(cString("/dev/zero"), 0);
    const ours = ServedDescriptor.of(open());
    const theirs = ServedDescriptor.from(ours.memory);
    const number = theirs.fd;
    theirs.close();
    assert.equal(open(), number, "the lowest free number is used again");
    ours.close();
    const byte = new Uint8Array(1);
    assert.equal(libc().read(number, byte, 1n), 1, "it is still open");
    libc().close(number);
  },
});
