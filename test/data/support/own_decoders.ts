import type { SampleDecoders } from "../../../src/open/data/mod.ts";

function inBrackets(bytes: Uint8Array): Promise<string> {
  return Promise.resolve(`<${new TextDecoder().decode(bytes)}>`);
}

/** Custom decoders for samples of WebDataset, MDS and Bags. */
const decoders: SampleDecoders = {
  len: ({ length }) => length,
  txt: null,
  str: inBrackets,
  utf8: inBrackets,
};

export default decoders;

/** Not an object of decoders. */
export const seven = 7;
