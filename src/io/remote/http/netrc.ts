import { readFileSync } from "node:fs";
import { variable } from "../../../base/environment.ts";

export interface Login {
  readonly name: string;
  readonly password: string;
}

/** Entry of one host, or of all (`default`). */
interface Entry {
  readonly host: string | undefined;
  login?: string;
  password?: string;
}

/**
 * Looks up a server, and a name if given, in `$NETRC` or else `~/.netrc`: the first entry that is of its host or is
 * `default`, like curl's option `--netrc`. A missing or unreadable file has no entries.
 */
export function loginFor({ hostname }: URL, name?: string): Login | undefined {
  const text = textOfNetrc();
  if (text === undefined) return undefined;
  const wanted = hostname.replace(/^\[(.*)\]$/, "$1");
  for (const { host = wanted, login, password } of entriesOf(text)) {
    if (host.toLowerCase() !== wanted) continue;
    if (login === undefined && password === undefined) continue;
    if (name !== undefined && name !== login) continue;
    return { name: login ?? "", password: password ?? "" };
  }
  return undefined;
}

function textOfNetrc(): string | undefined {
  const home = variable("HOME");
  const path = variable("NETRC") ?? (home && `${home}/.netrc`);
  if (path === undefined) return undefined;
  const { state } = Deno.permissions.querySync({ name: "read", path });
  if (state !== "granted") return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** A word; in quotes it may have blanks and escapes. */
const WORD = /"((?:[^"\\]|\\.)*)"?|\S+/g;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/** Parses a file's entries, in order: words separated by white space; `#` at the start of a word begins a comment. */
function entriesOf(text: string): readonly Entry[] {
  const entries: Entry[] = [];
  let key: string | undefined;
  let isMacro = false;
  for (const line of text.split(/\r?\n/)) {
    if (isMacro) { // up to an empty line
      isMacro = line.trim() !== "";
      continue;
    }
    for (const [word, quoted] of line.matchAll(WORD)) {
      if (word.startsWith("#")) break;
      const value = quoted === undefined
        ? word
        : quoted.replaceAll(/\\(.)/g, (_, sign) => ESCAPES[sign] ?? sign);
      if (key === undefined) {
        if (word === "default") entries.push({ host: undefined });
        else if (word === "macdef") isMacro = true;
        else key = word;
        if (isMacro) break;
        continue;
      }
      const entry = entries.at(-1);
      if (key === "machine") entries.push({ host: value });
      else if (key === "login" && entry) entry.login = value;
      else if (key === "password" && entry) entry.password = value;
      key = undefined;
    }
  }
  return entries;
}
