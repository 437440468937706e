/** Bugs for the fuzzer to find. The query of this module's URL names the one to plant. */
import * as fs from "node:fs";
import { FormatError } from "../../src/base/errors.ts";
import { TrustedDirectory } from "../../src/io/dirfd/trusted_directory.ts";
import { VirtualFs } from "../../src/tree/vfs/virtual_fs.ts";

const { listSync, list } = VirtualFs.prototype;

type Method = (this: VirtualFs, ...args: unknown[]) => unknown;

const reads = VirtualFs.prototype as unknown as Record<
  "read" | "readSync" | "readRange" | "stream",
  Method
>;

/** They occur in containers that can be opened and listed, so not in every case. */
const BUGS: Record<string, () => void> = {
  throws() {
    VirtualFs.prototype.listSync = function () {
      throw new TypeError("planted");
    };
  },
  rejects() {
    VirtualFs.prototype.listSync = function (path) {
      Promise.reject(new Error("planted"));
      return listSync.call(this, path);
    };
  },
  hangs() {
    VirtualFs.prototype.listSync = function () {
      for (;;) { /* planted */ }
    };
  },
  allocates() {
    VirtualFs.prototype.listSync = function (path) {
      const bytes = new Uint8Array(900 << 20).fill(1);
      return listSync.call(this, path).filter(() => bytes.length > 0);
    };
  },
  exits() {
    VirtualFs.prototype.listSync = () => Deno.exit(3);
  },
  differs() {
    VirtualFs.prototype.listSync = function (path) {
      return [...listSync.call(this, path), "planted"];
    };
  },
  escapes() {
    VirtualFs.prototype.listSync = function (path) {
      const [directory] = this.location.split("/in/");
      fs.writeFileSync(`${directory}/outside/planted`, "");
      return listSync.call(this, path);
    };
  },
  leaks() {
    VirtualFs.prototype.listSync = function (path) {
      const source = this.tree.sources.at(0);
      if (source !== undefined) fs.openSync(source.name, "r");
      return listSync.call(this, path);
    };
  },
  follows() {
    const { list } = TrustedDirectory.prototype;
    TrustedDirectory.prototype.list = function () {
      const names = list.call(this);
      for (const name of names) {
        const path = `${this.path}/${name}`;
        if (!fs.lstatSync(path).isSymbolicLink()) continue;
        const target = fs.statSync(path, { throwIfNoEntry: false });
        if (!target?.isDirectory()) fs.appendFileSync(path, "planted");
      }
      return names;
    };
  },
  lies() {
    // All methods agree, so that only a comparison with the original finds it.
    const { read, readSync, readRange, stream } = reads;
    Object.assign(reads, {
      async read(this: VirtualFs, ...args: unknown[]) {
        return lie(this, await read.apply(this, args));
      },
      readSync(this: VirtualFs, ...args: unknown[]) {
        return lie(this, readSync.apply(this, args));
      },
      async readRange(this: VirtualFs, ...args: unknown[]) {
        return lie(this, await readRange.apply(this, args));
      },
      async stream(this: VirtualFs, ...args: unknown[]) {
        const bytes = await stream.apply(this, args) as ReadableStream;
        return bytes.pipeThrough(
          new TransformStream({
            transform: (part, to) => to.enqueue(lie(this, part)),
          }),
        );
      },
    });
  },
  echoes() {
    VirtualFs.prototype.list = function (path, options) {
      if (this.checkData) {
        const error = new FormatError("bad-value", "planted");
        error.message = "planted ".repeat(10_000); // longer than the error class would allow
        throw error;
      }
      return list.call(this, path, options);
    };
  },
};

/** Changes the bytes of a case's container, but not those of its original, which is read by the same methods. */
function lie({ location }: VirtualFs, content: unknown): unknown {
  if (!location.includes("/case/in/")) return content;
  const changed = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 1);
  return content instanceof Uint8Array
    ? changed(content)
    : (content as Uint8Array[]).map(changed);
}

BUGS[new URL(import.meta.url).search.slice(1)]!();
