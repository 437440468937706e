/**
 * Serves files of an archive by `Deno.serve` with the least possible code: `deno run -A bare.ts ARCHIVE INDEX PORT`.
 * Reads the bytes of the numbered file that a path names and sends them, without headers or authorization. Reads into
 * the same memory each time, since `new Response` copies it. The C library keeps freed memory, as in `recordfs
 * serve`; otherwise files of 100 KB take half as long again.
 *
 * @module
 */
import * as fs from "node:fs";
import { keepFreedMemory } from "../../src/io/libc/new_memory.ts";

/** Larger files are sent in parts of this size, in bytes. */
const PART = 1 << 20;

keepFreedMemory();

const [archive, index, port] = Deno.args as [string, string, string];
const room = new Uint8Array(PART);
const fd = fs.openSync(archive, "r");
const files = fs.readFileSync(index, "utf8").trimEnd().split("\n").map((line) =>
  line.split(" ", 2).map(Number) as [offset: number, length: number]
);

Deno.serve(
  { hostname: "127.0.0.1", port: Number(port), onListen() {} },
  ({ url }) => {
    const slash = url.lastIndexOf("/");
    const file = files[Number(url.slice(slash + 1, url.indexOf(".", slash)))];
    if (file === undefined) return new Response(null, { status: 404 });
    const [offset, length] = file;
    if (length > PART) return new Response(inParts(offset, length));
    fs.readSync(fd, room, 0, length, offset);
    return new Response(room.subarray(0, length));
  },
);

function inParts(offset: number, length: number): ReadableStream<Uint8Array> {
  let done = 0;
  return new ReadableStream({
    pull(controller) {
      const bytes = new Uint8Array(Math.min(PART, length - done));
      done += fs.readSync(fd, bytes, 0, bytes.length, offset + done);
      controller.enqueue(bytes);
      if (done === length) controller.close();
    },
  }, { highWaterMark: 0 });
}
