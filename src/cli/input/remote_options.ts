import { InvalidArgumentError, Option } from "commander";
import { UsageError } from "../exit.ts";
import {
  ADDRESSING,
  parseRequests,
  parseSeconds,
  parseSize,
} from "./remote_flags.ts";

type Collect = (value: string, before?: readonly string[]) => readonly string[];

/** Hint to the remote options in the help of commands. */
export const REMOTE_HINT =
  "\n`recordfs help servers` lists the options for containers on servers: --header, --endpoint, --cache-dir, …";

/** Options hidden in the help of each command, and shown by `recordfs help servers`. */
const remote = new WeakSet<Option>();

export function isRemote(option: Option): boolean {
  return remote.has(option);
}

/** Options of commands that open remote containers, described by `recordfs help servers`. */
export function remoteOptions(collect: Collect): Option[] {
  return [
    new Option(
      "--header <line>",
      "send this header with each request: 'Name: value'",
    )
      .argParser(collect),
    new Option("--header-file <file>", "file of such headers, one per line"),
    new Option(
      "--cacert <file>",
      "PEM file of certificate authorities to trust as well",
    ),
    new Option(
      "--endpoint <url>",
      "URL of the S3 server, if it is not Amazon's",
    ),
    new Option(
      "--addressing <where>",
      "S3 addressing style: path (default) or virtual (bucket in the host name)",
    ).choices(ADDRESSING),
    new Option("--region <name>", "region of the bucket"),
    new Option("--profile <name>", "profile in ~/.aws that has the keys"),
    new Option("--anonymous", "read a public bucket without keys"),
    new Option(
      "--requester-pays",
      "agree to pay for requests and transfer (requester pays)",
    ),
    new Option("--cache-dir <dir>", "directory of the cache"),
    new Option("--cache-size <size>", "maximum size of the cache, such as 100G")
      .argParser(saying(parseSize)),
    new Option(
      "--cache-shared",
      "share that directory: trust its owner and group, who can write to it",
    ),
    new Option("--no-cache", "cache nothing on the disk"),
    new Option(
      "--timeout <seconds>",
      "how long to wait for a server that does not respond",
    )
      .argParser(saying(parseSeconds)),
    new Option("--max-requests <n>", "maximum number of concurrent requests")
      .argParser(saying(parseRequests)),
  ].map((option) => {
    remote.add(option);
    return option.hideHelp();
  });
}

/** Converts usage errors to those that the option parser formats itself. */
function saying<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      throw new InvalidArgumentError(error.message);
    }
  };
}
