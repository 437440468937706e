import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { variable } from "../../../base/environment.ts";
import { NotTrustedError } from "../../../io/dirfd/trust.ts";
import { CacheRoot } from "../../../io/remote/cache/cache_root.ts";
import { isUrl, shownLocation } from "../../../io/remote/remote_location.ts";
import type { CommonOptions } from "../../input/options.ts";
import { openSource } from "../../input/source.ts";
import { formatBytes } from "../../terminal/amounts.ts";
import { failure, type Finding, limited, textOf, works } from "./finding.ts";

/** Variables about credentials and proxies, whose values must stay secret. */
const VARIABLES = [
  ...["AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"],
  ...["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"],
  ...["AWS_CONTAINER_CREDENTIALS_FULL_URI", "NETRC"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"],
];

/** Free bytes below which a cache is of little use. */
const LITTLE_ROOM = 1e9;

export function lookAtServers(options: CommonOptions): Finding[] {
  return [cache(options), credentials()];
}

function cache({ cacheDir, cacheShared, cache }: CommonOptions): Finding {
  const what = "cache";
  if (cache === false) return works(what, "none (--no-cache)");
  const options = { directory: cacheDir, shared: cacheShared };
  const root = new CacheRoot(options, () => {});
  const { path } = root;
  try {
    root.open()?.[Symbol.dispose]();
  } catch (error) {
    if (error instanceof NotTrustedError) {
      return limited(
        what,
        `${error.reason}: fetched data is cached in memory only`,
        "give a directory of your own with --cache-dir, or trust its owner and group with --cache-shared",
      );
    }
  }
  let above = path;
  for (;; above = dirname(above)) {
    try {
      const { bavail, bsize } = statfsSync(above);
      const free = bavail * bsize;
      Deno.removeSync(
        Deno.makeTempDirSync({ dir: above, prefix: ".recordfs-" }),
      );
      const says = `${path}, ${formatBytes(free)} free`;
      return free >= LITTLE_ROOM ? works(what, says) : limited(
        what,
        says,
        "free some space, or give another directory with --cache-dir",
      );
    } catch (error) {
      if (
        error instanceof Error && "code" in error && error.code === "ENOENT"
      ) {
        continue;
      }
      return limited(
        what,
        `${path} cannot be written: fetched data is cached in memory only`,
        "give a directory with --cache-dir, or use --no-cache",
      );
    }
  }
}

/** Lists the names of credentials, never their values. */
function credentials(): Finding {
  const home = variable("HOME") ?? "";
  const found = VARIABLES.filter((name) => variable(name) !== undefined);
  const profiles = new Set<string>();
  for (
    const [name, file] of [
      ["AWS_SHARED_CREDENTIALS_FILE", `${home}/.aws/credentials`],
      ["AWS_CONFIG_FILE", `${home}/.aws/config`],
    ] as const
  ) {
    const text = textOf(variable(name) ?? file);
    for (const [, title] of text.matchAll(/^\[(?:profile )?([\w.-]+)\]/gm)) {
      profiles.add(title!);
    }
  }
  if (profiles.size > 0) {
    found.push(`profiles ${[...profiles].join(", ")} in ~/.aws`);
  }
  const hosts = [
    ...textOf(variable("NETRC") ?? `${home}/.netrc`)
      .matchAll(/^\s*machine\s+(\S+)/gm),
  ].map(([, host]) => host);
  if (hosts.length > 0) found.push(`${hosts.join(", ")} in netrc`);
  return works(
    "credentials",
    found.length > 0
      ? `found: ${found.join("; ")}`
      : "none found; public servers and buckets (--anonymous) need none",
  );
}

export async function lookAtLocation(
  location: string,
  options: CommonOptions,
): Promise<Finding> {
  const what = "location";
  const start = performance.now();
  try {
    using fs = await openSource(location, options);
    const time = Math.ceil(performance.now() - start);
    return works(
      what,
      `${
        shownLocation(location)
      }: ${fs.info.format}, ${fs.info.files} files, opened in ${time} ms`,
    );
  } catch (error) {
    const name = shownLocation(location);
    const remedy = isUrl(location) ? "see docs/remote.md" : "check the path";
    const failed = failure(what, error, remedy);
    return failed.says.includes(name)
      ? failed
      : { ...failed, says: `${name}: ${failed.says}` };
  }
}
