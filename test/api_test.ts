/** The public surface: a name that appears or vanishes here is a decision, not an accident. */
import assert from "node:assert/strict";
import { ENTRY_POINTS, exportedNames } from "./support/exported_names.ts";

const ERRORS = "ErrorFacts FormatError FormatErrorCode PathError RecordfsError";
const FFRECORD =
  `BatchReadOptions BatchReadSyncOptions BatchRoom DumpOptions FFRecordReader FFRecordWriter IndexError OpenOptions PackedFolder PackedListOptions
  PackError PackOptions PackProblem PackProgress PackReport
  PickleError PickleableValue PickledValue ReaderSeed RecordLocation SampleData SampleList WaitOptions WriteError
  WriterOptions dump packFolder readPickle writePickle ${ERRORS}`;
const VFS =
  `ByteSource CheckOptions CheckReport Container ContainerInfo ContainerOptions EntryVisitor
  Extent LazySources NodeId NodeStat OpenContainerOptions SampleNodes SampleRun SourceList Tree TreeSeed VirtualFs VirtualStat WaitOptions WalkEntry
  WalkOptions check open openSync ${ERRORS}`;
const FUSE =
  `EndOptions KernelOptions Mount MountContainerOptions MountEnd MountError MountErrorCode
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
  `DecodeChoice FrameDecoder FrameInfo FrameMemory FrameOf FrameSelection FrameSlice
  GulpChunk GulpDirectory GulpLeftOut GulpOptions GulpRepairOptions GulpRepairReport GulpSerializer IndexError IterateOptions JsonValue LazyMap
  MetaEntries RawReadOptions RawVideo SerializerChoice UnknownIdError Video VideoId VideoMeta WaitOptions
  AbstractDatasetAdapter ActivitynetAdapter ActivitynetOptions ActivitynetVideo KineticsClip ListedImage ListedLabels AdaptedVideo AdapterOption AdapterOptionType
  AdapterOptionValue AdapterOptions AdapterRecipe ChunkReport ChunkSlice ChunkWriter ChunkWriterOptions CsvJpegOptions
  CsvWebmOptions Custom20BNCsvJpegAdapter Custom20BNCsvWebmAdapter Custom20BNJsonVideoAdapter DatasetAdapter FailedVideo
  FolderFile FrameData Frames GulpIngestor ImageFolderAdapter ImageFolderOptions ImageListAdapter ImageListOptions
  ImageOptions IngestError IngestErrorCode IngestOptions IngestProgress IngestReport JsonVideoOptions KineticsAdapter
  KineticsOptions Label LabelledAdapter LabelledVideo ListedAdapter ListedOptions ListedVideo VideoFolderAdapter
  VideoFolderOptions WriteError calculateChunkSlices makeAdapter
  MsgpackFloat parseJson repairGulp ${IMAGE} FormatError FormatErrorCode`;

const BAGS =
  `BagOptions BatchReadOptions BatchReadSyncOptions BatchRoom BagReader BagWriter BagWriterOptions Datapoint DatasetOptions DatasetReader DatasetWriter DecoderOptions
  DatasetWriterOptions Decoder Decoders Encoder Encoders ErrorFacts FlushOptions FormatError FormatErrorCode
  Generation IndexError IntDecoder IntEncoder IntOptions ListRange Mask NdArray NumericArray ReadOptions
  ReadSyncOptions RecordMemory RecordfsError SampleData ShardLimits ShardedDatasetOptions ShardedDatasetReader
  ShardedDatasetWriter ShardedDatasetWriterOptions Spec Storage TreeContent TreeValue ValueError WaitOptions WriteError
  decodersOf encodersOf intDecoder intEncoder jsonToValue valueToJson videoDecoder videoEncoder`;

const CONVERT =
  `ConversionError ConversionPlan ConvertOptions ConvertProgress ConvertReport ConvertTarget ConvertUnit ErrorFacts
  Generation RecordfsError Spec WaitOptions convert`;

const DATA =
  `AllFrames ArrayDtype ArrayOptions BagDataset BagDatasetOptions BagOpenOptions BagOptions BatchError BatchFacts
  BatchMemory BatchOptions BatchOrder BatchSampler BatchSamplerOptions BlockShuffleOptions BlockShuffleSampler
  BufferPool CenterCrop CenterCropVideo ChooseFilesOptions ClipOptions Collate CollateOptions Collated
  Colorspace Compose ComposeVideo ConcatDataset ContainerOptions DataError DataErrorCode DataLoader Datapoint
  Dataset DatasetOptions DecodeImage DecodeImageOptions Decoder Decoders Epochs EpochsOptions ErrorFacts
  FFRecordDataset FFRecordDatasetOptions FileDataset FileDatasetOptions FileOptions FileSample FilesDataset
  FinishedClip FinishedImage FloatImage GetOptions GulpDatasetOptions GulpImageDataset GulpImageOptions
  GulpLabelOptions GulpMeta GulpSample GulpVideoDataset GulpVideoOptions Image ImageCodecName Imported
  ImportedName IndexError Interleave JitterCrop JitterCropVideo JsonValue LabelChoice LabelFunction LabelOf
  ListRange LoaderOptions LoaderState MakeDataset Mask Mix MixOptions NdArray Normalize NormalizeOptions
  NormalizeVideo NumericArray OpenContainerOptions OpenOptions OpenedFiles Order PackedFolderDataset
  PackedFolderDatasetOptions PackedFolderOptions PadOptions Padding Permutation Picture Portable Process
  ProcessedDataset RECIPE RandHorFlip RandHorFlipVideo RandVerFlip RandVerFlipVideo Random RandomCrop
  RandomCropVideo RandomSampler RandomSamplerOptions Recipe RecordLocation RecordfsError Resize ResizeVideo
  Sample SampleOptions SampleTransform Sampler SamplerLike Scale ScaleVideo SequentialSampler
  ShardedDatasetOptions Size Spec Step Subset SubsetRandomSampler SubsetSampler TextLabel ToArray ToArrayOptions
  ToArrayVideo ToArrayVideoOptions Transform TransformFunction TransformOptions Truncate UnitNorm UnitNormVideo
  WaitOptions WeightedRandomSampler WeightedRandomSamplerOptions WriteIndexOptions batchesOf datasetFrom
  permutation readIndexFile transformSamples writeIndexFile`;

const NAMES: Record<string, string> = {
  ".":
    `${FFRECORD} ${VFS} ${FUSE} ${NUMPY} ${MSGPACK} ${IMAGE} ${VIDEO} ${GULP} ${BAGS} ${CONVERT} ${DATA}`,
  "./bags": BAGS,
  "./convert": CONVERT,
  "./data": DATA,
  "./ffrecord": FFRECORD,
  "./gulp": GULP,
  "./image": IMAGE,
  "./video": VIDEO,
  "./vfs": VFS,
  "./fuse": FUSE,
  "./numpy": NUMPY,
  "./msgpack": MSGPACK,
};

Deno.test("there are no other entry points", () => {
  assert.deepEqual(
    Object.keys(ENTRY_POINTS).toSorted(),
    Object.keys(NAMES).toSorted(),
  );
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
