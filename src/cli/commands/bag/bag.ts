import { Command } from "commander";
import { createCommand } from "./bag_create.ts";

/** `recordfs bag` */
export function makeCommand(inherit: Command): Command {
  const bag = new Command("bag")
    .description("write datasets of bags (Bags, Granular)")
    .copyInheritedSettings(inherit);
  return bag.addCommand(createCommand().copyInheritedSettings(bag));
}
