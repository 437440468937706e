/** Messages between the parent and its workers, one line of JSON each. */
import type { Finding, Mutated } from "./scene.ts";

/** Options of a worker. */
export interface WorkerOptions {
  /** File in which the worker records its current step. */
  readonly stepFile: string;
  /** Modules to load first. */
  readonly modules: readonly string[];
}

/** A case to run. */
export interface CaseOrder {
  readonly seed: number;
  readonly number: number;
  /** A saved container, used unchanged. */
  readonly kept?: KeptContainer | undefined;
}

/** A saved container and its description. */
export interface KeptContainer extends Mutated {
  /** Directory with the container's files. */
  readonly container: string;
  /** Name of the original that was mutated. */
  readonly original: string;
}

/** Result of a case. */
export interface CaseDone {
  readonly number: number;
  readonly format: string;
  readonly drives: readonly string[];
  readonly findings: readonly Finding[];
}

/** Message from a worker. */
export type WorkerMessage = { readonly ready: true } | {
  readonly done: CaseDone;
};
