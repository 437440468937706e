import { Argument, Command } from "commander";
import { bashCompletions } from "./bash.ts";
import { fishCompletions } from "./fish.ts";
import { zshCompletions } from "./zsh.ts";
import { print } from "../terminal/output.ts";

const SCRIPTS = {
  bash: bashCompletions,
  fish: fishCompletions,
  zsh: zshCompletions,
};

const AFTER_HELP = `
bash: source <(recordfs completions bash)           in ~/.bashrc
zsh:  source <(recordfs completions zsh)            in ~/.zshrc, after compinit
fish: recordfs completions fish | source            in ~/.config/fish/config.fish`;

/** @param program The program to complete. Its commands need to be registered only when the command runs. */
export function makeCommand(program: Command): Command {
  return new Command("completions")
    .addArgument(
      new Argument("<shell>", "the shell").choices(Object.keys(SCRIPTS)),
    )
    .addHelpText("after", AFTER_HELP)
    .action((shell: keyof typeof SCRIPTS) => {
      const commands = program.createHelp().visibleCommands(program);
      print(SCRIPTS[shell](commands));
    });
}
