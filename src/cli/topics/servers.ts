import { Command } from "commander";
import { collect } from "../input/options.ts";
import { remoteOptions } from "../input/remote_options.ts";
import type { Topic, TopicItem } from "./topics.ts";

/** Environment variables that set what options can, and credentials. */
const VARIABLES: readonly TopicItem[] = [
  ["AWS_ACCESS_KEY_ID", "key for S3"],
  ["AWS_SECRET_ACCESS_KEY", "secret of that key"],
  ["AWS_SESSION_TOKEN", "token of that key, if it is temporary"],
  ["AWS_PROFILE", "profile in ~/.aws, like --profile"],
  ["AWS_CONFIG_FILE", "file to read instead of ~/.aws/config"],
  [
    "AWS_SHARED_CREDENTIALS_FILE",
    "file to read instead of ~/.aws/credentials",
  ],
  ["AWS_REGION", "region of the bucket, like --region"],
  ["AWS_DEFAULT_REGION", "the same, if AWS_REGION is not set"],
  ["AWS_ENDPOINT_URL_S3", "URL of the S3 server, like --endpoint"],
  ["AWS_ENDPOINT_URL", "the same, if AWS_ENDPOINT_URL_S3 is not set"],
  [
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
    "true ignores the endpoint_url of profiles",
  ],
  ["AWS_CA_BUNDLE", "certificate authorities, like --cacert"],
  ["NETRC", "file to read instead of ~/.netrc"],
  ["HTTPS_PROXY", "proxy for https:// URLs"],
  ["HTTP_PROXY", "proxy for http:// URLs"],
  ["NO_PROXY", "hosts to reach without a proxy"],
  ["XDG_CACHE_HOME", "directory of caches, instead of ~/.cache"],
];

export function servers(): Topic {
  return {
    title: "Containers on servers",
    sections: [
      {
        text: "Commands that take SOURCE also take a URL: http://HOST/PATH, " +
          "https://HOST/PATH or s3://BUCKET/KEY. A path such as http:/x in the current " +
          "directory is written as ./http:/x. Sizes take suffixes: 500M, 100G.",
      },
      { heading: "Options", items: optionItems() },
      {
        heading: "Environment variables",
        text: "An option takes precedence over a variable.",
        items: VARIABLES,
      },
      {
        heading: "Examples",
        examples: [
          "recordfs info https://example.org/data.ffr --header 'Authorization: Bearer TOKEN'",
          "recordfs mount s3://bucket/data.tar /mnt/x --region eu-west-3",
          "recordfs ls s3://bucket/data.tar --endpoint http://localhost:9000 --cache-dir /scratch/cache",
        ],
      },
    ],
  };
}

function optionItems(): TopicItem[] {
  const command = new Command().helpOption(false);
  for (const option of remoteOptions(collect)) {
    command.addOption(option.hideHelp(false));
  }
  const help = command.createHelp();
  return help.visibleOptions(command).map((option) => [
    help.optionTerm(option),
    help.optionDescription(option),
  ]);
}
