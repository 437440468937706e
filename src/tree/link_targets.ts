import { type SampleRunColumns, SampleRuns } from "./sample_runs.ts";
import type { NodeId } from "./tree.ts";
import type { WholeNumbers } from "./shared_numbers.ts";

/** An order of samples: which one stands at a position. */
export interface LinkOrder {
  readonly length: number;
  at(position: number): number;
}

/** Form in which another thread gets the orders: it survives `postMessage`. */
export interface OrdersHandle {
  /** URL of the module that exports `reopenOrders(data): (epoch: number) => LinkOrder`. */
  readonly module: string;
  /** Plain data. */
  readonly data: unknown;
}

/** Data of {@linkcode LinkTargets}; it survives `postMessage`. */
export interface LinkTargetsData {
  readonly samples: SampleRunColumns;
  /** Indices of the samples that are linked to, or `undefined` for all of them, in their order. */
  readonly indices: WholeNumbers | undefined;
  readonly orders: OrdersHandle;
  /** The first epoch that there are links for. */
  readonly firstEpoch: number;
  /** Of how many epochs. */
  readonly epochs: number;
}

/** Which node each link leads to: computed, so that a link takes no memory. */
export class LinkTargets {
  readonly data: LinkTargetsData;
  /** Number of links of an epoch. */
  readonly length: number;
  /** Whether links lead to directories; `undefined` where some do. */
  readonly areDirectories: boolean | undefined;
  /** The largest id that a sample has. */
  readonly largestNode: NodeId;
  readonly #samples: SampleRuns;
  readonly #makeOrder: (epoch: number) => LinkOrder;
  /** The order that was used last, and of which of the epochs it is. */
  #order: LinkOrder | undefined;
  #epoch = -1;

  private constructor(
    data: LinkTargetsData,
    makeOrder: (epoch: number) => LinkOrder,
  ) {
    this.data = data;
    this.#samples = new SampleRuns(data.samples);
    this.length = data.indices?.length ?? this.#samples.length;
    this.areDirectories = data.samples.areDirectories;
    this.largestNode = this.#samples.largestNode;
    this.#makeOrder = makeOrder;
  }

  /** Loads the module of the orders. */
  static async load(data: LinkTargetsData): Promise<LinkTargets> {
    const { module, data: given } = data.orders;
    const { reopenOrders }: {
      reopenOrders(data: unknown): (epoch: number) => LinkOrder;
    } = await import(module);
    return new LinkTargets(data, reopenOrders(given));
  }

  /**
   * The node at a position.
   *
   * @param epoch From 0, which is the first one that there are links for.
   * @param position From 0 to `length - 1`.
   */
  node(epoch: number, position: number): NodeId {
    if (epoch !== this.#epoch) {
      this.#order = this.#makeOrder(this.data.firstEpoch + epoch);
      this.#epoch = epoch;
    }
    const at = this.#order!.at(position);
    const { indices } = this.data;
    return this.#samples.node(indices === undefined ? at : indices[at]!);
  }
}
