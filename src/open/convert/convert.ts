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

/** Losses that a message lists; there may be one for each video. */
const LISTED = 10;

/**
 * Converts a container, or a folder, to another format, or to another generation of Bags.
 *
 * What that keeps, changes and loses is planned before anything is written; where something would be
 * lost, nothing is, unless `lossy` is set. What has no form in the target and is found only underway, as
 * a number below 0 for generation 1 of Bags, ends the conversion in the same way; with `lossy` it is
 * left out, and counted.
 *
 * Types of Bags mean what the original packages ship: values are such that the decoders of the
 * target's generation give what those of the source's did. So `int` gets a sign byte where it needs
 * one, `array(float32,4)` of generation 1 becomes granular's `array`, texts become `msgpack` where some
 * are empty and the target has no empty records, and lists become `msgpack` or `tree` in generation 3,
 * which has none. Types of one's own keep their bytes.
 *
 * `label2idx.json` of GulpIO goes along into the directory of a dataset, or of its first shard, and
 * comes back from there: no reader of the original packages looks at it.
 *
 * The target appears when it is complete. It takes as much memory as the largest value, or list that
 * becomes one.
 *
 * @param source A container of any format, also by its URL, or a folder of this machine.
 * @param destination Where to: nothing may be there, or an empty directory where it becomes one, unless the
 * option `replace` is set.
 * @throws {ConversionError} If something would be lost, or there is no way; nothing is written.
 * @throws {FormatError} If the source is damaged.
 * @throws {WriteError} If the target can't be written, or is there.
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
      // What was planned counts on that file.
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

/** A member that cannot be read, found underway, is a loss as those that were known. */
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

/** All is in the error's field. */
function listed(losses: readonly string[]): string {
  const more = losses.length - LISTED;
  const first = losses.slice(0, LISTED).join("; ");
  return more > 0 ? `${first}; and ${more} more` : first;
}
