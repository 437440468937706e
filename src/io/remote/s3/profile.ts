import { existsSync } from "node:fs";
import { variable } from "../../../base/environment.ts";
import { PACKAGES } from "../../../base/packages.ts";
import type { S3Options } from "../remote_options.ts";

/**
 * Adds a bucket's server from the configuration files of AWS tools, if neither options nor environment variables set
 * it: `endpoint_url` and `region` of the profile or of its services, and `addressing_style`.
 */
export async function withProfile(options: S3Options): Promise<S3Options> {
  const said = await settingsOf(
    options.profile ?? variable("AWS_PROFILE") ?? "default",
  );
  if (said === undefined) return options;
  const { own, services } = said;
  const endpoint = options.endpoint ?? variable("AWS_ENDPOINT_URL_S3") ??
    variable("AWS_ENDPOINT_URL") ??
    (variable("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") === "true"
      ? undefined
      : services?.["s3.endpoint_url"] ?? own["endpoint_url"]);
  const region = options.region ?? variable("AWS_REGION") ??
    variable("AWS_DEFAULT_REGION") ?? own["region"];
  const style = own["s3.addressing_style"];
  const isStyle = style === "path" || style === "virtual";
  const addressing = options.addressing ?? (isStyle ? style : undefined);
  return { ...options, endpoint, region, addressing };
}

/** A profile's settings by name; names of nested ones contain a dot. */
type Settings = Readonly<Record<string, string | undefined>>;

async function settingsOf(
  profile: string,
): Promise<
  | { readonly own: Settings; readonly services: Settings | undefined }
  | undefined
> {
  const home = variable("HOME");
  const path = variable("AWS_CONFIG_FILE") ?? (home && `${home}/.aws/config`);
  if (path === undefined) return undefined;
  const { state } = Deno.permissions.querySync({ name: "read", path });
  // Loads the package only if there is something to read.
  if (state !== "granted" || !existsSync(path)) return undefined;
  const { loadSharedConfigFiles }:
    typeof import("@smithy/shared-ini-file-loader") = await import(
      PACKAGES.awsConfig
    );
  const { configFile } = await loadSharedConfigFiles({
    configFilepath: path,
    ignoreCache: true,
  });
  const own = configFile[profile];
  if (own === undefined) return undefined;
  const { services } = own;
  return {
    own,
    services: services === undefined
      ? undefined
      : configFile[`services.${services}`],
  };
}
