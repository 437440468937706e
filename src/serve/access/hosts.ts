import { RecordfsError } from "../../base/errors.ts";

/** Maximum number of accepted authorities to cache. */
const REMEMBERED = 64;

/** Host name or address with an optional port, in lower case. */
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[^:@/\\?#[\]\s]+)(:[0-9]{1,5})?$/;

/**
 * Host names that a server accepts. Protects against DNS rebinding: a foreign page whose name is made to resolve here
 * would otherwise read everything with this server's origin, but its requests carry the foreign name.
 */
export class Hosts {
  readonly #names: ReadonlySet<string>;
  readonly #known = new Set<string>();

  /** @param names In addition to this machine's loopback names. A name with a port is accepted with that port only. */
  constructor(names: readonly string[]) {
    this.#names = new Set(names.map((name) => name.toLowerCase()));
    for (const name of this.#names) {
      if (AUTHORITY.test(name)) continue;
      throw new RecordfsError(
        "bad-option",
        `'${name}' is not a host name such as data.example.org or data.example.org:8080`,
      );
    }
  }

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

/** Whether a name needs no DNS look-up, or an address stays on this machine. */
export function isLoopback(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") ||
    name === "[::1]" || /^127(\.[0-9]{1,3}){3}$/.test(name);
}
