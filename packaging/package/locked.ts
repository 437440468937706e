import binaries from "../deno_binaries.json" with { type: "json" };
import manifest from "../../deno.json" with { type: "json" };
import { REPOSITORY } from "../repository.ts";

/** A package of npm's registry, as it is locked. */
export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** Of its archive, as in `package-lock.json`. */
  readonly integrity: string;
  /** What it needs. */
  readonly dependencies: readonly LockedPackage[];
  /** What it can do without, or needs on some systems only. */
  readonly optional: readonly LockedPackage[];
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

/** An entry of `deno.lock`. */
interface LockEntry {
  readonly integrity: string;
  readonly dependencies?: readonly string[];
  readonly optionalDependencies?: readonly string[];
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

const lock: { readonly npm: Readonly<Record<string, LockEntry>> } = JSON.parse(
  Deno.readTextFileSync(`${REPOSITORY}deno.lock`),
);
const entries = new Map(Object.entries(lock.npm));
const made = new Map<string, LockedPackage>();

/**
 * What recordfs needs at run time, in order of the names: others in `deno.json` are for tests and tools.
 *
 * @param texts Of its modules, which name what they import.
 */
export function lockedDependencies(texts: readonly string[]): LockedPackage[] {
  return Object.entries(manifest.imports)
    .filter(([name]) => {
      const named = new RegExp(
        `(from |import\\()"${RegExp.escape(name)}["/]|"npm:${
          RegExp.escape(name)
        }@`,
      );
      return texts.some((text) => named.test(text));
    })
    .map(([, specifier]) => lockedPackage(specifier.replace(/^npm:/, "")));
}

/** Deno itself, as one package a system. */
export function lockedDeno(): LockedPackage[] {
  return Object.entries(binaries.packages).map(([name, entry]) => ({
    ...{ name, version: binaries.version, dependencies: [], optional: [] },
    ...entry,
  }));
}

/**
 * A package and all that it needs.
 *
 * @param text `name@version`, or the name where there is but one version.
 */
function lockedPackage(text: string): LockedPackage {
  const keys = text.lastIndexOf("@") > 0
    ? [text]
    : [...entries.keys()].filter((key) => nameOf(key) === text);
  const [key] = keys;
  const entry = key === undefined ? undefined : entries.get(key);
  if (key === undefined || entry === undefined || keys.length > 1) {
    throw new Error(`deno.lock has not one ${text}: run \`deno install\``);
  }
  const known = made.get(key);
  if (known !== undefined) return known;
  const name = nameOf(key);
  const dependencies: LockedPackage[] = [];
  const optional: LockedPackage[] = [];
  const { integrity, os, cpu } = entry;
  const locked = {
    ...{ name, version: key.slice(name.length + 1), integrity },
    ...{ dependencies, optional },
    ...os !== undefined && { os },
    ...cpu !== undefined && { cpu },
    ...libcOf(name),
  };
  made.set(key, locked); // before what it needs, which may need it
  dependencies.push(...(entry.dependencies ?? []).map(lockedPackage));
  optional.push(...(entry.optionalDependencies ?? []).map(lockedPackage));
  return locked;
}

function nameOf(key: string): string {
  return key.slice(0, key.lastIndexOf("@"));
}

/** `deno.lock` does not say which C library a package is for; names of sharp's, the only such ones, do. */
function libcOf(name: string): { readonly libc?: readonly string[] } {
  if (/^@img\/.*-linuxmusl-/.test(name)) return { libc: ["musl"] };
  return /^@img\/.*-linux-/.test(name) ? { libc: ["glibc"] } : {};
}
