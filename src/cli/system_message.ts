import { RecordfsError } from "../base/errors.ts";
import { whatIsWrong } from "../io/libc/system_error.ts";
import { workingDirectory } from "../io/storage/local_path.ts";

/** Descriptions of actions, with the names of their system calls. */
const TRIED: Readonly<Record<string, string>> = {
  "copy": "copy copyfile",
  "cut": "ftruncate truncate",
  "find": "realpath",
  "link": "link symlink",
  "list the directory": "opendir readdir scandir",
  "inspect": "access lstat readlink stat",
  "make a directory at": "mkdtemp",
  "make the directory": "mkdir",
  "open": "open",
  "read": "read readfile",
  "remove the directory": "rmdir",
  "remove": "remove rm unlink",
  "rename": "rename",
  "save": "fsync",
  "set the permissions of": "chmod",
  "set the times of": "futime utime",
  "write": "write writefile",
};

/**
 * Explains a system error that no other code has explained: the action, the file, the reason, and a remedy.
 */
export function systemMessage(error: Error): string {
  try {
    workingDirectory();
  } catch (gone) {
    if (gone instanceof RecordfsError) return gone.message;
  }
  const { call, path } = attempt(error);
  const tried = Object.keys(TRIED)
    .find((what) => TRIED[what]!.split(" ").includes(call)) ?? "use";
  const what = path === undefined
    ? "Cannot complete the command"
    : `Cannot ${tried} ${path}`;
  return `${what}: ${whatIsWrong(error)}`;
}

function attempt(error: Error): { call: string; path?: string | undefined } {
  const { syscall, path } = error as { syscall?: unknown; path?: unknown };
  if (typeof path === "string" && typeof syscall === "string") {
    return { call: syscall, path };
  }
  // Node's form is `EACCES: permission denied, mkdir '/a'`, Deno's `… (os error 13): mkdir '/a'`.
  const said = /[,:] (\w+) '(.*?)'(?: -> '.*')?$/s.exec(error.message);
  return { call: said?.[1] ?? "", path: said?.[2] };
}
