import { Buffer } from "node:buffer";
import type { LockedPackage } from "../package/locked.ts";

/** What is released. */
export interface Released {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly dependencies: readonly LockedPackage[];
  readonly optional: readonly LockedPackage[];
}

/**
 * All that the package brings along, with hashes, as CycloneDX 1.6 has it: the same for the same lock file, and so
 * without a time or a serial number, which that format does not ask for.
 */
export function billOfMaterials(released: Released): Record<string, unknown> {
  const all = new Map<string, LockedPackage>();
  const visit = (locked: LockedPackage) => {
    const reference = packageUrl(locked);
    if (all.has(reference)) return;
    all.set(reference, locked);
    needsOf(locked).forEach(visit);
  };
  needsOf(released).forEach(visit);
  const sorted = [...all].toSorted(([a], [b]) => a < b ? -1 : 1);
  const root = packageUrl(released);
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": root,
        name: released.name,
        version: released.version,
        licenses: [{ license: { id: released.license } }],
        purl: root,
      },
    },
    components: sorted.map(([reference, { name, version, integrity }]) => ({
      type: "library",
      "bom-ref": reference,
      name,
      version,
      hashes: [hashOf(integrity)],
      purl: reference,
    })),
    dependencies: [[root, released] as const, ...sorted].map((
      [reference, locked],
    ) => ({
      ref: reference,
      dependsOn: needsOf(locked).map(packageUrl).toSorted(),
    })),
  };
}

function needsOf(
  { dependencies, optional }: Pick<Released, "dependencies" | "optional">,
): LockedPackage[] {
  return [...new Set([...dependencies, ...optional])];
}

/** As https://github.com/package-url/purl-spec has it: the `@` of a scope is escaped. */
function packageUrl(
  { name, version }: { readonly name: string; readonly version: string },
): string {
  return `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
}

/** The registry's hashes are Base64, those of a bill hexadecimal. */
function hashOf(
  integrity: string,
): { readonly alg: string; readonly content: string } {
  const [, base64] = /^sha512-(.+)$/.exec(integrity) ?? [];
  if (base64 === undefined) throw new Error(`${integrity} is no SHA-512`);
  return {
    alg: "SHA-512",
    content: Buffer.from(base64, "base64").toString("hex"),
  };
}
