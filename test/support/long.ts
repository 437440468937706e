/** `deno task test:all`: what takes long is tried as often as it deserves, not as a quick run can wait for. */
export const LONG: boolean = Deno.env.get("RECORDFS_ALL") === "1";

/** `deno task test:all` and CI: what a quick run tries once, or on a few of many alike, is tried on all. */
export const FULL: boolean = LONG ||
  Deno.env.get("RECORDFS_NO_IGNORED") === "1";

/**
 * Files and directories that `deno task test` leaves to `deno task test:all` and to CI: they take seconds a test, most
 * of them by waiting for a clock, a browser or an installation.
 */
export const LEFT_TO_ALL: readonly string[] = [
  // The page over the other kinds of containers, what it is to who does not see it, and what a hostile dataset would do in a whole browser.
  "test/serve/page/content/clips_test.ts",
  "test/serve/page/content/datapoints_test.ts",
  "test/serve/page/content/mds_test.ts",
  "test/serve/page/content/parquet_test.ts",
  "test/serve/page/content/tfrecord_test.ts",
  "test/serve/page/content/webdataset_test.ts",
  "test/serve/page/content/zip_test.ts",
  "test/serve/page/content/files_test.ts",
  "test/serve/page/access_test.ts",
  "test/serve/page/hostile_test.ts",
  "test/serve/page/keyboard_test.ts",
  "test/serve/page/many_test.ts",
  // Mounts of servers that fail, and servers of mounts that die, hang, starve or are given up.
  "test/mount/remote/",
  "test/mount/faults/bags_damaged_test.ts",
  "test/mount/faults/changes_test.ts",
  "test/mount/faults/clock_test.ts",
  "test/mount/faults/crowd_test.ts",
  "test/mount/faults/dead_test.ts",
  "test/mount/faults/give_up_test.ts",
  "test/mount/faults/memory_test.ts",
  "test/mount/faults/survive_test.ts",
  "test/mount/replace_test.ts",
  "test/mount/start_test.ts",
  "test/convert/remote_test.ts",
  "test/io/remote/cache_processes_test.ts",
  "test/io/remote/claims_test.ts",
  "test/io/remote/store_backoff_test.ts",
  "test/cli/commands/pack_kill_test.ts",
  "test/formats/gulp/ingest/killed_ingest_test.ts",
  // Installations, documents and the demo, as a new user has them; and the machine, as others set it up.
  "test/cli/commands/doctor/",
  "test/fuse/mounting/mount_user_test.ts",
  "test/install/launcher_test.ts",
  "test/install/package_test.ts",
  "test/install/publish_test.ts",
  "test/mount/usage_test.ts",
  "test/bare_project_test.ts",
  "test/cli/examples_test.ts",
  "test/data/loader/remote_module_test.ts",
  "test/demo_test.ts",
  "test/documents/shell_test.ts",
  // Many cases of one thing.
  "test/cli/commands/bench_loader/",
  "test/cli/commands/deep_tree_test.ts",
  "test/cli/commands/gulp/gulp_usage_test.ts",
  "test/cli/commands/pack_roundtrip_test.ts",
  "test/cli/commands/sync_test.ts",
  "test/codecs/image/png_test.ts",
  "test/codecs/video/video_frames_test.ts",
  "test/convert/generations_test.ts",
  "test/convert/names_test.ts",
  "test/convert/videos_test.ts",
  "test/data/loader/failures_test.ts",
  "test/data/loader/fetch_ahead_test.ts",
  "test/data/loader/memory_test.ts",
  "test/data/loader/resume_test.ts",
  "test/data/random/permutation_statistics_test.ts",
  "test/formats/bags/slow_storage_test.ts",
  "test/formats/ffrecord/storage_test.ts",
  "test/formats/gulp/adapters/video_adapters_test.ts",
  "test/formats/gulp/check/repair_test.ts",
  "test/formats/gulp/ingest/failed_videos_test.ts",
  "test/formats/gulp/storage_test.ts",
  "test/formats/zip/write/zip64_test.ts",
  "test/formats/toy_format_test.ts",
  "test/fuzz/fuzz_test.ts",
  "test/io/storage/open_files_limit_test.ts",
  "test/mount/bags_test.ts",
  "test/mount/epochs_test.ts",
  "test/mount/scale_test.ts",
  "test/peers/",
  "test/mount/several_test.ts",
  "test/mount/subset_test.ts",
  "test/serve/decode/undecodable_test.ts",
];
