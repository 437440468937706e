/** What stands for all addresses of a machine: `0.0.0.0`, `::`, and other spellings of them. */
const ALL = /^(0+(\.0+){0,3}|[0:]*:[0:]*)$/;

/** Addresses that lead to no other machine, or not without the name of an interface. */
const LOCAL = /^(127\.|169\.254\.|::1\]?$|fe[89ab])/i;

/** Where Linux has its routes of IPv4: an interface and a destination in each line. */
const ROUTES = "/proc/net/route";
const DEFAULT_ROUTE = /^(\S+)\t00000000\t/m;

/** Whether a server listens on all addresses. */
export function isAllAddresses(hostname: string): boolean {
  return ALL.test(hostname);
}

/**
 * The machine's own addresses as URLs have them, those first that other machines reach: of the interface of the default
 * route before others, and IPv4 before IPv6. None without `--allow-sys`.
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

/** Those of {@linkcode ownAddresses} that another machine reaches. */
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
