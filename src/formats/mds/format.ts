import type { Format } from "../format.ts";
import { checkShards } from "./check.ts";
import { openMds } from "./tree/open_mds.ts";

export const mds: Format = {
  open: openMds,
  check: checkShards,
  async openSource(container) {
    const { MdsSource } = await import("./convert/source.ts");
    return new MdsSource(container);
  },
  async target() {
    const { mdsTarget } = await import("./convert/target.ts");
    return mdsTarget;
  },
};
