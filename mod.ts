/**
 * recordfs opens the containers that training data is packed in as read-only filesystems, and writes
 * them.
 *
 * - {@linkcode open} shows any container as a {@linkcode VirtualFs}: list, stat, read, stream.
 * - {@linkcode mount} shows it to every program, through the kernel (Linux).
 * - {@linkcode FFRecordReader} and {@linkcode PackedFolder} read FFRecord as its Python library does.
 * - {@linkcode FFRecordWriter}, {@linkcode dump} and {@linkcode packFolder} write FFRecord.
 * - {@linkcode readNpy} and {@linkcode writeNpy} know NumPy's files.
 * - {@linkcode readMsgpack} and {@linkcode writeMsgpack} know MessagePack.
 * - {@linkcode GulpDirectory} and {@linkcode GulpChunk} read GulpIO as its Python libraries do.
 * - {@linkcode BagReader}, {@linkcode DatasetReader} and {@linkcode ShardedDatasetReader} read Bags and Granular.
 * - {@linkcode registerFormat} takes a container format of your own.
 * - {@linkcode convert} makes one format, or generation of Bags, of another.
 *
 * What trains on them, datasets and a loader, is in `@recordfs/recordfs/data`.
 * - {@linkcode DataLoader} loads any of them in batches for training, in threads, and continues where it stopped.
 *
 * @module
 */
export { registerFormat } from "./src/formats/registry.ts";
export * from "./src/vfs/mod.ts";
export * from "./src/formats/ffrecord/mod.ts";
export * from "./src/formats/gulp/mod.ts";
export * from "./src/formats/bags/mod.ts";
export * from "./src/convert/mod.ts";
export * from "./src/data/mod.ts";
export * from "./src/codecs/image/mod.ts";
export * from "./src/codecs/video/mod.ts";
export * from "./fuse/mod.ts";
export * from "./src/codecs/numpy/mod.ts";
export * from "./src/codecs/msgpack/mod.ts";
