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
  /** Number of samples of an epoch. */
  readonly length: number;
  /** How many files a sample is at most, each of which has a link. */
  readonly parts: number;
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
    this.parts = this.#samples.most;
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
   * The node at a position; 0 where the sample is left out.
   *
   * @param epoch From 0, which is the first one that there are links for.
   * @param position From 0 to `length - 1`.
   * @param part Which of the sample's files.
   */
  node(epoch: number, position: number, part = 0): NodeId {
    const first = this.#samples.node(this.#sampleAt(epoch, position));
    return first === 0 ? 0 : first + part;
  }

  /** Whether the sample at a position has a file of that number; the first is always there. */
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
