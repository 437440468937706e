import { cString, errorText, lastErrno, libc } from "../libc.ts";
import { MountError } from "./mount_error.ts";
import { OpenFlag } from "../wire/flags.ts";

/** Reads a text file of procfs. Through libc, since reading `/proc` through Deno needs `--allow-all`. */
export function readSpecialFile(path: string): string {
  const fd = libc().open(cString(path), OpenFlag.RDONLY | OpenFlag.CLOEXEC);
  if (fd < 0) throw readError(path);
  try {
    const decoder = new TextDecoder();
    const piece = new Uint8Array(1 << 16);
    let text = "";
    while (true) {
      const length = libc().read(fd, piece, piece.length);
      if (length < 0) throw readError(path);
      if (length === 0) return text + decoder.decode();
      text += decoder.decode(piece.subarray(0, length), { stream: true });
    }
  } finally {
    libc().close(fd);
  }
}

function readError(path: string): MountError {
  return new MountError(
    "refused",
    `Cannot read ${path}: ${errorText(lastErrno())}`,
    { path },
  );
}
