import assert from "node:assert/strict";
import { Mapping } from "../../../fuse/content/mapping.ts";
import { MountError } from "../../../fuse/mounting/mount_error.ts";
import type { ByteSource } from "../../../src/io/storage/byte_source.ts";
import { FileSource } from "../../../src/io/storage/file_source.ts";
import { MemorySource } from "../../../src/io/storage/memory_source.ts";
import { runSync } from "../../../src/io/concurrency/steps.ts";

const linux = { ignore: Deno.build.os !== "linux" };

Deno.test("files and memory are found at their addresses", linux, async () => {
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(path, "in a file");
    using mapping = Mapping.of([
      runSync(FileSource.open(path)),
      new MemorySource(new TextEncoder().encode("in memory")),
      new MemorySource(new Uint8Array()),
    ]);
    const texts = mapping.sources.map(({ address, size }) =>
      size === 0 ? "" : new Deno.UnsafePointerView(
        Deno.UnsafePointer.create(BigInt(address)) as Deno.PointerObject,
      ).getArrayBuffer(size)
    ).map((memory) =>
      typeof memory === "string" ? memory : new TextDecoder().decode(memory)
    );
    assert.deepEqual(texts, ["in a file", "in memory", ""]);
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("an empty file needs no mapping", linux, async () => {
  const path = await Deno.makeTempFile();
  try {
    using mapping = Mapping.of([runSync(FileSource.open(path))]);
    assert.equal(mapping.sources[0]?.size, 0);
  } finally {
    await Deno.remove(path);
  }
});

Deno.test(
  "a file replaced after it was opened is rejected",
  linux,
  async () => {
    const path = await Deno.makeTempFile();
    try {
      await Deno.writeTextFile(path, "before");
      const source = runSync(FileSource.open(path));
      await Deno.writeTextFile(path, "after it was opened");
      assert.throws(() => Mapping.of([source]), (error) => {
        assert.ok(error instanceof MountError);
        assert.equal(error.code, "changed");
        assert.equal(error.path, path);
        return true;
      });
      source.close();
    } finally {
      await Deno.remove(path);
    }
  },
);

Deno.test(
  "a source that only its storage can read is rejected by name",
  linux,
  () => {
    const remote: ByteSource = {
      name: "https://example.org/x.ffr",
      size: 10,
      mtime: 0,
      readAt: () => Promise.resolve(0),
      close() {},
    };
    assert.throws(() => Mapping.of([remote]), {
      code: "needs-local",
      message:
        /https:\/\/example\.org\/x\.ffr.*can be read only by this thread/,
    });
  },
);

Deno.test("1,000 parts are mapped within 256 descriptors", linux, async () => {
  const directory = await Deno.makeTempDir();
  try {
    const source = new URL(
      "../../../src/io/storage/file_source.ts",
      import.meta.url,
    );
    const steps = new URL(
      "../../../src/io/concurrency/steps.ts",
      import.meta.url,
    );
    const mapping = new URL(
      "../../../fuse/content/mapping.ts",
      import.meta.url,
    );
    const script = `${directory}/map.ts`;
    await Deno.writeTextFile(
      script,
      `import { FileSource } from "${source}";
      import { runSync } from "${steps}";
      import { Mapping } from "${mapping}";
      const sources = Array.from({ length: 1000 }, (_, i) => {
        const path = \`${directory}/\${i}\`;
        Deno.writeTextFileSync(path, "x");
        return runSync(FileSource.open(path));
      });
      using mapped = Mapping.of(sources);
      console.log(mapped.sources.filter(({ size }) => size === 1).length);`,
    );
    const { stdout, stderr } = await new Deno.Command("sh", {
      args: [
        "-c",
        'ulimit -n 256 && exec "$@"',
        "sh",
        Deno.execPath(),
        "run",
        "--no-check",
        "-A",
        script,
      ],
    }).output();
    const decoder = new TextDecoder();
    assert.equal(decoder.decode(stdout).trim(), "1000", decoder.decode(stderr));
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
