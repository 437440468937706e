import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { newMemory, newSharedMemory } from "../../../src/io/libc/new_memory.ts";

/** Whether the kernel was advised to use large pages at all these offsets of a buffer. */
function isAdvised(
  buffer: ArrayBufferLike,
  places: readonly number[],
): boolean {
  const start = Deno.UnsafePointer.value(
    Deno.UnsafePointer.of(new Uint8Array(buffer as ArrayBuffer, 0, 1)),
  );
  let range: readonly bigint[] = [];
  let advised = 0;
  for (const line of Deno.readTextFileSync("/proc/self/smaps").split("\n")) {
    const [, from, to] = /^([\da-f]+)-([\da-f]+) /.exec(line) ?? [];
    if (to !== undefined) range = [BigInt(`0x${from}`), BigInt(`0x${to}`)];
    if (!line.startsWith("VmFlags:") || !/ hg\b/.test(line)) continue;
    advised += places.filter((at) => {
      const place = start + BigInt(at);
      return place >= range[0]! && place < range[1]!;
    }).length;
  }
  return advised === places.length;
}

Deno.test(
  "large memory is zeroed, and in large pages if the system has them",
  {
    ignore: Deno.build.os !== "linux",
  },
  () => {
    const pages = "/sys/kernel/mm/transparent_hugepage";
    for (const isShared of [false, true]) {
      for (const length of [40_000_001, 5_000_003, 1000, 0]) {
        const buffer = isShared ? newSharedMemory(length) : newMemory(length);
        assert.equal(buffer.byteLength, length);
        assert.equal(buffer instanceof SharedArrayBuffer, isShared);
        const bytes = Buffer.from(buffer as ArrayBuffer);
        assert.ok(bytes.equals(Buffer.alloc(length)));
        if (length < 5_000_000 || !exists(pages)) continue;
        const places = [8192, length >> 1, length - 8192];
        assert.ok(isAdvised(buffer, places), `of ${length}`);
      }
    }
  },
);

/** Allocates and frees 20 blocks of 1 MB 20 times, and prints the page faults of this thread. */
const FREES = `
import { keepFreedMemory } from ${urlOf("../../../src/io/libc/new_memory.ts")};
import { statOf } from ${urlOf("../../support/programs/cpu_time.ts")};
const { dlopen } = Deno;
if (Deno.args[0] === "musl") {
  Deno.dlopen = (name, functions) => {
    if ("mallopt" in functions) throw new TypeError("There is none");
    return dlopen(name, functions);
  };
}
if (Deno.args[0] !== "none") keepFreedMemory();
const { malloc, memset, free } = dlopen("libc.so.6", {
  malloc: { parameters: ["usize"], result: "pointer" },
  memset: { parameters: ["pointer", "i32", "usize"], result: "pointer" },
  free: { parameters: ["pointer"], result: "void" },
}).symbols;
const faults = () => Number(statOf("thread-self")[7]); // minflt of proc_pid_stat(5)
const before = faults();
for (let i = 0; i < 20; i++) {
  const blocks = Array.from({ length: 20 }, () => malloc(1_000_000n));
  for (const block of blocks) memset(block, 1, 1_000_000n);
  for (const block of blocks) free(block);
}
console.log(faults() - before);
`;

Deno.test(
  "freed memory is kept for reuse on request",
  { ignore: Deno.build.os !== "linux" },
  async () => {
    const faults = async (how: "none" | "keep" | "musl") => {
      const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["eval", "--ext=ts", FREES, how],
        // glibc's initial threshold. glibc raises it once a larger block has been freed, which Deno may do.
        env: { MALLOC_MMAP_THRESHOLD_: "131072" },
      }).output();
      const text = new TextDecoder().decode(stdout);
      assert.match(text, /^\d+\n$/, new TextDecoder().decode(stderr));
      return Number(text);
    };
    const [given, kept] = [await faults("none"), await faults("keep")];
    assert.ok(kept < given / 5, `${kept} faults, and ${given} without`);
    const absent = await faults("musl"); // musl has no mallopt
    assert.ok(kept < absent / 5, `${kept} faults, and ${absent} on musl`);
  },
);

/** Returns the quoted URL of a module. */
function urlOf(path: string): string {
  return JSON.stringify(new URL(path, import.meta.url));
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
