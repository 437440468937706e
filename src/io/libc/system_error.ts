import { messageOf } from "../../base/message_text.ts";

let codes: Map<number, string> | undefined;

function codeOf(errno: number): string | undefined {
  codes ??= new Map(
    // Loaded lazily, because a program without errors would start 20 ms later.
    Object.entries(process.getBuiltinModule("node:os").constants.errno)
      .map(([code, errno]) => [errno, code]),
  );
  return codes.get(errno);
}

/** Operating system error met below Deno, with a `code` like those of `node:fs`. */
export class SystemError extends Error {
  override name = "SystemError";
  readonly code: string;

  constructor(errno: number, text: string) {
    super(text);
    this.code = codeOf(errno) ?? `errno ${errno}`;
  }
}

/** Returns the code of a system error, such as `ENOENT`; `undefined` for any other error. */
export function systemCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === undefined && error instanceof Error) {
    // Deno gives rare errors no code, only a message.
    const errno = /\(os error (\d+)\)$/.exec(error.message)?.[1];
    return errno === undefined ? undefined : codeOf(Number(errno));
  }
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code)
    ? code
    : undefined;
}

const REASONS: Record<string, string> = {
  EACCES:
    "permission denied. Check who may read and write it and the directories above it (`namei -l`)",
  EBADF: "it is not open, or not open for that",
  EBUSY: "it is in use",
  EDQUOT: "your disk quota is used up. Free some of it, or use another place",
  EEXIST: "it exists. Remove it, or choose another name",
  EFBIG: "the file would be larger than the file system or `ulimit -f` allows",
  EINVAL: "the file system does not support that",
  EIO: "the disk reports an error",
  EISDIR: "it is a directory",
  ELOOP: "too many symbolic links",
  EMFILE:
    "too many files are open. Raise the limit of the process with `ulimit -n`",
  EMLINK: "it has as many links as the file system allows",
  ENAMETOOLONG: "the name is too long",
  ENFILE: "too many files are open in the whole system",
  ENODEV: "there is no such device",
  ENOENT: "there is no such file or directory",
  ENOMEM: "there is too little memory",
  ENOSPC: "the disk is full. Free some space, or use another place",
  ENOTCONN:
    "it is a mount that lost its server. Remove it with `recordfs unmount`",
  ENOTDIR: "a part of the path is not a directory",
  ENOTEMPTY: "the directory is not empty",
  ENXIO: "there is no such device, or its other end is closed",
  EPERM: "the system does not permit it",
  EROFS: "the file system is read-only. Use another place",
  ESTALE: "it was removed or replaced on the file server. Open it again",
  ETXTBSY: "it is a running program",
  EXDEV: "it is on another file system",
};

/** Returns the reason for a code such as `EACCES`, with advice if known; the code itself if it is rare. */
export function reasonOf(code: string): string {
  return Object.hasOwn(REASONS, code) ? REASONS[code]! : code;
}

/** Returns the reason of a system error, with advice if known. */
export function whatIsWrong(error: unknown): string {
  const code = systemCode(error);
  if (code !== undefined && Object.hasOwn(REASONS, code)) return REASONS[code]!;
  const text = messageOf(error);
  return text.replace(/ \(os error \d+\).*$/s, "");
}
