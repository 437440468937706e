import { whatIsWrong } from "../../io/libc/system_error.ts";
import type {
  RemoteOptions,
  S3Options,
} from "../../io/remote/remote_options.ts";
import { sizeOf } from "../../base/size_text.ts";
import { UsageError } from "../exit.ts";
import { warn } from "../messages.ts";

type Addressing = NonNullable<S3Options["addressing"]>;

export interface RemoteFlags {
  readonly header?: readonly string[] | undefined;
  readonly headerFile?: string | undefined;
  readonly cacert?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly addressing?: Addressing | undefined;
  readonly region?: string | undefined;
  readonly profile?: string | undefined;
  readonly anonymous?: true | undefined;
  readonly requesterPays?: true | undefined;
  readonly cacheDir?: string | undefined;
  readonly cacheSize?: number | undefined;
  readonly cacheShared?: true | undefined;
  /** False after `--no-cache`. */
  readonly cache?: boolean | undefined;
  readonly timeout?: number | undefined;
  readonly maxRequests?: number | undefined;
}

/** Converts the flags to remote options. Throws if a header is invalid, or the header file cannot be read. */
export function remoteOf(flags: RemoteFlags): RemoteOptions {
  const { header = [], headerFile } = flags;
  const lines = [
    ...header,
    ...headerFile === undefined ? [] : linesOf(headerFile),
  ];
  return {
    headers: Object.fromEntries(lines.map(headerOf)),
    caCert: flags.cacert,
    timeout: flags.timeout,
    maxRequests: flags.maxRequests,
    s3: {
      endpoint: flags.endpoint,
      addressing: flags.addressing,
      region: flags.region,
      profile: flags.profile,
      anonymous: flags.anonymous,
      requesterPays: flags.requesterPays,
    },
    cache: flags.cache !== false && {
      directory: flags.cacheDir,
      size: flags.cacheSize,
      shared: flags.cacheShared,
    },
    onWarning: warn,
  };
}

function linesOf(file: string): string[] {
  try {
    return Deno.readTextFileSync(file).split("\n")
      .filter((line) => line.trim() !== "" && !line.startsWith("#"));
  } catch (error) {
    const why = whatIsWrong(error);
    throw new UsageError(`Cannot read --header-file ${file}: ${why}`);
  }
}

/** Parses a header. The error does not quote it, since its value may be secret. */
function headerOf(line: string): [string, string] {
  const parts = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*)$/.exec(line);
  if (parts !== null) return [parts[1]!.toLowerCase(), parts[2]!.trim()];
  throw new UsageError("a header must be written as 'Name: value'");
}

/** Parses a number of bytes, such as `100G`. */
export function parseSize(text: string): number {
  const bytes = sizeOf(text);
  if (bytes !== undefined) return bytes;
  throw new UsageError("It must be a size such as 500M or 100G.");
}

/** Valid values of `--addressing`. */
export const ADDRESSING: readonly Addressing[] = ["path", "virtual"];

/** Parses the position of bucket names in URLs. */
export function parseAddressing(text: string): Addressing {
  const value = ADDRESSING.find((one) => one === text);
  if (value !== undefined) return value;
  throw new UsageError(`It must be ${ADDRESSING.join(" or ")}.`);
}

/** Parses a number of seconds to milliseconds. */
export function parseSeconds(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value > 0 && value < 1e6) return value * 1000;
  throw new UsageError("It must be a number of seconds.");
}

export function parseRequests(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 1024) return value;
  throw new UsageError("It must be a whole number from 1 to 1024.");
}
