import { EXIT_CODES } from "../exit.ts";
import type { Topic } from "./topics.ts";

export function exitCodes(): Topic {
  return {
    title: "Exit codes",
    sections: [
      {
        items: [
          ...EXIT_CODES.map(([code, meaning]) => [`${code}`, meaning] as const),
          [
            "128 + N",
            "signal N ended the command, as in shells: 130 for Ctrl-C, 143 for SIGTERM, " +
            "141 for output to a pipe that was closed",
          ],
        ],
      },
      {
        heading: "Exit code 1 also means",
        items: [
          ["cache fill", "some data could not be cached"],
          ["cache rm", "some data is in use, and was not deleted"],
          ["cache verify", "cached data was damaged, and is deleted"],
          ["cat, ls, stat", "an entry could not be read; the others are shown"],
          ["check", "the container is damaged"],
          ["convert", "something would be lost, and --lossy was not given"],
          ["doctor", "a test failed"],
          ["extract", "a member was not extracted; see --partial"],
          [
            "gulp DATASET",
            "a video failed and was skipped; --resume tries it again",
          ],
          ["pack", "an entry was not packed; see --skip-problems"],
          ["records", "offsets of samples are damaged"],
          ["unmount", "a mount could not be ended; the others are"],
        ],
      },
    ],
  };
}
