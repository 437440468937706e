import { systemCode } from "../libc/system_error.ts";
import type { EntryFacts } from "./directory.ts";
import type { Entries, NewEntry } from "./entries.ts";
import {
  isOpenToAll,
  NotTrustedError,
  type Trusted,
  whyNotAbove,
  whyNotLink,
} from "./trust.ts";

/** A directory on the path. */
export interface Reached {
  readonly name: string;
  readonly entries: Entries;
  /** Whether anybody may have created it. */
  readonly isInOpen: boolean;
}

/** The kernel's own limit. */
const MOST_LINKS = 40;

/**
 * Walks to a directory component by component. Checks each directory before the next is reached through it, and the
 * owner of each symbolic link before it is followed.
 */
export class TrustedWalk {
  readonly #trusted: Trusted;
  /** How missing directories are created; without it, the walk ends there. */
  readonly #making: NewEntry | undefined;
  readonly #open: Reached[];
  /** Checks to repeat once the user is known. */
  readonly #unsure: ((trusted: Trusted) => void)[] = [];
  #links = 0;

  /** @param root The root directory, closed with the walk. */
  constructor(root: Entries, trusted: Trusted, making: NewEntry | undefined) {
    this.#open = [{ name: "", entries: root, isInOpen: false }];
    this.#trusted = trusted;
    this.#making = making;
  }

  /**
   * Walks to an absolute path, whose directory the caller closes; `undefined` if it does not exist. Throws a
   * {@linkcode NotTrustedError} if others could make it lead elsewhere.
   */
  to(path: string): Reached & { readonly path: string } | undefined {
    const pending = path.split("/").reverse();
    try {
      while (pending.length > 0) {
        const name = pending.pop()!;
        if (name === "" || name === ".") continue;
        if (name === "..") this.#leave();
        else if (!this.#enter(name, pending)) return undefined;
      }
      const path = this.#path || "/";
      return { path, ...this.#open.pop()! };
    } finally {
      for (const { entries } of this.#open) entries.close();
    }
  }

  /** Repeats the checks that depend on who the user is. */
  recheck(trusted: Trusted): void {
    for (const check of this.#unsure) check(trusted);
  }

  get #path(): string {
    return this.#open.map(({ name }) => name).join("/");
  }

  /** @returns Whether the name exists. */
  #enter(name: string, pending: string[]): boolean {
    const { entries, isInOpen } = this.#open.at(-1)!;
    const above = entries.facts();
    this.#require(
      this.#path || "/",
      above,
      (facts, trusted) => whyNotAbove(facts, trusted, isInOpen),
    );
    const isOpen = above !== undefined && isOpenToAll(above);
    let found = entries.stat(name);
    if (found === undefined) {
      if (this.#making === undefined) return false;
      makeUnlessThere(entries, name, this.#making);
      found = entries.stat(name);
    }
    if (
      found === undefined || found === "unknown" || found.kind !== "symlink"
    ) {
      const opened = entries.open(name);
      this.#open.push({ name, entries: opened, isInOpen: isOpen });
      return true;
    }
    const path = `${this.#path}/${name}`;
    this.#require(
      path,
      found,
      (facts, trusted) => whyNotLink(facts, trusted, isOpen),
    );
    if (++this.#links > MOST_LINKS) {
      throw new NotTrustedError(path, "is one of too many symbolic links");
    }
    const target = entries.readLink(name);
    if (target.startsWith("/")) { while (this.#open.length > 1) this.#leave(); }
    pending.push(...target.split("/").reverse());
    return true;
  }

  #leave(): void {
    if (this.#open.length > 1) this.#open.pop()!.entries.close();
  }

  #require(
    path: string,
    facts: EntryFacts | undefined,
    whyNot: (facts: EntryFacts, trusted: Trusted) => string | undefined,
  ): void {
    if (facts === undefined) return; // this program may not read it
    const check = (trusted: Trusted) => {
      const reason = whyNot(facts, trusted);
      if (reason !== undefined) throw new NotTrustedError(path, reason);
    };
    check(this.#trusted);
    if (this.#trusted.uid === undefined) this.#unsure.push(check);
  }
}

/** Creates a directory, unless another process does so first. */
export function makeUnlessThere(
  entries: Entries,
  name: string,
  how: NewEntry,
): void {
  try {
    entries.makeDirectory(name, how);
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
}
