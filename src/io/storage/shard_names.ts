/** Names of files that are the shards of one, apart from what looks for them: formats are told by such. */

/** `NAME-?????-of-00010`, `NAME-*-of-*`; a URL has its question marks encoded. */
export const SHARD_PATTERN =
  /^(.*)-((?:\?|%3F)+|\*)-of-((?:\?|%3F)+|\*|\d{5,})([^/]*)$/;

/** A shard by its number: what is before it, the number, how many there are, what is behind. */
export const SHARD = /^(.*)-(\d{5,})-of-(\d{5,})([^/]*)$/;
