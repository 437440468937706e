/** Reads the output of conversions and writers with Python packages: all samples, with their types. */
import { PEERS_PYTHON } from "../programs/programs.ts";
import { pythonLines } from "../programs/python.ts";
import {
  DESCRIBED,
  type PythonSample,
  type PythonValue,
} from "./python_values.ts";

/** Returns a script that prints the samples of each path on standard input, one line per path. */
function script(read: string): string {
  return `${DESCRIBED}
${read}
for path in json.loads(sys.stdin.read()):
    samples = [{key: described(value) for key, value in sample.items()} for sample in read(path)]
    print(json.dumps(samples))
`;
}

/** Reads samples of datasets by a script that defines `read(path)`. */
async function samplesOf(
  read: string,
  paths: readonly string[],
  options?: Parameters<typeof pythonLines>[2],
): Promise<PythonSample[][]> {
  const lines = await pythonLines(script(read), JSON.stringify(paths), options);
  return lines as PythonSample[][];
}

const WEBDATASET = `
from webdataset import WebDataset
def read(path):
    for sample in WebDataset(path, shardshuffle=False, empty_check=False).decode():
        yield {key: value for key, value in sample.items() if key not in ("__url__", "__local_path__")}
`;

/** Reads tars by webdataset, with its default decoders. */
export function webdatasetSamples(
  paths: readonly string[],
): Promise<PythonSample[][]> {
  return samplesOf(WEBDATASET, paths);
}

const GRANULAR = `
import pathlib, granular
def read(path):
    decoders = {**granular.decoders, "jpg": bytes, "png": bytes}
    with granular.DatasetReader(pathlib.Path(path), decoders) as reader:
        for index in range(len(reader)):
            yield reader[index]
`;

/** Reads bags by granular. Pictures stay encoded. */
export function granularSamples(
  paths: readonly string[],
): Promise<PythonSample[][]> {
  return samplesOf(GRANULAR, paths);
}

const EXAMPLES = `
import struct
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# tensorflow/core/example/{feature,example}.proto
file = descriptor_pb2.FileDescriptorProto(name="example.proto", package="tensorflow", syntax="proto3")
LISTS = {"bytes": 12, "float": 2, "int64": 3}
for kind, number in LISTS.items():
    message = file.message_type.add(name=f"{kind.capitalize()}List")
    message.field.add(name="value", number=1, label=3, type=number)
feature = file.message_type.add(name="Feature")
feature.oneof_decl.add(name="kind")
for number, kind in enumerate(LISTS, 1):
    name = f".tensorflow.{kind.capitalize()}List"
    feature.field.add(name=f"{kind}_list", number=number, label=1, type=11, type_name=name, oneof_index=0)
features = file.message_type.add(name="Features")
entry = features.nested_type.add(name="FeatureEntry")
entry.options.map_entry = True
entry.field.add(name="key", number=1, label=1, type=9)
entry.field.add(name="value", number=2, label=1, type=11, type_name=".tensorflow.Feature")
features.field.add(name="feature", number=1, label=3, type=11, type_name=".tensorflow.Features.FeatureEntry")
example = file.message_type.add(name="Example")
example.field.add(name="features", number=1, label=1, type=11, type_name=".tensorflow.Features")
pool = descriptor_pool.DescriptorPool()
pool.Add(file)
Example = message_factory.GetMessageClass(pool.FindMessageTypeByName("tensorflow.Example"))

TABLE = []
for byte in range(256):
    for _ in range(8): byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)

def masked(data):
    crc = 0xFFFFFFFF
    for byte in data: crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

def read(path):
    with open(path, "rb") as file: data = file.read()
    at = 0
    while at < len(data):
        head = data[at:at + 8]
        size, = struct.unpack("<Q", head)
        record = data[at + 12:at + 12 + size]
        assert data[at + 8:at + 12] == masked(head)
        assert data[at + 12 + size:at + 16 + size] == masked(record) and len(record) == size
        at += 16 + size
        message = Example.FromString(record)
        yield {name: {one.WhichOneof("kind"): list(getattr(one, one.WhichOneof("kind")).value)}
               for name, one in message.features.feature.items()}
`;

/** Reads TFRecord examples by protobuf. Each feature is a dict of its kind, such as `int64_list`, and its values. */
export function exampleSamples(
  paths: readonly string[],
): Promise<PythonSample[][]> {
  return samplesOf(EXAMPLES, paths);
}

const ARROW = `
import pyarrow.parquet as pq
def read(path):
    table = pq.ParquetFile(path).read()
    for index in range(table.num_rows):
        yield {"names": table.column_names, "values": [column[index].as_py() for column in table.columns]}
`;

/** Rows of a Parquet file. Several columns may have the same name. */
export interface ArrowRow {
  readonly names: readonly string[];
  readonly values: readonly PythonValue[];
}

/** Reads the rows of Parquet files by PyArrow. */
export async function arrowRows(
  paths: readonly string[],
): Promise<ArrowRow[][]> {
  return await samplesOf(ARROW, paths) as never;
}

/** Reads Parquet files by PyArrow, as samples. */
export async function arrowSamples(
  paths: readonly string[],
): Promise<PythonSample[][]> {
  return (await arrowRows(paths)).map((rows) =>
    rows.map(({ names, values }) =>
      Object.fromEntries(names.map((name, i) => [name, values[i]!]))
    )
  );
}

const STREAMING = `
import os, tempfile
os.environ["TRANSFORMERS_VERBOSITY"] = "error"
from streaming import LocalDataset, StreamingDataset
from streaming.base.util import clean_stale_shared_memory
def read(path):
    with open(f"{path}/index.json") as file: shards = json.load(file)["shards"]
    hashes = set.intersection(*(set((shard["zip_data"] or shard["raw_data"])["hashes"]) for shard in shards))
    validate = min(hashes, default=None)
    with tempfile.TemporaryDirectory() as local:
        clean_stale_shared_memory()
        # It copies the shards, and compares them with their hashes.
        dataset = StreamingDataset(
            remote=path, local=local, batch_size=1, shuffle=False, validate_hash=validate, allow_unsafe_types=True)
        streamed = [dataset[index] for index in range(len(dataset))]
        if all(os.path.exists(f"{path}/{shard['raw_data']['basename']}") for shard in shards):
            assert [described(sample) for sample in LocalDataset(path)] == [described(sample) for sample in streamed]
            return list(LocalDataset(path)) # whose pictures have not been decoded yet
    return streamed
`;

/** Reads MDS by Streaming, as a stream that verifies hashes and as a local dataset, and asserts that both agree. */
export function streamingSamples(
  paths: readonly string[],
): Promise<PythonSample[][]> {
  return samplesOf(STREAMING, paths, { python: PEERS_PYTHON });
}

const PARSE = `${DESCRIBED}
for text in json.loads(sys.stdin.read()):
    print(json.dumps(described(json.loads(text))))
`;

/** Parses JSON texts by Python's json. */
export async function pythonJson(
  texts: readonly string[],
): Promise<PythonValue[]> {
  return await pythonLines(PARSE, JSON.stringify(texts)) as PythonValue[];
}
