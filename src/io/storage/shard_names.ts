/** Patterns of shard names, in a file of their own because format detection uses them without opening shards. */

/** `NAME-?????-of-00010`, `NAME-*-of-*`; URLs encode question marks. */
export const SHARD_PATTERN =
  /^(.*)-((?:\?|%3F)+|\*)-of-((?:\?|%3F)+|\*|\d{5,})([^/]*)$/;

/** Parts of a shard's name: prefix, number, count, suffix. */
export const SHARD = /^(.*)-(\d{5,})-of-(\d{5,})([^/]*)$/;
