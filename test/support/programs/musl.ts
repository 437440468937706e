/**
 * Wraps a command line in a mount namespace in which musl's loader exists, so that programs that look for it detect a
 * musl system.
 *
 * @param dir Directory for a temporary mount.
 */
export function onMusl(dir: string, command: readonly string[]): string[] {
  const script = `
    mkdir -p ${dir}/over && mount -t tmpfs none ${dir}/over
    mkdir ${dir}/over/upper ${dir}/over/work
    lib=$(readlink -f /lib)
    mount -t overlay -o lowerdir=$lib,upperdir=${dir}/over/upper,workdir=${dir}/over/work none $lib
    touch /lib/ld-musl-x86_64.so.1
    exec "$@"`;
  const unshare = ["unshare", "--mount", "--propagation", "private"];
  return [...unshare, "sh", "-ec", script, "sh", ...command];
}
