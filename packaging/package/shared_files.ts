import { Command } from "commander";
import { bashCompletions } from "../../src/cli/completions/bash.ts";
import { fishCompletions } from "../../src/cli/completions/fish.ts";
import { zshCompletions } from "../../src/cli/completions/zsh.ts";
import { manualPages } from "../../src/cli/manual/manual_pages.ts";
import { makeProgram } from "../../src/cli/program.ts";
import { REPOSITORY } from "../repository.ts";
import { type PackedFile, textFile } from "./modules.ts";

const SYSTEMD = ["recordfs@.service", "example.env"];

/** What a system keeps below `share`: manual pages and completions, by the commands' own help, and units. */
export async function sharedFiles(): Promise<PackedFile[]> {
  const program = await makeProgram(undefined);
  const commands: readonly Command[] = program.createHelp()
    .visibleCommands(program);
  return [
    ...(await manualPages(program)).map(({ name, text }) =>
      textFile(`share/man/man1/${name}.1`, text)
    ),
    textFile(
      "share/bash-completion/completions/recordfs",
      bashCompletions(commands),
    ),
    textFile("share/zsh/site-functions/_recordfs", zshCompletions(commands)),
    textFile(
      "share/fish/vendor_completions.d/recordfs.fish",
      fishCompletions(commands),
    ),
    ...SYSTEMD.map((name) => {
      const text = Deno.readTextFileSync(
        `${REPOSITORY}packaging/systemd/${name}`,
      );
      return textFile(`share/systemd/${name}`, text);
    }),
  ];
}
