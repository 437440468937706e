/** Patterns of shard names, separate from the code that finds shards, because detecting formats needs only these. */

/** `NAME-?????-of-00010`, `NAME-*-of-*`; URLs encode question marks. */
export const SHARD_PATTERN =
  /^(.*)-((?:\?|%3F)+|\*)-of-((?:\?|%3F)+|\*|\d{5,})([^/]*)$/;

/** Parts of a shard's name: prefix, number, count, suffix. */
export const SHARD = /^(.*)-(\d{5,})-of-(\d{5,})([^/]*)$/;
