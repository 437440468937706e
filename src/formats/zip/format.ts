import type { Format } from "../format.ts";
import { checkZip } from "./check.ts";
import { openZip } from "./tree/open_zip.ts";

export const zip: Format = {
  open: openZip,
  check: checkZip,
  async openSource(container) {
    const { zipSource } = await import("./convert/source.ts");
    return zipSource(container);
  },
  async target() {
    return (await import("./convert/target.ts")).zipTarget;
  },
};
