import { localPath } from "../../io/storage/local_path.ts";
import { storedAt } from "../../io/storage/place.ts";
import { LOCAL_DISK } from "../../io/storage/storage.ts";
import {
  ConversionError,
  type ConvertOptions,
  type ConvertReport,
  Run,
} from "../../convert/conversion.ts";
import { isOfMember } from "../../convert/from/file_tree.ts";
import { openSource } from "./open_source.ts";
import { targetOf } from "./find_target.ts";
import { Replacement } from "../../convert/to/replacement.ts";
import {
  requireAbsent,
  requireApart,
  requireOptions,
} from "../../convert/to/target.ts";

/** Most losses that a message lists; each video may cause one. */
const LISTED = 10;

/**
 * Converts a container, or a folder, to another format, or to another generation of Bags.
 *
 * Plans what is kept, changed and lost before writing anything. If something would be lost, it writes nothing, unless
 * `lossy` is set. The same applies to a value found during the conversion that has no form in the target, such as a
 * number below 0 for generation 1 of Bags; with `lossy` it is skipped and counted.
 *
 * Types of Bags mean what the original packages ship: the decoders of the target's generation return what those of the
 * source's returned. So `int` gets a sign byte where it needs one, `array(float32,4)` of generation 1 becomes
 * granular's `array`, texts become `msgpack` where some are empty and the target has no empty records, and lists become
 * `msgpack` or `tree` in generation 3, which has none. Custom types keep their bytes.
 *
 * `label2idx.json` of GulpIO is copied into the directory of a dataset, or of its first shard, and restored from there;
 * no reader of the original packages reads it.
 *
 * The target appears when it is complete. Memory use is that of the largest value, or of the largest list that becomes
 * one value.
 *
 * @param source A container of any format, also by URL, or a local folder.
 * @param destination Where to write. Nothing may exist there, except an empty directory if the target is a directory,
 * unless the option `replace` is set.
 * @throws {ConversionError} If something would be lost, or there is no conversion; nothing is written.
 * @throws {IndexError} If the option `subset` has the index of a sample that does not exist.
 * @throws {DataError} If the option `subset` names an index file that does not fit the source.
 * @throws {FormatError} If the source is damaged.
 * @throws {WriteError} If the target can't be written, or exists.
 *
 * @example From generation 1 of Bags to 3
 * ```ts
 * import { convert } from "@recordfs/recordfs/convert";
 * import { DatasetReader } from "@recordfs/recordfs/bags";
 * import assert from "node:assert/strict";
 *
 * const target = `${await Deno.makeTempDir()}/data`;
 * const source = "test/golden/bags/lists/data";
 * const { plan } = await convert(source, target, { to: "bags", generation: 3 });
 * assert.deepEqual(plan.lost, []);
 *
 * using before = await DatasetReader.open(source);
 * using after = await DatasetReader.open(target);
 * assert.deepEqual((await after.get(0)).bar, (await before.get(0)).bar);
 * ```
 */
export async function convert(
  source: string | URL,
  destination: string | URL,
  options: ConvertOptions = {},
): Promise<ConvertReport> {
  const place = storedAt(source, options);
  const { path: from } = place;
  const isLocal = place.storage === LOCAL_DISK;
  const to = localPath(destination);
  if (isLocal) requireApart(from, to);
  const opened = await openSource(place, options);
  let replacement: Replacement | undefined;
  let leftOut = 0;
  if (options.lossy === true) {
    opened.leaveOutUnreadable(({ message }) => {
      leftOut++;
      options.onWarning?.(`left out: ${message}`);
    });
  }
  try {
    const { name, target } = await targetOf(opened, to, options);
    requireOptions(opened, target, name, options);
    const form = target.form(to, options);
    if (options.replace === true) {
      const kept = isLocal ? from : undefined;
      replacement = await Replacement.of(kept, to, target.content, form);
    } else await requireAbsent(to, target, form, options.signal);
    const newPath = replacement?.path ?? to;
    let conversion = await target.plan(opened, newPath, options);
    const plan = {
      from: conversion.from,
      to: conversion.to,
      ...conversion.notes,
      lost: [...conversion.notes.lost, ...opened.losses],
      ...opened.subset === undefined ? {} : {
        subset: {
          samples: opened.subset.indices.length,
          of: opened.subset.of,
        },
      },
    };
    options.onPlan?.(plan);
    if (plan.lost.length > 0 && options.lossy !== true) {
      throw new ConversionError(
        "would-lose",
        `Cannot convert ${from} to ${conversion.to} without losing ${
          listed(plan.lost)
        }; nothing was written. The option \`lossy\` converts it all the same`,
        from,
        plan.lost,
      );
    }
    let run = new Run(from, options, conversion);
    let count: number;
    try {
      count = await conversion.write(run);
    } catch (error) {
      if (options.lossy !== true || !isOfMember(error)) throw error;
      // The plan relied on that file.
      await opened.findUnreadable(options);
      conversion = await target.plan(opened, newPath, options);
      run = new Run(from, options, conversion);
      count = await conversion.write(run);
    }
    options.signal?.throwIfAborted();
    await replacement?.publish();
    const { unit } = conversion;
    return { path: to, plan, unit, count, leftOut: leftOut + run.leftOut };
  } catch (error) {
    const known = asLoss(error, from);
    throw replacement?.asPublished(known) ?? known;
  } finally {
    opened.close();
    replacement?.discard();
  }
}

/** Turns an error about a member found unreadable during the conversion into a loss. */
function asLoss(error: unknown, path: string): unknown {
  if (!isOfMember(error)) return error;
  const { message } = error;
  return new ConversionError(
    "would-lose",
    `Cannot convert ${message}; nothing was written. The option \`lossy\` leaves it out`,
    path,
    [message],
    error,
  );
}

/** Lists the first losses; the error's field has all of them. */
function listed(losses: readonly string[]): string {
  const more = losses.length - LISTED;
  const first = losses.slice(0, LISTED).join("; ");
  return more > 0 ? `${first}; and ${more} more` : first;
}
