import { RecordfsError } from "../errors.ts";
import { whatIsWrong } from "../io/libc/system_error.ts";
import { workingDirectory } from "../io/storage/local_path.ts";

/** What was tried, by the name of the call. */
const TRIED: Record<string, string> = {
  access: "look at",
  chmod: "set the permissions of",
  copy: "copy",
  copyfile: "copy",
  fsync: "save",
  ftruncate: "cut",
  futime: "set the times of",
  link: "link",
  lstat: "look at",
  mkdir: "make the directory",
  mkdtemp: "make a directory at",
  open: "open",
  opendir: "list the directory",
  read: "read",
  readdir: "list the directory",
  readfile: "read",
  readlink: "look at",
  realpath: "find",
  remove: "remove",
  rename: "rename",
  rm: "remove",
  rmdir: "remove the directory",
  scandir: "list the directory",
  stat: "look at",
  symlink: "link",
  truncate: "cut",
  unlink: "remove",
  utime: "set the times of",
  write: "write",
  writefile: "write",
};

/**
 * What the system's refusal means, for errors that nobody has put into words: what was tried, where, why it
 * failed, and what to do.
 */
export function systemMessage(error: Error): string {
  try {
    workingDirectory();
  } catch (gone) {
    if (gone instanceof RecordfsError) return gone.message;
  }
  const { call, path } = attempt(error);
  const tried = Object.hasOwn(TRIED, call) ? TRIED[call]! : "use";
  const what = path === undefined
    ? "The system refused what was tried"
    : `Cannot ${tried} ${path}`;
  return `${what}: ${whatIsWrong(error)}`;
}

/** Which call it was about, and which file. */
function attempt(error: Error): { call: string; path?: string | undefined } {
  const { syscall, path } = error as { syscall?: unknown; path?: unknown };
  if (typeof path === "string" && typeof syscall === "string") {
    return { call: syscall, path };
  }
  // Node's form is `EACCES: permission denied, mkdir '/a'`, Deno's `… (os error 13): mkdir '/a'`.
  const said = /[,:] (\w+) '(.*?)'(?: -> '.*')?$/s.exec(error.message);
  return { call: said?.[1] ?? "", path: said?.[2] };
}
