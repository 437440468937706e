import { formats } from "../../formats/registry.ts";
import { targetNames } from "../../open/convert/find_target.ts";
import type { TargetName } from "../../convert/to/target.ts";
import type { Topic, TopicItem } from "./topics.ts";

/** Lists the formats and conversion targets of the registry, including those of `--format-module`. */
export function formatsTopic(): Topic {
  return {
    title: "Container formats",
    sections: [
      {
        text:
          "recordfs detects the format of a container by its content. --format NAME " +
          "opens a container as another format; --format-module FILE adds a format of your own.",
      },
      {
        heading: "Formats (--format NAME)",
        items: formats().flatMap(
          ({ name, description, suffixes, variants = [] }): TopicItem[] => [
            [
              name,
              suffixes.length === 0
                ? description
                : `${description} (${suffixes.join(", ")})`,
            ],
            ...variants.map((variant): TopicItem => [
              `  ${variant.name}`,
              variant.description,
            ]),
          ],
        ),
      },
      {
        heading: "Targets of convert (--to TARGET)",
        text:
          "The suffix of the new file or directory selects a target without --to.",
        items: targetNames().map((target) => [target.name, selection(target)]),
      },
      {
        heading: "Examples",
        examples: [
          "recordfs info data.ffr",
          "recordfs info --format ffrecord-samples data.ffr",
          "recordfs convert captions old --to bags --generation 1",
        ],
      },
    ],
  };
}

/** Describes the names that select a target. */
function selection({ name, suffix, ofNumbered }: TargetName): string {
  if (suffix === undefined) return `needs --to ${name}`;
  if (ofNumbered === undefined) return suffix;
  return `${suffix}, from ${ofNumbered ? "numbered samples" : "named files"}`;
}
