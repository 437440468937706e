import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { openDirectory } from "../../../../src/io/dirfd/open_directory.ts";
import type {
  Directory,
  OpenFile,
} from "../../../../src/io/dirfd/directory.ts";
import { PackFiles } from "../../../../src/formats/ffrecord/pack/pack_files.ts";
import { PackListing } from "../../../../src/formats/ffrecord/pack/pack_listing.ts";
import { SampleBlock } from "../../../../src/formats/ffrecord/write/sample_block.ts";
import { withTempDir } from "../../../support/paths.ts";

/** From `linux/magic.h`. */
const TMPFS_MAGIC = 0x01021994;

Deno.test("files on a slow disk are prefetched", async () => {
  await withTempDir((dir) => {
    const expected = Array.from({ length: 700 }, (_, i) => `file ${i}`);
    using disk = new SlowDisk(dir, expected);
    const block = new SampleBlock(
      new ArrayBuffer(SampleBlock.sizeFor(1 << 20)),
    );
    disk.files.fill(block, Infinity);
    assert.equal(new TextDecoder().decode(block.bytes), expected.join(""));
    assert.equal(block.count, expected.length);
    assert.equal(disk.mostOpen, 16);
    assert.equal(disk.open, 0);
    // Two reads show that the disk is slow; later, single reads probe it again.
    assert.equal(disk.waited, 4);
  });
});

Deno.test("one slow file among others does not mark the disk as slow", async () => {
  await withTempDir((dir) => {
    const expected = Array.from({ length: 700 }, (_, i) => `file ${i}`);
    using disk = new SlowDisk(dir, expected);
    disk.isSlow = (file) => file % 2 === 0;
    const block = new SampleBlock(
      new ArrayBuffer(SampleBlock.sizeFor(1 << 20)),
    );
    disk.files.fill(block, Infinity);
    assert.equal(new TextDecoder().decode(block.bytes), expected.join(""));
    assert.equal(disk.waited, 350);
    assert.equal(disk.mostOpen, 0);
  });
});

Deno.test("prefetched files are closed if packing ends early", async () => {
  await withTempDir((dir) => {
    using disk = new SlowDisk(dir, new Array(100).fill("content"));
    disk.files.fill(
      new SampleBlock(new ArrayBuffer(SampleBlock.sizeFor(1 << 20))),
      20,
    );
    assert.equal(disk.open, 15);
    disk.files.close();
    assert.equal(disk.open, 0);
  });
});

/** Reads all files of a disk. */
function everything({ files }: SlowDisk): string {
  const blocks: Buffer[] = [];
  const block = new SampleBlock(
    new ArrayBuffer(SampleBlock.sizeFor(1 << 17)),
  );
  do {
    block.clear();
    files.fill(block, Infinity);
    blocks.push(Buffer.from(block.bytes));
  } while (!block.isEmpty);
  return Buffer.concat(blocks).toString("latin1");
}

Deno.test("a large file that is not cached is read with direct I/O, and the next one is complete", async () => {
  await withTempDir((dir) => {
    const large = randomBytes((5 << 20) + 1234).toString("latin1");
    const expected = ["before", large, "behind"];
    using disk = new SlowDisk(dir, expected);
    assert.ok(everything(disk) === expected.join(""));
    // In older kernels, tmpfs has no direct I/O.
    const { type } = fs.statfsSync(dir);
    assert.ok(disk.direct === 1 || type === TMPFS_MAGIC, `${disk.direct}`);
  });
});

Deno.test("after a gap in the cached part of a large file, it is read from memory again", async () => {
  await withTempDir((dir) => {
    const large = randomBytes(9 << 20).toString("latin1");
    using disk = new SlowDisk(dir, [large]);
    // The first megabyte is read ahead before the check; the second is the gap.
    disk.isInMemory = (place) => place >= 3 << 20;
    assert.ok(everything(disk) === large);
    const { type } = fs.statfsSync(dir);
    assert.ok(disk.direct === 1 || type === TMPFS_MAGIC, `${disk.direct}`);
    assert.equal(disk.usual, disk.direct);
  });
});

/** Directory whose files take two milliseconds to read, unless they were prefetched. */
class SlowDisk implements Disposable {
  readonly files: PackFiles;
  open = 0;
  mostOpen = 0;
  /** Number of files that were waited for. */
  waited = 0;
  /** Number of files read with direct I/O. */
  direct = 0;
  /** Number of returns to ordinary reads. */
  usual = 0;
  isInMemory: (place: number) => boolean = () => false;
  /** Whether reading a file is slow, by its index. */
  isSlow: (file: number) => boolean = () => true;
  /** Simulated clock in milliseconds, independent of other load on the machine. */
  #now = 0;
  readonly #directory: Directory;

  constructor(dir: string, contents: readonly string[]) {
    const directory = this.#directory = openDirectory(dir);
    const listing = new PackListing();
    for (const [i, content] of contents.entries()) {
      fs.writeFileSync(`${dir}/${i}`, content, "latin1");
      const { size, mtimeMs } = directory.stat(`${i}`, "follow")!;
      listing.addFile(`${i}`, size, mtimeMs);
    }
    const root = new Proxy(directory, {
      get: (_, key) => {
        if (key === "openFile") {
          return (name: string) => this.#slow(directory.openFile(name));
        }
        if (key === "readWhole") {
          return (
            ...args: Parameters<Directory["readWhole"]>
          ): boolean => {
            const name = new TextDecoder().decode(args[0].slice());
            if (this.isSlow(Number(name))) this.#wait();
            return directory.readWhole(...args);
          };
        }
        const value = Reflect.get(directory, key, directory);
        return typeof value === "function" ? value.bind(directory) : value;
      },
    });
    this.files = new PackFiles(
      root,
      listing[Symbol.iterator](),
      () => this.#now,
    );
  }

  [Symbol.dispose](): void {
    this.files.close();
    this.#directory.close();
  }

  #wait(): void {
    this.waited++;
    this.#now += 2;
  }

  #slow(file: OpenFile): OpenFile {
    this.mostOpen = Math.max(this.mostOpen, ++this.open);
    let isFetched = false;
    return {
      ...file,
      stat: () => file.stat(),
      startRead: () => isFetched = true,
      read: (into) => {
        if (!isFetched) this.#wait();
        return file.read(into);
      },
      isInMemory: (place) => this.isInMemory(place),
      setDirect: (isDirect) => {
        const isSet = file.setDirect(isDirect);
        if (isSet) this.direct++;
        else if (!isDirect) this.usual++;
        return isSet;
      },
      close: () => {
        this.open--;
        file.close();
      },
    };
  }
}
