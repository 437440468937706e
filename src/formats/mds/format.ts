import { checkFieldShards } from "../../tree/field_shards/check_field_shards.ts";
import { openFieldContainer } from "../../tree/field_shards/open_field_container.ts";
import type { Format } from "../format.ts";
import { findShards, readConfig } from "./read/find_shards.ts";
import { parseConfig } from "./read/index_file.ts";

export const mds: Format = {
  open: (path, options) => openFieldContainer("mds", findShards, path, options),
  check: (path, options) =>
    checkFieldShards(findShards, path, options, function* (content) {
      const { bytes } = yield* readConfig(content);
      return bytes.length === 0 ? undefined : parseConfig(bytes, content.name);
    }),
  async openSource(container) {
    const { MdsSource } = await import("./convert/source.ts");
    return new MdsSource(container);
  },
  async target() {
    const { mdsTarget } = await import("./convert/target.ts");
    return mdsTarget;
  },
};
