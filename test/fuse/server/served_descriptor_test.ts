import assert from "node:assert/strict";
import { cString, libc } from "../../../fuse/libc.ts";
import { ServedDescriptor } from "../../../fuse/server/served_descriptor.ts";

/** From `asm-generic/fcntl.h`. */
const F_DUPFD = 0;

Deno.test({
  name: "a descriptor that two threads may close is closed once",
  ignore: Deno.build.os !== "linux",
  fn: () => {
    // The highest descriptor numbers, since tests of other files use the lowest ones of this process.
    const limits = Deno.readTextFileSync("/proc/self/limits");
    const highest = Number(/^Max open files +(\d+)/m.exec(limits)![1]) - 1;
    const zero = libc().open(cString("/dev/zero"), 0);
    const open = () => libc().fcntl(zero, F_DUPFD, highest);
    const ours = ServedDescriptor.of(open());
    const theirs = ServedDescriptor.from(ours.memory);
    const number = theirs.fd;
    theirs.close();
    assert.equal(open(), number, "its number is used again");
    ours.close();
    const byte = new Uint8Array(1);
    assert.equal(libc().read(number, byte, 1), 1, "it is still open");
    for (const fd of [number, zero]) libc().close(fd);
  },
});
