/** A container of any number of identical pictures, which takes no memory. */
import type { EntryVisitor, Tree } from "../../../../src/tree/tree.ts";
import { placeBytes, ROOT } from "../../../../src/tree/tree.ts";
import { VirtualFs } from "../../../../src/tree/vfs/virtual_fs.ts";

/** A PNG of 2 × 2 pixels: red, green, blue, white. Made by zlib, from the PNG specification. */
const PICTURE = Uint8Array.fromHex(
  "89504e470d0a1a0a0000000d4948445200000002000000020802000000fdd49a7300000012494441" +
    "54789c63f8cfc0c000c20cff8100001fee05fb0bd9688b0000000049454e44ae426082",
);

/** Number of digits in names such as `0000001.png`. */
const DIGITS = 7;

/** Returns a container of `count` pictures in the root, named by index. */
export function manyPictures(count: number, picture = PICTURE): VirtualFs {
  const text = new TextEncoder();
  const nameOf = (index: number) =>
    text.encode(`${String(index).padStart(DIGITS, "0")}.png`);
  const isFile = (node: number) => node > ROOT && node <= count + ROOT;
  const tree: Tree = {
    sources: [],
    nodeCount: count + 1,
    lookup(parent, name, start, end) {
      const wanted = new TextDecoder().decode(name.slice(start, end));
      const digits = /^(\d{7})\.png$/.exec(wanted)?.[1];
      const index = parent === ROOT && digits ? Number(digits) : count;
      return index < count ? index + 1 + ROOT : 0;
    },
    parent: (node) => isFile(node) || node === ROOT ? ROOT : 0,
    isDirectory: (node) => node === ROOT,
    list(dir, cursor, visit: EntryVisitor) {
      if (dir !== ROOT) return;
      for (let i = cursor; i < count; i++) {
        const name = nameOf(i);
        if (!visit(name, 0, name.length, i + 1 + ROOT, i + 1)) return;
      }
    },
    stat(node, into) {
      if (!isFile(node) && node !== ROOT) return false;
      into.isDirectory = node === ROOT;
      into.size = node === ROOT ? 0 : picture.length;
      into.mtime = 0;
      return true;
    },
    locate(node, into) {
      if (!isFile(node)) return false;
      placeBytes(picture, into);
      return true;
    },
    share() {
      throw new Error("Only this thread reads it");
    },
    close() {},
  };
  const info = {
    format: "pictures",
    kind: "made up",
    files: count,
    directories: 0,
    bytes: count * picture.length,
    parts: [],
  };
  return new VirtualFs("many", { tree, info }, false);
}
