import type { PlanNotes } from "../../../convert/conversion.ts";
import {
  ContainerSource,
  readIfThere,
  type SourceOptions,
} from "../../../convert/from/source.ts";
import type { SampleRows } from "../../../convert/samples/sample_rows.ts";
import type {
  NewVideo,
  VideoSource,
} from "../../../convert/from/video_source.ts";
import { LABEL_FILE } from "../../../convert/label_file.ts";
import { decodeName } from "../../../base/names.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { SampleRuns } from "../../../tree/sample_runs.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import { idOfName, nameOfId } from "../ids/id_names.ts";
import { encodeId } from "../ids/id_text.ts";
import { DIRECTORY } from "../kinds.ts";
import { parseLabels } from "../meta/labels.ts";
import type { VideoPlace } from "../read/chunk_table.ts";
import type { GulpSamples } from "../read/gulp_samples.ts";

/** Frames of a long video per read. */
const FRAMES = 64;

/** Conversion source of the videos that the container shows. */
export class GulpSource extends ContainerSource {
  override readonly folderChange = "videos are sorted by their names";
  readonly #samples: GulpSamples;
  readonly #shown: SampleRuns;
  readonly #labels: VideoSource["labels"];

  private constructor(container: VirtualFs, labels: VideoSource["labels"]) {
    const isDirectory = container.info.kind === DIRECTORY;
    super(container, isDirectory ? "GulpIO" : "a chunk of GulpIO");
    this.#samples = container.samples as GulpSamples;
    this.#shown = SampleRuns.of(container.tree.samples!());
    this.#labels = labels;
  }

  static async open(
    container: VirtualFs,
    options: SourceOptions,
  ): Promise<GulpSource> {
    const path = `${container.location}/${LABEL_FILE}`;
    // As in a tree, a single chunk has no labels.
    const bytes = container.info.kind === DIRECTORY
      ? await readIfThere(path, options)
      : undefined;
    return new GulpSource(container, bytes && { path, bytes });
  }

  override noteFiles(notes: PlanNotes): void {
    notes.kept.push("frames, meta data, ids, numbers of labels");
    notes.changed.push("chunks become one directory");
    this.noteContents(notes);
    const cut: string[] = [];
    for (const id of this.#ids()) {
      const name = decodeName(nameOfId(encodeId(id)));
      if (idOfName(name) !== id) cut.push(name);
    }
    if (cut.length === 0) return;
    const what = `ids longer than names can be (${cut.length})`;
    notes.lost.push(`${what}, which become ${listed(cut)}`);
  }

  /** Plans count skipped videos; warnings name them. */
  override get losses(): readonly string[] {
    if (this.subset !== undefined) return [];
    return (this.info.unreadable ?? []).map(({ message }) => message);
  }

  override noteContents({ lost }: PlanNotes): void {
    const several = [
      ...this.#ids(({ chunk: { meta }, video }) =>
        meta.columns.metaCounts[video]! > 1
      ),
    ];
    if (several.length > 0) {
      lost.push(`all but the first metadata of ${listed(several)}`);
    }
    const bad = this.#shown.length - this.#count;
    if (bad === 0) return;
    lost.push(`videos that cannot be read (${bad}), named by warnings`);
  }

  override readonly samplesAreFiles = true;

  override samples(
    notes: PlanNotes,
    options: WaitOptions,
  ): Promise<SampleRows | undefined> {
    this.noteContents(notes);
    if (this.#labels !== undefined) notes.lost.push(LABEL_FILE);
    return super.samples(notes, options);
  }

  protected override get sampleIndices(): readonly number[] {
    return Array.from(this.#shownIndices());
  }

  override videos(notes: PlanNotes): VideoSource {
    const labels = this.#labels;
    notes.kept.push("frames as JPEGs, ids, the order of videos");
    notes.changed.push("all chunks become one sequence");
    if (labels !== undefined) parseLabels(labels.path, labels.bytes);
    this.noteContents(notes);
    return {
      total: this.#count,
      labels,
      countEmpty: () =>
        [...this.#ids(({ chunk: { meta }, video }) =>
          meta.columns.frameCounts[video] === 0
        )].length,
      read: (options) => this.#read(options),
    };
  }

  override get isTyped(): boolean {
    return true;
  }

  get #count(): number {
    if (this.subset === undefined) return this.info.facts!["videos"]!;
    return this.sampleIndices.length;
  }

  async *#read(
    options: WaitOptions,
  ): AsyncGenerator<NewVideo, void, undefined> {
    for (const [id, place] of this.#videos()) {
      const { chunk: { meta }, video } = place;
      yield {
        id,
        name: `the video ${JSON.stringify(id)} of ${this.path}`,
        meta: await runAsync(meta.readMeta(video), options.signal),
        frames: framesOf(place, options),
      };
    }
  }

  /** Yields the ids of the videos shown, or of those wanted. */
  *#ids(
    isWanted: (place: VideoPlace) => boolean = () => true,
  ): Generator<string, void, undefined> {
    for (const [id, place] of this.#videos()) if (isWanted(place)) yield id;
  }

  *#videos(): Generator<[id: string, place: VideoPlace], void, undefined> {
    const { shards } = this.#samples;
    for (const index of this.#shownIndices()) {
      yield [shards.id(index), shards.at(index)];
    }
  }

  *#shownIndices(): Generator<number, void, undefined> {
    const indices = this.subset?.indices;
    for (let i = 0; i < this.#shown.length; i++) {
      if (this.#shown.node(i) !== 0) yield indices?.[i] ?? i;
    }
  }
}

async function* framesOf(
  { chunk, video }: VideoPlace,
  { signal }: WaitOptions,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  for (let start = 0;; start += FRAMES) {
    const reading = chunk.readVideo(video, { start, stop: start + FRAMES });
    const { frames } = await runAsync(reading, signal);
    yield* frames;
    if (frames.length < FRAMES) return;
  }
}

/** Names that a plan lists. */
const LISTED = 3;

/** Lists the first names, and the number of others. */
export function listed(
  names: readonly string[],
  show = (name: string): string => JSON.stringify(name),
): string {
  const first = names.slice(0, LISTED).map((name) => show(name)).join(", ");
  const more = names.length - LISTED;
  return more > 0 ? `${first} and ${more} more` : first;
}
