import assert from "node:assert/strict";
import { newMemory } from "../../../src/io/libc/new_memory.ts";

/** Whether the kernel was asked to have large pages at this place of a buffer. */
function isAdvised(buffer: ArrayBufferLike, at: number): boolean {
  const bytes = new Uint8Array(buffer as ArrayBuffer, at, 1);
  const place = Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes));
  const maps = Deno.readTextFileSync("/proc/self/smaps");
  const flags =
    /^([\da-f]+)-([\da-f]+) (?:.*\n(?![\da-f]+-))*?VmFlags: (.*)$/gm;
  for (const [, start, end, words] of maps.matchAll(flags)) {
    if (place < BigInt(`0x${start}`) || place >= BigInt(`0x${end}`)) continue;
    return words!.split(" ").includes("hg");
  }
  throw new Error("No map has it");
}

Deno.test(
  "large memory is of zeros, and in large pages where the system has them",
  {
    ignore: Deno.build.os !== "linux",
  },
  () => {
    const pages = "/sys/kernel/mm/transparent_hugepage";
    for (const isShared of [false, true]) {
      for (const length of [40_000_001, 5_000_003, 1000, 0]) {
        const buffer = newMemory(length, isShared);
        assert.equal(buffer.byteLength, length);
        assert.equal(buffer instanceof SharedArrayBuffer, isShared);
        assert.ok(
          new Uint8Array(buffer as ArrayBuffer).every((byte) => byte === 0),
        );
        if (length < 5_000_000 || !exists(pages)) continue;
        for (const at of [8192, length >> 1, length - 8192]) {
          assert.ok(isAdvised(buffer, at), `at ${at} of ${length}`);
        }
      }
    }
  },
);

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
