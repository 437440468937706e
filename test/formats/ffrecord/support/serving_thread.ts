/** Thread that serves a tree like a mount: it receives one request, and replies when it can. */
import {
  newExtent,
  newStat,
  type TreeHandle,
} from "../../../../src/tree/tree.ts";

/** Request to the thread. */
export interface Question {
  readonly seed: TreeHandle;
  readonly node: number;
  readonly ask: "size" | "offset";
}

/** Reply of the thread. */
export type Answer = { readonly value: number } | { readonly error: string };

const scope = globalThis as unknown as {
  onmessage: (event: MessageEvent<Question>) => void;
  postMessage(answer: Answer): void;
};

scope.onmessage = async ({ data: { seed, node, ask } }) => {
  const { reopenTree } = await import(seed.module);
  const tree = reopenTree(seed.data);
  try {
    if (ask === "size") {
      const stat = newStat();
      tree.stat(node, stat);
      scope.postMessage({ value: stat.size });
    } else {
      const extent = newExtent();
      tree.locate(node, extent);
      scope.postMessage({ value: extent.offset });
    }
  } catch (error) {
    scope.postMessage({ error: (error as { code: string }).code });
  }
};
