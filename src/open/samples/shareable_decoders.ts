import type { SampleDecoders } from "../../codecs/file_values.ts";
import { DataError } from "../../data/data_error.ts";
import {
  argument,
  followArgument,
  type Imported,
  importedValue,
} from "../../data/recipe.ts";
import { perform, type Steps } from "../../io/concurrency/steps.ts";
import { mustWait } from "../../io/storage/must_wait.ts";
import type { Storage } from "../../io/storage/storage.ts";
import type { CallersDecoders } from "../../tree/samples/own_decoders.ts";
import type { SamplesHandle } from "../../tree/samples/samples.ts";
import { SamplesByField } from "../../tree/samples/samples_by_field.ts";
import { reopenSamples as reopenHandle } from "../../tree/samples/samples_reader.ts";

/** Data that other threads need to reopen samples with decoders. */
interface Seed {
  readonly samples: SamplesHandle;
  /** Argument of a recipe. */
  readonly decoders: unknown;
}

/**
 * Imports the decoders that an option names.
 *
 * @throws {DataError} With code `not-portable` if the module does not export an object.
 */
export async function importDecoders(
  from: SampleDecoders | Imported<never> | undefined,
): Promise<SampleDecoders | undefined> {
  if (!isImported(from)) return from;
  const found = await importedValue(from);
  if (typeof found === "object" && found !== null) {
    return found as SampleDecoders;
  }
  const path = from instanceof URL ? from.href : String(from.module);
  throw new DataError(
    "not-portable",
    `Cannot decode by the module ${path}: the export is not an object of decoders. Export one`,
    { path },
  );
}

/** Throws a TypeError if decoders have to be imported, which takes waiting. */
export function requireImported(decoders: SampleDecoders | undefined): void {
  if (!isImported(decoders)) return;
  throw new TypeError(
    "Cannot import the module of the option 'decoders' without waiting. " +
      "Give the decoders themselves, or call openSamples",
  );
}

function isImported(
  decoders: SampleDecoders | Imported<never> | undefined,
): decoders is Imported<never> {
  if (decoders instanceof URL) return true;
  const module: unknown = decoders?.module; // an extension may have this name too
  return typeof module === "string" || module instanceof URL;
}

/** Returns decoders in the form that samples take. */
export function shareableDecoders(decoders: SampleDecoders): CallersDecoders {
  return {
    decoders,
    share(samples) {
      const portable = argument(decoders, "The option 'decoders'");
      const data: Seed = { samples, decoders: portable };
      return { module: import.meta.url, data };
    },
  };
}

/** Reopens samples in another thread, and imports their decoders there. */
export function* reopenSamples(
  { samples: handle, decoders: portable }: Seed,
  storage: Storage,
): Steps<SamplesByField> {
  return yield* perform({
    sync(): SamplesByField {
      throw mustWait("the container of another thread");
    },
    async async(signal) {
      const decoders = await followArgument(portable) as SampleDecoders;
      const samples = await reopenHandle(handle, { storage, signal });
      const own = shareableDecoders(decoders);
      return new SamplesByField(samples, { decoders: own });
    },
  });
}
