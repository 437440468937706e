/** A thread that serves a tree as a mount does: it is asked once, and answers when it can. */
import {
  newExtent,
  newStat,
  type TreeHandle,
} from "../../../../src/tree/tree.ts";

/** What such a thread is asked. */
export interface Question {
  readonly seed: TreeHandle;
  readonly node: number;
  readonly ask: "size" | "offset";
}

/** What it answers. */
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
