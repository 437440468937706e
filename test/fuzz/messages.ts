/** What the parent and its workers tell each other, a line of JSON each. */
import type { Finding, Mutated } from "./scene.ts";

/** What a worker is started with. */
export interface WorkerOptions {
  /** Where it says what it is at. */
  readonly stepFile: string;
  /** Modules to load first. */
  readonly modules: readonly string[];
}

/** A case to be driven. */
export interface CaseOrder {
  readonly seed: number;
  readonly number: number;
  /** Of a case that was kept: the container is taken as it is. */
  readonly kept?: KeptContainer | undefined;
}

/** A container that was kept, and what is known of it. */
export interface KeptContainer extends Mutated {
  /** The directory with its files. */
  readonly container: string;
  /** The name of what was mutated. */
  readonly original: string;
}

/** What a worker says of a case. */
export interface CaseDone {
  readonly number: number;
  readonly format: string;
  readonly drives: readonly string[];
  readonly findings: readonly Finding[];
}

/** What a worker says. */
export type WorkerMessage = { readonly ready: true } | {
  readonly done: CaseDone;
};
