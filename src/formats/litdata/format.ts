import { checkFieldShards } from "../../tree/field_shards/check_field_shards.ts";
import { openFieldContainer } from "../../tree/field_shards/open_field_container.ts";
import type { Format } from "../format.ts";
import { findChunks } from "./index_file.ts";

export const litdata: Format = {
  open: (path, options) =>
    openFieldContainer("litdata", findChunks, path, options),
  check: (path, options) => checkFieldShards(findChunks, path, options),
  async openSource(container) {
    const { FieldsSource } = await import(
      "../../convert/from/fields_source.ts"
    );
    return new FieldsSource(container, "LitData");
  },
};
