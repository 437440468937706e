/** The public API: names may only be added or removed deliberately. */
import assert from "node:assert/strict";
import * as root from "../mod.ts";
import { ENTRY_POINTS, exportedNames } from "./support/exported_names.ts";

/** Exported names by entry point. Each name has only one. */
const NAMES: Readonly<Record<string, string>> = {
  ".":
    `check CheckOptions CheckReport ConversionError convert ConvertOptions ConvertReport
    ErrorFacts FormatError IndexError Mount mount MountError open OpenContainerOptions
    openDataset OpenedSamples openSamples OpenSamplesOptions PathError RecordfsError
    registerFormat SampleValues VirtualFs WalkEntry WriteError`,
  "./formats":
    `Container Extent Format FormatDescriptor listedTree NodeId NodeStat PortableSamples Probe
    readPart Samples SamplesHandle ShardTable Tree TreeHandle`,
  "./ffrecord":
    `dump FFRecordReader FFRecordWriter OpenOptions PackedFolder PackError packFolder
    PickleableValue PickledValue PickleError readPickle RecordLocation SampleData writePickle
    WriterBase`,
  "./gulp":
    `AbstractDatasetAdapter ActivitynetAdapter AdaptedVideo AdapterOption calculateChunkSlices
    ChunkReport ChunkSlice ChunkWriter Custom20BNCsvJpegAdapter Custom20BNCsvWebmAdapter
    Custom20BNJsonVideoAdapter DatasetAdapter FrameMemory FrameOf FrameSelection GulpChunk
    GulpDirectory GulpIngestor GulpOptions GulpSerializer ImageFolderAdapter ImageListAdapter
    ImageOptions IngestError JsonValue KineticsAdapter LabelledAdapter LabelledVideo
    ListedAdapter ListedOptions makeAdapter parseJson repairGulp UnknownIdError Video
    VideoFolderAdapter VideoId VideoMeta VideoOptions`,
  "./mds": `MDSWriter`,
  "./tar": `TarWriter`,
  "./tfrecord": `TFRecordWriter`,
  "./bags":
    `BagOptions BagReader BagWriter Datapoint DatasetOptions DatasetReader DatasetWriter
    DatasetWriterOptions Decoders decodersOf Encoders encodersOf Generation intDecoder
    intEncoder Mask RecordMemory ShardedDatasetOptions ShardedDatasetReader ShardedDatasetWriter
    ValueError videoDecoder videoEncoder Writer`,
  "./data":
    `AllFrames ArrangedDataset BagDataset BagDatasetOptions BatchError batchesOf BatchMemory
    BatchSampler BlockShuffleSampler BufferPool CenterCrop CenterCropVideo ChooseFilesOptions
    Collated Compose ComposeVideo ConcatDataset DataError DataLoader Dataset datasetFrom
    DecodeImage Epochs FFRecordDataset FileSample FloatImage GetOptions GulpDataset
    GulpDatasetOptions GulpImageDataset GulpVideoDataset Imported Interleave JitterCrop
    JitterCropVideo LoaderOptions LoaderState Mix Normalize NormalizeVideo Order
    PackedFolderDataset PadOptions permutation Picture Process RandHorFlip RandHorFlipVideo
    Random RandomCrop RandomCropVideo RandomResizedCrop RandomResizedCropVideo RandomSampler
    RandVerFlip RandVerFlipVideo readIndexFile RECIPE Recipe Resize ResizeVideo Sample
    SampleDecoders Sampler SamplesDataset SamplesReader SampleTransform Scale ScaleVideo
    SequentialSampler Size Step Subset SubsetRandomSampler SubsetSampler ToArray ToArrayVideo
    Transform transformSamples Truncate UnitNorm UnitNormVideo WeightedRandomSampler
    writeIndexFile`,
  "./image":
    `AlphaImage Colorspace encodePng Image ImageCodec imageCodec ImageCodecName ImageError
    readImageHeader`,
  "./video": `decodeVideo encodeVideo ProgramOptions VideoError videoFrames`,
  "./vfs":
    `BatchReadOptions ByteSource ContainerInfo ContainerLocation ContainerOptions decodeValue
    Field LOCAL_DISK MemoryStorage NodeView openSamplesSync openSync PlacementError LocationOptions
    ReadSamplesOptions RemoteOptions runAsync SeveralLocations Steps Storage ValueType
    WaitOptions`,
  "./fuse": `MountOptions`,
  "./serve": `handler HandlerOptions serve ServeOptions`,
  "./numpy": `NdArray NumericArray NumpyError readNpy writeNpy`,
  "./msgpack":
    `MsgpackError MsgpackExt MsgpackFloat MsgpackTimestamp MsgpackValue PackableValue readMsgpack
    writeMsgpack`,
};

Deno.test("there are no other entry points", () => {
  assert.deepEqual(
    Object.keys(ENTRY_POINTS).toSorted(),
    Object.keys(NAMES).toSorted(),
  );
});

/** Maximum number of names in all entry points. */
const MOST_NAMES = 260;

const names = exportedNames();

Deno.test("each name has one entry point, there are few, and the root's verbs load what they need", async () => {
  assert.ok(NAMES["."]!.split(/\s+/).length <= 40);
  const entries = [...(await names).values()];
  const all = entries.flat();
  const distinct = new Set(all);
  const twice = all.filter((name, i) => all.indexOf(name) !== i);
  assert.deepEqual(twice, []);
  assert.ok(distinct.size <= MOST_NAMES, `${distinct.size} names`);
  const dir = await Deno.makeTempDir();
  try {
    await root.convert("test/recipes/packed.ffr", `${dir}/folder/`);
    assert.ok((await Deno.stat(`${dir}/folder`)).isDirectory);
    using dataset = await root.openDataset("test/recipes/packed.ffr");
    assert.ok(dataset.length > 0);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

for (const [name, expected] of Object.entries(NAMES)) {
  Deno.test(`the names that ${name} exports`, async () => {
    const wanted = new Set(expected.split(/\s+/));
    assert.deepEqual(
      (await names).get(name)!.toSorted(),
      [...wanted].toSorted(),
    );
  });
}
