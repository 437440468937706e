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
    new Option("--header <line>", "send this with each request: 'Name: value'")
      .argParser(collect),
    new Option("--header-file <file>", "such headers, one a line"),
    new Option("--cacert <file>", "certificates of further authorities"),
    new Option("--endpoint <url>", "the S3 server, if it is not Amazon's"),
    new Option(
      "--addressing <where>",
      "where the bucket is named in URLs of that server: path, unless given, or virtual, in the host",
    ).choices(ADDRESSING),
    new Option("--region <name>", "the region of the bucket"),
    new Option("--profile <name>", "the profile of ~/.aws whose keys are used"),
    new Option("--anonymous", "read a public bucket, without keys"),
    new Option("--requester-pays", "pay for the transfer"),
    new Option("--cache-dir <dir>", "where to keep what was fetched"),
    new Option("--cache-size <size>", "how much to keep, as in 100G")
      .argParser(saying(parseSize)),
    new Option(
      "--cache-shared",
      "trust the owner and the group of that directory, who write to it as well",
    ),
    new Option("--no-cache", "keep nothing on the disk"),
    new Option("--timeout <seconds>", "how long to wait for a server")
      .argParser(saying(parseSeconds)),
    new Option("--max-requests <n>", "requests at a time")
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
