/** The public surface: a name that appears or vanishes here is a decision, not an accident. */
import assert from "node:assert/strict";
import * as root from "../mod.ts";
import * as bags from "../src/formats/bags/mod.ts";
import * as ffrecord from "../src/formats/ffrecord/mod.ts";
import * as gulp from "../src/formats/gulp/mod.ts";
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
  WalkOptions MemberKind SkippedMember SkipReason UnreadableMember OpenSamplesOptions OpenedSamples SampleValues check open openSamplesSync openSync ${ERRORS}`;
const FUSE =
  `EndOptions KernelOptions Mount MountContainerOptions MountedPlace MountEnd MountError MountErrorCode
  MountOptions UnmountOptions mount`;
const NUMPY =
  "ErrorFacts NdArray NpyContent NumericArray NumpyError RecordfsError readNpy writeNpy";

const MSGPACK =
  `ErrorFacts MsgpackError MsgpackExt MsgpackFloat MsgpackTimestamp MsgpackValue PackableValue RecordfsError
  ReadMsgpackOptions readMsgpack writeMsgpack`;

const IMAGE =
  `AlphaImage Colorspace DecodeOptions ErrorFacts Image ImageCodec ImageCodecName ImageError ImageErrorCode
  ImageHeader JpegOptions RecordfsError encodePng imageCodec readImageHeader`;
const VIDEO =
  `DecodeVideoOptions EncodeVideoOptions ErrorFacts FrameOptions NdArray NumericArray ProgramOptions RecordfsError
  VideoError VideoErrorCode VideoFramesOptions decodeVideo encodeVideo videoFrames`;

const GULP =
  `${REMOTE} DecodeChoice FrameDecoder FrameInfo FrameMemory FrameOf FrameSelection FrameSlice
  GulpChunk GulpDirectory GulpLeftOut GulpOptions GulpRepairOptions GulpRepairReport GulpSerializer IndexError IterateOptions JsonValue LazyMap
  MetaEntries RawReadOptions RawVideo SerializerChoice UnknownIdError Video VideoId VideoMeta WaitOptions
  AbstractDatasetAdapter ActivitynetAdapter ActivitynetOptions Completed DataSet DescribedVideo FrameFile AdaptedVideo AdapterOption AdapterOptionType
  AdapterOptionValue AdapterOptions AdapterRecipe ChunkReport ChunkSlice ChunkWriter ChunkWriterOptions CsvJpegOptions
  CsvWebmOptions Custom20BNCsvJpegAdapter Custom20BNCsvWebmAdapter Custom20BNJsonVideoAdapter DatasetAdapter FailedVideo
  FoundFile FrameData Frames GulpIngestor ImageFolderAdapter ImageFolderOptions ImageListAdapter ImageListOptions
  ImageOptions IngestError IngestErrorCode IngestOptions IngestProgress IngestReport JsonVideoOptions KineticsAdapter
  KineticsOptions Label VideoOptions LabelledAdapter LabelledVideo ListedAdapter ListedOptions ListedVideo VideoFolderAdapter
  VideoFolderOptions WriteError calculateChunkSlices makeAdapter
  MsgpackFloat parseJson repairGulp ${IMAGE} FormatError FormatErrorCode`;

const BAGS =
  `${REMOTE} BagOptions BatchReadOptions BatchReadSyncOptions BatchRoom BagReader BagWriter BagWriterOptions Datapoint DatasetOptions DatasetReader DatasetWriter DecoderOptions
  DatasetWriterOptions Decoder Decoders Encoder Encoders ErrorFacts FlushOptions FormatError FormatErrorCode
  Generation IndexError IntDecoder IntEncoder IntOptions ListRange Mask NdArray NumericArray ReadOptions
  ReadSyncOptions RecordMemory RecordfsError SampleData ShardLimits ShardedDatasetOptions ShardedDatasetReader
  ShardedDatasetWriter ShardedDatasetWriterOptions Spec Storage TreeContent TreeValue ValueError WaitOptions WriteError Writer WriterBase
  decodersOf encodersOf intDecoder intEncoder jsonToValue valueToJson videoDecoder videoEncoder`;

const MDS =
  `CacheOptions RemoteOptions S3Options AlphaImage BatchReadOptions BatchReadSyncOptions BatchRoom ErrorFacts FormatError FormatErrorCode IndexError JsonValue MDSBytes MDSColumn MDSColumnOptions
  MDSInput MDSOptions MDSReader MDSReadOptions MDSReadSyncOptions MDSSample MDSValue MDSWriter MDSWriterOptions NdArray
  NpyContent NumericArray PathError PickledValue RecordfsError Storage WaitOptions WriteError WriterBase`;

const TAR =
  `CacheOptions RemoteOptions S3Options BatchReadOptions BatchReadSyncOptions BatchRoom IndexError MembersReader SampleData Storage TarMemberOptions TarOptions TarReader
  TarSample TarWriteOptions TarWriter WaitOptions WriteError WriterBase ${ERRORS}`;

const ZIP =
  `CacheOptions RemoteOptions S3Options BatchReadOptions BatchReadSyncOptions BatchRoom IndexError Storage WaitOptions WriteError ZipOptions ZipReader
  ZipReaderHandle ${ERRORS}`;
const TFRECORD =
  `FeatureValue SampleData TFExample IndexError TFRecordWriter TFRecordWriterOptions WaitOptions WriteError WriterBase ${ERRORS}`;

const PARQUET =
  `CacheOptions RemoteOptions S3Options IndexError ParquetOptions ParquetReader ParquetRow ParquetValue Storage
  WaitOptions WriteError ${ERRORS}`;

const CONVERT =
  `CacheOptions RemoteOptions S3Options ConversionError ConversionPlan ConvertOptions ConvertProgress ConvertReport ConvertTarget ConvertUnit ErrorFacts
  Generation RecordfsError Spec WaitOptions convert`;

const DATA =
  `${REMOTE} AllFrames ArrangedDataset ArrayDtype ArrayOptions BagDataset BagDatasetOptions BagOpenOptions BagOptions BatchError BatchFacts
  BatchMemory BatchOptions BatchOrder BatchSampler BatchSamplerOptions BlockShuffleOptions BlockShuffleSampler
  BufferPool CenterCrop CenterCropVideo ChooseFilesOptions ClipOptions Collate CollateOptions Collated
  Colorspace Compose ComposeVideo ConcatDataset FieldOptions SamplesDataset SamplesDatasetOptions SamplesReader ContainerOptions DataError DataErrorCode DataLoader Datapoint
  Dataset DatasetOptions DecodeImage DecodeImageOptions Decoder Decoders Epochs EpochsOptions ErrorFacts
  FFRecordDataset FFRecordDatasetOptions FileSample 
  FinishedClip FinishedImage FloatImage GetOptions GulpDataset GulpDatasetOptions GulpImageDataset GulpImageOptions
  GulpLabelOptions GulpMeta GulpSample GulpVideoDataset GulpVideoOptions Image ImageCodecName Imported
  ImportedName IndexError Interleave JitterCrop JitterCropVideo JsonValue LabelChoice LabelFunction LabelOf
  ListRange LoaderOptions LoaderState MakeDataset Mask Mix MixOptions NdArray Normalize NormalizeOptions
  NormalizeVideo NumericArray OpenContainerOptions OpenOptions Order PackedFolderDataset
  PackedFolderDatasetOptions PackedFolderOptions PadOptions Padding Permutation Picture Portable Process
  AlphaImage FeatureValue MDSBytes MDSColumn MDSColumnOptions MDSDataset MDSDatasetOptions MDSOptions MDSReadOptions MDSReadSyncOptions MDSReader MDSSample MDSValue ParquetDataset ParquetDatasetOptions ParquetOptions ParquetReader ParquetRow ParquetValue PickledValue ProcessedDataset ProcessedMDSDatasetOptions ProcessedParquetDatasetOptions ProcessedWebDatasetOptions RECIPE RandHorFlip RandHorFlipVideo RandVerFlip RandVerFlipVideo Random RandomCrop RawMDSDatasetOptions SAMPLE_DECODERS SampleDecoder SampleDecoders TFExample TarOptions TarReader TarSample WebDataset WebDatasetOptions WebSample
  RandomCropVideo RandomResizedCrop RandomResizedCropOptions RandomResizedCropVideo RandomSampler RandomSamplerOptions ReadIndexOptions Recipe RecordLocation RecordfsError Resize ResizeVideo
  Sample SampleOptions SamplePlace SampleTransform Sampler SamplerLike Scale ScaleVideo SequentialSampler
  ShardedDatasetOptions Size Spec Step Storage Subset SubsetRandomSampler SubsetSampler TextLabel ToArray ToArrayOptions
  ToArrayVideo ToArrayVideoOptions Transform TransformFunction TransformOptions Truncate UnitNorm UnitNormVideo
  OpenDatasetOptions OpenSamplesOptions ProcessedDatasetOptions SampleValues openDataset WaitOptions WeightedRandomSampler WeightedRandomSamplerOptions WriteIndexOptions batchesOf datasetFrom
  permutation readIndexFile transformSamples writeIndexFile`;

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
  "./zip": ZIP,
  "./parquet": PARQUET,
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

Deno.test("the root has few names, and its classes open what those of the formats do", async () => {
  assert.ok(ROOT.split(/\s+/).length <= 40);
  using folder = await root.PackedFolder.open("test/recipes/packed.ffr");
  assert.ok(folder instanceof ffrecord.PackedFolder);
  using reader = await root.FFRecordReader.open("test/recipes/packed.ffr");
  assert.ok(reader instanceof ffrecord.FFRecordReader);
  using directory = await root.GulpDirectory.open(
    "test/golden/gulp/v1_appended/gulp",
    { decode: false },
  );
  assert.ok(directory instanceof gulp.GulpDirectory);
  using dataset = await root.DatasetReader.open("test/golden/bags/types/data");
  assert.ok(dataset instanceof bags.DatasetReader);
  const dir = await Deno.makeTempDir();
  try {
    await using writer = await root.FFRecordWriter.open(`${dir}/a.ffr`, {
      count: 1,
    });
    await writer.write(new Uint8Array(3));
    assert.ok(writer instanceof ffrecord.FFRecordWriter);
    await root.packFolder("test/recipes/just_a_folder", `${dir}/b.ffr`);
    await root.convert(`${dir}/b.ffr`, `${dir}/folder/`);
    assert.ok((await Deno.stat(`${dir}/folder`)).isDirectory);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

const names = exportedNames();

for (const [name, expected] of Object.entries(NAMES)) {
  Deno.test(`the names that ${name} exports`, async () => {
    const wanted = new Set(expected.split(/\s+/));
    assert.deepEqual(
      (await names).get(name)!.toSorted(),
      [...wanted].toSorted(),
    );
  });
}
