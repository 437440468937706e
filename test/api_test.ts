/** The public surface: a name that appears or vanishes here is a decision, not an accident. */
import assert from "node:assert/strict";
import * as root from "../mod.ts";
import { ENTRY_POINTS, exportedNames } from "./support/exported_names.ts";

const ERRORS = "ErrorFacts FormatError FormatErrorCode PathError RecordfsError";
const REMOTE = "CacheOptions PlaceOptions RemoteOptions S3Options";
const FFRECORD =
  `${REMOTE} BatchReadOptions BatchReadSyncOptions BatchRoom DumpOptions FFRecordReader FFRecordWriter IndexError OpenOptions PackedFolder PackedListOptions
  PackError PackOptions PackProblem PackProgress PackReport
  PickleError PickleableValue PickledValue RecordLocation SampleData SampleList Storage WaitOptions WriteError
  WriterBase WriterOptions dump packFolder readPickle writePickle ${ERRORS}`;
const VFS =
  `${REMOTE} BatchReadOptions BatchReadSyncOptions BatchRoom ByteSource CheckContainerOptions CheckOptions CheckReport ChecksumKind Container ContainerBytes ContainerInfo ContainerLocation ContainerOptions ContainerPlace
  Effect EntryVisitor Field FileFacts OpenFileOptions Steps Storage MemoryStorage LOCAL_DISK runAsync Extent LazySources NodeId NodeStat NodeView ClipView DatapointView ValueDecoder ValueDecoding ValueKind ValueType ValueView decodeValue OpenContainerOptions PortableSamples PlacementError PlacementErrorCode ReadOptions ReadSamplesOptions ReopenSamples Samples SamplesHandle LostShard Shard ShardTable SampleNodes SampleRun
  SeveralLocations SeveralSources SourceList Tree TreeHandle VirtualFs VirtualStat WaitOptions WalkEntry
  WalkOptions MemberKind SkippedMember SkipReason UnreadableMember OpenSamplesOptions OpenSamplesSyncOptions OpenedSamples SampleValues check open openSamplesSync openSync ${ERRORS}`;
const FUSE =
  `EndOptions KernelOptions Mount MountContainerOptions MountedPlace MountEnd MountError MountErrorCode
  MountOptions UnmountOptions mount`;
const NUMPY = "NdArray NumericArray NumpyError readNpy writeNpy";

const MSGPACK =
  `MsgpackError MsgpackExt MsgpackFloat MsgpackTimestamp MsgpackValue PackableValue readMsgpack
  writeMsgpack`;

const IMAGE =
  `AlphaImage Colorspace Image ImageCodec ImageCodecName ImageError encodePng imageCodec
  readImageHeader`;
const VIDEO = "ProgramOptions VideoError decodeVideo encodeVideo videoFrames";

const GULP =
  `AbstractDatasetAdapter ActivitynetAdapter AdaptedVideo AdapterOption ChunkReport ChunkSlice ChunkWriter
  Custom20BNCsvJpegAdapter Custom20BNCsvWebmAdapter Custom20BNJsonVideoAdapter DatasetAdapter FrameMemory
  FrameOf FrameSelection GulpChunk GulpDirectory GulpIngestor GulpOptions GulpSerializer ImageFolderAdapter
  ImageListAdapter ImageOptions IngestError JsonValue KineticsAdapter LabelledAdapter LabelledVideo
  ListedAdapter ListedOptions UnknownIdError Video VideoFolderAdapter VideoId VideoMeta VideoOptions
  calculateChunkSlices makeAdapter parseJson repairGulp`;

const BAGS =
  `${REMOTE} BagOptions BatchReadOptions BatchReadSyncOptions BatchRoom BagReader BagWriter BagWriterOptions Datapoint DatasetOptions DatasetReader DatasetWriter DecoderOptions
  DatasetWriterOptions Decoder Decoders Encoder Encoders ErrorFacts FlushOptions FormatError FormatErrorCode
  Generation IndexError IntDecoder IntEncoder IntOptions ListRange Mask NdArray NumericArray ReadOptions
  ReadSyncOptions RecordMemory RecordfsError SampleData ShardLimits ShardedDatasetOptions ShardedDatasetReader
  ShardedDatasetWriter ShardedDatasetWriterOptions Spec Storage TreeContent TreeValue ValueError WaitOptions WriteError Writer WriterBase
  decodersOf encodersOf intDecoder intEncoder jsonToValue valueToJson videoDecoder videoEncoder`;

const MDS =
  `JsonValue MDSInput MDSWriter MDSWriterOptions NdArray NpyContent NumericArray IndexError PathError WaitOptions
  WriteError WriterBase ${ERRORS}`;

const TAR =
  `SampleData TarMemberOptions TarWriteOptions TarWriter IndexError WaitOptions WriteError WriterBase ${ERRORS}`;

const TFRECORD =
  `FeatureValue SampleData TFExample IndexError TFRecordWriter TFRecordWriterOptions WaitOptions WriteError WriterBase ${ERRORS}`;

const CONVERT =
  `CacheOptions RemoteOptions S3Options ConversionError ConversionPlan ConvertOptions ConvertProgress ConvertReport ConvertTarget ConvertUnit ErrorFacts
  Generation RecordfsError Spec WaitOptions convert`;

const DATA =
  `AllFrames ArrangedDataset BagDataset BagDatasetOptions BatchError batchesOf BatchMemory BatchSampler
  BlockShuffleSampler BufferPool CenterCrop CenterCropVideo ChooseFilesOptions Collated Compose ComposeVideo
  ConcatDataset DataError DataLoader Dataset datasetFrom DecodeImage Epochs FFRecordDataset FileSample
  FloatImage GetOptions GulpDataset GulpDatasetOptions GulpImageDataset GulpVideoDataset Imported Interleave
  JitterCrop JitterCropVideo LoaderOptions LoaderState Mix Normalize NormalizeVideo Order PackedFolderDataset
  PadOptions permutation Picture Process ProcessedWebDatasetOptions RandHorFlip RandHorFlipVideo Random
  RandomCrop RandomCropVideo RandomResizedCrop RandomResizedCropVideo RandomSampler RandVerFlip
  RandVerFlipVideo readIndexFile RECIPE Recipe Resize ResizeVideo Sample SAMPLE_DECODERS SampleDecoder
  SampleDecoders Sampler SamplesDataset SamplesReader SampleTransform Scale ScaleVideo SequentialSampler Size
  Step Subset SubsetRandomSampler SubsetSampler TarOptions TarReader TarSample ToArray ToArrayVideo Transform
  transformSamples Truncate UnitNorm UnitNormVideo WebDataset WebDatasetOptions WebSample
  WeightedRandomSampler writeIndexFile`;

const FORMATS =
  `Conversion ConversionRun ConversionSource ConversionTarget ContainerSource CountedSamples Effect FileContent FileContents FileFacts FilePlace
  FileTree Format ListedFile listedTree FormatDatasetOptions FormatEntry FormatVariant LOCAL_DISK Nearly NewVideo OpenFileOptions PlanNotes PortableSamples Probe ReadAheadOptions
  RecordList RecordSource SampleUnit ServedContainer ShownSamples Steps Storage TargetForm TargetName TreeEntry UnfitError
  VideoSource formatNames readPart registerFormat runAsync ${VFS}`;

const SERVE =
  `Access CheckOptions CheckReport ErrorFacts HandlerOptions RecordfsError RequestHandler ServedAddress ServedSource
  ServeOptions VirtualFs handler serve`;

/** What a first program needs; each has its entry point besides. */
const ROOT =
  `ConversionError ConvertOptions ConvertReport CheckContainerOptions CheckOptions CheckReport DatasetReader ErrorFacts FFRecordReader FFRecordWriter
  FormatError FormatErrorCode GulpDirectory IndexError Mount MountContainerOptions MountError MountErrorCode
  OpenContainerOptions PackedFolder PathError RecordfsError VirtualFs VirtualStat WalkEntry WalkOptions WriteError
  OpenSamplesOptions OpenedSamples SampleValues check convert mount open openSamples packFolder registerFormat`;

const NAMES: Record<string, string> = {
  ".": ROOT,
  "./formats": FORMATS,
  "./bags": BAGS,
  "./mds": MDS,
  "./tar": TAR,
  "./tfrecord": TFRECORD,
  "./convert": CONVERT,
  "./data": DATA,
  "./ffrecord": FFRECORD,
  "./gulp": GULP,
  "./image": IMAGE,
  "./video": VIDEO,
  "./vfs": VFS,
  "./fuse": FUSE,
  "./serve": SERVE,
  "./numpy": NUMPY,
  "./msgpack": MSGPACK,
};

Deno.test("there are no other entry points", () => {
  assert.deepEqual(
    Object.keys(ENTRY_POINTS).toSorted(),
    Object.keys(NAMES).toSorted(),
  );
});

/** Names that all entry points have together. */
const MOST_NAMES = 260;

const names = exportedNames();

Deno.test("each name has one entry point, there are few, and the root's verbs load what they need", async () => {
  assert.ok(ROOT.split(/\s+/).length <= 40);
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
