/** The variable that the script is handed in: as an argument it would fill every list of processes. */
export const SUPERVISOR_VARIABLE = "RECORDFS_SUPERVISOR";

/**
 * A POSIX shell script that starts the server of a mount, and another one whenever that dies.
 *
 * It inherits the mount's descriptors of /dev/fuse, so that they outlive each server. The record is how it
 * knows what became of one: a server that ends the mount removes its record, one that serves stands in it.
 * The record's fields are read line by line, as `writeRecord` writes them: the first line of a name counts.
 * The shell opens nothing by number, which might be one of the descriptors'.
 *
 * Arguments: the path of the record, the mount point, and the command line of the server.
 */
export const SUPERVISOR = String.raw`
unset ${SUPERVISOR_VARIABLE}
record=$1 mountpoint=$2 base=${"${1%.json}"}
shift 2
exec 2>>"$base.log"
end='' server='' failed=0

say() {
  echo "recordfs: $(date -u +%Y-%m-%dT%H:%M:%SZ) supervisor: $1" >&2
}

# The value of a line of the record, without quotes.
field() {
  value=''
  while read -r name rest; do
    [ "$name" = "\"$1\":" ] || continue
    value=${"${rest%,}"}
    break
  done <"$record"
  value=${'${value#\\"}'} value=${'${value%\\"}'}
} 2>/dev/null

is_mounted() {
  field device
  while read -r _ _ device _; do
    [ "$device" = "$value" ] && return 0
  done </proc/self/mountinfo
  return 1
}

give_up() {
  say "$1; the mount ends"
  if is_mounted; then
    if [ "$(id -u)" -eq 0 ]; then
      umount -l -- "$mountpoint" || fusermount3 -u -z -- "$mountpoint"
    else
      fusermount3 -u -z -- "$mountpoint"
    fi
  fi
  rm -f -- "$record" "$base.stats" "$base.command" "$base.next"
  exit 1
}

# Another command line may have been given since: its first server decides whether it stays.
serve() {
  if [ -e "$base.next" ]; then
    . "$base.next"
  elif [ -e "$base.command" ]; then
    . "$base.command"
  fi
  exec "$@"
}

told() {
  end=$1
  [ -z "$server" ] || kill -s "$end" "$server"
}
trap 'told TERM' TERM
trap 'told INT' INT
trap 'told HUP' HUP

while :; do
  serve "$@" &
  server=$!
  exec >/dev/null # only the first server has somebody to answer
  [ -z "$end" ] || kill -s "$end" "$server"
  while :; do
    wait "$server"
    code=$?
    # A signal to this process ends the wait as well.
    [ "$code" -ne 127 ] && kill -0 "$server" || break
  done 2>/dev/null
  ended=$server server=''
  if [ ! -e "$record" ]; then
    # It ended the mount, or there was none yet. A signal is passed on as the reason.
    trap - TERM INT HUP
    [ "$code" -le 128 ] || kill -s "$((code - 128))" $$
    exit "$code"
  fi
  how="exit code $code"
  [ "$code" -le 128 ] || how="signal $((code - 128))"
  field resumable
  [ "$value" = true ] ||
    give_up "the server died ($how), and no other can take its place here"
  [ -z "$end" ] || give_up "the server died ($how) when it was told to end"
  field pid
  if [ "$value" = "$ended" ]; then failed=0; else failed=$((failed + 1)); fi
  if [ "$failed" -gt 0 ] && [ -e "$base.next" ]; then
    say "the replacement died at its start ($how); it is given up"
    rm -f -- "$base.next"
    failed=0
    continue
  fi
  [ "$failed" -lt 5 ] ||
    give_up "5 servers one after another died at their start, the last by $how"
  say "the server died ($how); another one takes its place"
  [ "$failed" -eq 0 ] || sleep 1
  [ -z "$end" ] || give_up "told to end while there was no server"
done
`;
