import { Command } from "commander";
import { collect } from "./options.ts";
import { remoteOptions } from "./remote_options.ts";

export function serversHelp(): string {
  const command = serversCommand();
  return `${command.helpInformation()}${NOTES}`;
}

/** Dummy command that only describes these options. */
export function serversCommand(): Command {
  const command = new Command("recordfs COMMAND")
    .usage("[options] SOURCE ...")
    .description(
      "Options for containers on servers, for all commands that take a URL as SOURCE.",
    )
    .helpOption(false)
    .configureHelp({ helpWidth: 80 });
  for (const option of remoteOptions(collect)) {
    command.addOption(option.hideHelp(false));
  }
  return command;
}

const NOTES = `
SOURCE is http://HOST/PATH, https://HOST/PATH or s3://BUCKET/KEY. A file in this
directory is ./http:/x. Sizes take suffixes: 500M, 100G.

Examples:
  recordfs info https://example.org/data.ffr --header 'Authorization: Bearer TOKEN'
  recordfs mount s3://bucket/data.tar /mnt/x --region eu-west-3
  recordfs ls s3://bucket/data.tar --endpoint http://localhost:9000 --cache-dir /scratch/cache
`;
