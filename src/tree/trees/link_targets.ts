import { type SampleRunColumns, SampleRuns } from "../sample_runs.ts";
import type { NodeId } from "../tree.ts";
import type { WholeNumbers } from "../shared_numbers.ts";

/** Order of samples: the sample at each position. */
export interface LinkOrder {
  readonly length: number;
  at(position: number): number;
}

/** Data from which another thread rebuilds the orders. It survives `postMessage`. */
export interface OrdersHandle {
  /** URL of the module that exports `reopenOrders(data): (epoch: number) => LinkOrder`. */
  readonly module: string;
  readonly data: unknown;
}

/** Data of {@linkcode LinkTargets}. It survives `postMessage`. */
export interface LinkTargetsData {
  readonly samples: SampleRunColumns;
  /** Indices of the linked samples, or `undefined` for all samples in order. */
  readonly indices: WholeNumbers | undefined;
  readonly orders: OrdersHandle;
  readonly firstEpoch: number;
  readonly epochs: number;
}

/** Target node of each link. Targets are computed, so a link takes no memory. */
export class LinkTargets {
  readonly data: LinkTargetsData;
  /** Samples per epoch. */
  readonly length: number;
  /** Largest number of files in a sample. Each file has a link. */
  readonly parts: number;
  /** Whether links lead to directories; `undefined` if mixed. */
  readonly areDirectories: boolean | undefined;
  readonly largestNode: NodeId;
  readonly #samples: SampleRuns;
  readonly #makeOrder: (epoch: number) => LinkOrder;
  /** Cached order of the last used epoch. */
  #order: LinkOrder | undefined;
  #epoch = -1;

  private constructor(
    data: LinkTargetsData,
    makeOrder: (epoch: number) => LinkOrder,
  ) {
    this.data = data;
    this.#samples = new SampleRuns(data.samples);
    this.length = data.indices?.length ?? this.#samples.length;
    this.parts = this.#samples.most;
    this.areDirectories = data.samples.areDirectories;
    this.largestNode = this.#samples.largestNode;
    this.#makeOrder = makeOrder;
  }

  static async load(data: LinkTargetsData): Promise<LinkTargets> {
    const { module, data: given } = data.orders;
    const { reopenOrders }: {
      reopenOrders(data: unknown): (epoch: number) => LinkOrder;
    } = await import(module);
    return new LinkTargets(data, reopenOrders(given));
  }

  /** Returns the node of a sample's file; 0 if the sample is skipped. `epoch` 0 is the first one with links. */
  node(epoch: number, position: number, part = 0): NodeId {
    const first = this.#samples.node(this.#sampleAt(epoch, position));
    return first === 0 ? 0 : first + part;
  }

  /** Whether the sample at a position has a file of that index; the first always exists. */
  hasPart(epoch: number, position: number, part: number): boolean {
    if (part === 0) return true;
    return part < this.#samples.widthOf(this.#sampleAt(epoch, position));
  }

  #sampleAt(epoch: number, position: number): number {
    if (epoch !== this.#epoch) {
      this.#order = this.#makeOrder(this.data.firstEpoch + epoch);
      this.#epoch = epoch;
    }
    const at = this.#order!.at(position);
    const { indices } = this.data;
    return indices === undefined ? at : indices[at]!;
  }
}
