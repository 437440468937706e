/** Wildcard addresses: `0.0.0.0`, `::`, and other spellings. */
const ALL = /^(0+(\.0+){0,3}|[0:]*:[0:]*)$/;

/** Loopback and link-local addresses: not reachable from other machines, or only with an interface name. */
const LOCAL = /^(127\.|169\.254\.|::1\]?$|fe[89ab])/i;

/** IPv4 routes on Linux: an interface and a destination per line. */
const ROUTES = "/proc/net/route";
const DEFAULT_ROUTE = /^(\S+)\t00000000\t/m;

export function isAllAddresses(hostname: string): boolean {
  return ALL.test(hostname);
}

/**
 * Returns the machine's own addresses in URL form, the most reachable ones first: those of the default route's
 * interface before others, and IPv4 before IPv6. Empty without `--allow-sys`.
 */
export function ownAddresses(): string[] {
  let all: Deno.NetworkInterfaceInfo[];
  try {
    all = Deno.networkInterfaces();
  } catch {
    return [];
  }
  const first = defaultInterface();
  const rank = ({ name, family, address }: Deno.NetworkInterfaceInfo) =>
    (LOCAL.test(address) ? 4 : 0) + (name === first ? 0 : 2) +
    (family === "IPv4" ? 0 : 1);
  return all.toSorted((a, b) => rank(a) - rank(b))
    .map(({ family, address }) => family === "IPv6" ? `[${address}]` : address);
}

/** Returns the {@linkcode ownAddresses} that other machines can reach. */
export function reachableAddresses(): string[] {
  return ownAddresses()
    .filter((address) => !LOCAL.test(address.replace("[", "")));
}

function defaultInterface(): string | undefined {
  try {
    return DEFAULT_ROUTE.exec(Deno.readTextFileSync(ROUTES))?.[1];
  } catch {
    return undefined; // not Linux, or not permitted
  }
}
