import { RecordfsError } from "../../base/errors.ts";

/** How many authorities that were right are remembered. */
const REMEMBERED = 64;

/** A name or an address, and perhaps a port, in lower case. */
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[^:@/\\?#[\]\s]+)(:[0-9]{1,5})?$/;

/**
 * The names by which a server may be called. A page elsewhere whose name is made to lead here (DNS rebinding) calls it
 * by its own, and would otherwise read everything as a page of this server's.
 */
export class Hosts {
  readonly #names: ReadonlySet<string>;
  /** Authorities that were looked at, and were right. */
  readonly #known = new Set<string>();

  /** @param names Beside those of this machine for itself; one with a port is right with this port only. */
  constructor(names: readonly string[]) {
    this.#names = new Set(names.map((name) => name.toLowerCase()));
    for (const name of this.#names) {
      if (AUTHORITY.test(name)) continue;
      throw new RecordfsError(
        "bad-option",
        `'${name}' is no name of a host, such as data.example.org or data.example.org:8080`,
      );
    }
  }

  /** Whether an authority, as it stands in `Host`, is of this server. */
  has(authority: string): boolean {
    if (this.#known.has(authority)) return true;
    if (!this.#isOwn(authority.toLowerCase())) return false;
    if (this.#known.size < REMEMBERED) this.#known.add(authority);
    return true;
  }

  #isOwn(authority: string): boolean {
    const found = AUTHORITY.exec(authority);
    if (found === null) return false;
    const name = found[1]!.replace(/\.$/, "");
    return isLoopback(name) || this.#names.has(name) ||
      this.#names.has(authority);
  }
}

/** Names that no name server is asked for, and addresses that lead nowhere else. */
export function isLoopback(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") ||
    name === "[::1]" || /^127(\.[0-9]{1,3}){3}$/.test(name);
}
