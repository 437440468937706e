import type { LockedPackage } from "./locked.ts";

/** A package in a place of `node_modules`. */
interface Placed {
  /** As in `package-lock.json`: `node_modules/a/node_modules/b`; `""` is the package itself. */
  readonly path: string;
  readonly locked: LockedPackage;
}

/** What the package itself is and needs, as its `package.json` says. */
export interface Root {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly dependencies: readonly LockedPackage[];
  readonly optional: readonly LockedPackage[];
}

/**
 * `npm-shrinkwrap.json`, with the versions and hashes that `deno.lock` has: what npm installs is what the tests
 * ran with. Scripts of packages are not in it, so that npm runs none; no package here needs any.
 */
export function shrinkwrap(root: Root): Record<string, unknown> {
  const self: LockedPackage = { ...root, integrity: "" };
  const places = place(self);
  const needed = neededBy(self, places);
  const packages: Record<string, unknown> = {
    "": {
      ...{ name: root.name, version: root.version, license: root.license },
      ...edges(self),
    },
  };
  for (const path of [...places.keys()].toSorted()) {
    if (path === "") continue;
    const { locked } = places.get(path)!;
    const { name, version, integrity, os, cpu, libc } = locked;
    const file = `${name.replace(/^@.*\//, "")}-${version}.tgz`;
    packages[path] = {
      version,
      resolved: `https://registry.npmjs.org/${name}/-/${file}`,
      integrity,
      ...cpu !== undefined && { cpu },
      ...libc !== undefined && { libc },
      ...!needed.has(path) && { optional: true },
      ...os !== undefined && { os },
      ...edges(locked),
    };
  }
  const { name, version } = root;
  return { name, version, lockfileVersion: 3, requires: true, packages };
}

/** What a package needs, as objects of names and versions. */
export function edges(
  { dependencies, optional }: Pick<LockedPackage, "dependencies" | "optional">,
): Record<string, Record<string, string>> {
  const versions = (all: readonly LockedPackage[]) =>
    Object.fromEntries(all.map(({ name, version }) => [name, version]));
  return {
    ...dependencies.length > 0 && { dependencies: versions(dependencies) },
    ...optional.length > 0 && { optionalDependencies: versions(optional) },
  };
}

/** Puts each package beside all others, or where another version is there, below the one that needs it. */
function place(self: LockedPackage): Map<string, Placed> {
  const root = { path: "", locked: self };
  const places = new Map<string, Placed>([["", root]]);
  for (const { path, locked } of places.values()) { // those that come are visited, too
    for (const one of [...locked.dependencies, ...locked.optional]) {
      const found = find(places, path, one.name);
      if (found?.locked === one) continue;
      const at = found === undefined
        ? `node_modules/${one.name}`
        : `${path}/node_modules/${one.name}`;
      places.set(at, { path: at, locked: one });
    }
  }
  return places;
}

/** What a package finds under a name, as Node looks for it. */
function find(
  places: ReadonlyMap<string, Placed>,
  from: string,
  name: string,
): Placed | undefined {
  for (
    let above = from;;
    above = above.replace(/\/?node_modules\/(@[^/]+\/)?[^/]+$/, "")
  ) {
    const found = places.get(
      `${above}/node_modules/${name}`.replace(/^\//, ""),
    );
    if (found !== undefined || above === "") return found;
  }
}

/** The places that are needed on every system. */
function neededBy(
  self: LockedPackage,
  places: ReadonlyMap<string, Placed>,
): ReadonlySet<string> {
  const needed = new Set<string>();
  const visit = (path: string, { dependencies }: LockedPackage) => {
    for (const { name } of dependencies) {
      const found = find(places, path, name)!;
      if (needed.has(found.path)) continue;
      needed.add(found.path);
      visit(found.path, found.locked);
    }
  };
  visit("", self);
  return needed;
}
