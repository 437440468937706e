/** The public surface: a name that appears or vanishes here is a decision, not an accident. */
import assert from "node:assert/strict";
import * as root from "../mod.ts";
import { ENTRY_POINTS, exportedNames } from "./support/exported_names.ts";

const ERRORS = "ErrorFacts FormatError FormatErrorCode PathError RecordfsError";
const REMOTE = "CacheOptions PlaceOptions RemoteOptions S3Options";
const FFRECORD =
  `dump FFRecordReader FFRecordWriter OpenOptions PackedFolder PackError packFolder PickleableValue
  PickledValue PickleError readPickle RecordLocation SampleData writePickle WriterBase`;
const VFS =
  `BatchReadOptions ByteSource ContainerInfo ContainerLocation ContainerOptions decodeValue Field
  LOCAL_DISK MemoryStorage NodeView openSamplesSync openSync PlacementError PlaceOptions
  ReadSamplesOptions RemoteOptions runAsync SeveralLocations Steps Storage ValueType WaitOptions`;
const FUSE = "MountOptions";
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
  `BagOptions BagReader BagWriter Datapoint DatasetOptions DatasetReader DatasetWriter
  DatasetWriterOptions Decoders decodersOf Encoders encodersOf Generation intDecoder intEncoder Mask
  RecordMemory ShardedDatasetOptions ShardedDatasetReader ShardedDatasetWriter ValueError videoDecoder
  videoEncoder Writer`;

const MDS = "MDSWriter";

const TAR = "TarWriter";

const ZIP =
  `CacheOptions RemoteOptions S3Options BatchReadOptions BatchReadSyncOptions BatchRoom IndexError Storage WaitOptions WriteError ZipOptions ZipReader
  ZipReaderHandle ${ERRORS}`;
const TFRECORD = "TFRecordWriter";

const PARQUET =
  `CacheOptions RemoteOptions S3Options IndexError ParquetOptions ParquetReader ParquetRow ParquetValue Storage
  WaitOptions WriteError ${ERRORS}`;

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
  `Container Extent Format FormatEntry formatNames listedTree NodeId NodeStat PortableSamples Probe
  readPart Samples SamplesHandle ShardTable Tree TreeHandle`;

const SERVE = "handler HandlerOptions serve ServeOptions";

/** What a first program needs; each has its entry point besides. */
const ROOT =
  `check CheckOptions CheckReport ConversionError convert ConvertOptions ConvertReport ErrorFacts
  FormatError IndexError Mount mount MountError open OpenContainerOptions openDataset OpenedSamples
  openSamples OpenSamplesOptions PathError RecordfsError registerFormat SampleValues VirtualFs
  WalkEntry WriteError`;

const NAMES: Record<string, string> = {
  ".": ROOT,
  "./formats": FORMATS,
  "./bags": BAGS,
  "./mds": MDS,
  "./tar": TAR,
  "./zip": ZIP,
  "./parquet": PARQUET,
  "./tfrecord": TFRECORD,
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
