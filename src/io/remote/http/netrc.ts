import { readFileSync } from "node:fs";
import { variable } from "../../../base/environment.ts";

/** Whom a server knows. */
export interface Login {
  readonly name: string;
  readonly password: string;
}

/** An entry: of one host, or of all (`default`). */
interface Entry {
  readonly host: string | undefined;
  login?: string;
  password?: string;
}

/**
 * What `$NETRC`, or else `~/.netrc`, says for a server: that of the first entry which is of its host, or is `default`,
 * as curl's option `--netrc` takes it. A file that is not there, or may not be read, says nothing.
 *
 * @param name Only an entry with this name is taken, where it is given.
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

/** A word; in quotes it may have blanks, and escapes. */
const WORD = /"((?:[^"\\]|\\.)*)"?|\S+/g;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/** The entries of a file, in its order: words apart by blanks and lines, up to a `#` that begins one. */
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
