import { localPath } from "../../io/storage/local_path.ts";
import { LOSSY, optionText } from "../../base/named_option.ts";
import { storedAt } from "../../io/storage/stored_location.ts";
import { LOCAL_DISK } from "../../io/storage/storage.ts";
import {
  type Conversion,
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

/** Implements `convert` of `mod.ts`, which loads this module on demand. */
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
      options.onWarning?.(`skipped: ${message}`);
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
      throw wouldLose(from, conversion, opened.losses, plan.lost);
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
    `Cannot convert ${message}; nothing was written. Skip it with ${
      optionText(LOSSY)
    }`,
    path,
    [message],
    error,
    [LOSSY],
  );
}

/**
 * Makes the error of a conversion that would lose something.
 *
 * @param unread What the source skips or cannot read: a sentence each.
 * @param lost These, and what the target cannot represent.
 */
function wouldLose(
  from: string,
  { to, notes }: Conversion,
  unread: readonly string[],
  lost: readonly string[],
): ConversionError {
  const what = notes.lost.length > 0 ? [listed(notes.lost)] : [];
  if (unread.length > 0) {
    what.push(`what is skipped or cannot be read in it (${listed(unread)})`);
  }
  return new ConversionError(
    "would-lose",
    `Cannot convert ${from} to ${to} without losing ${what.join(", and ")}; ` +
      `nothing was written. Convert it anyway with ${optionText(LOSSY)}`,
    from,
    lost,
    undefined,
    [LOSSY],
  );
}

/** Lists the first losses; the error's field has all of them. */
function listed(losses: readonly string[]): string {
  const more = losses.length - LISTED;
  const first = losses.slice(0, LISTED).join("; ");
  return more > 0 ? `${first}; and ${more} more` : first;
}
