import { VERSION } from "../../version.ts";
import { type Finding, limited, textOf, works } from "./finding.ts";

/** Linux version from which a mount can outlive its server: `FUSE_NOTIFY_RESEND`. */
const RESEND = [6, 9] as const;
/** Linux version from which each thread can serve a mount by its own descriptor: `FUSE_DEV_IOC_CLONE`. */
const CLONE = [4, 2] as const;

/** Fewer may not suffice: a mount needs one per thread, and a container one per file being read. */
const FEW_DESCRIPTORS = 1024;

export function lookAtSystem(): Finding[] {
  const found = [
    works("recordfs", `${VERSION}, on Deno ${Deno.version.deno}`),
  ];
  if (Deno.build.os !== "linux") {
    found.push(limited(
      "system",
      `${Deno.build.os}: reading and writing work`,
      "mounting needs Linux",
    ));
    return found;
  }
  return [...found, libc(), kernel(), descriptors(), container()];
}

/** Checks for GNU libc: Deno's own builds, and therefore its npm package, need it. */
function libc(): Finding {
  const musl = [...Deno.readDirSync("/lib")]
    .some(({ name }) => name.startsWith("ld-musl-"));
  return musl
    ? limited(
      "C library",
      "musl, which Deno's npm package does not support",
      "use the system's own Deno (Alpine: apk add deno), and name it in RECORDFS_DENO; " +
        "to mount, use a system with GNU libc",
    )
    : works("C library", `GNU libc, ${Deno.build.arch}`);
}

function kernel(): Finding {
  const release = Deno.osRelease();
  const [major = 0, minor = 0] = release.split(/\D/).map(Number);
  const since = ([first, second]: readonly [number, number]) =>
    major > first || (major === first && minor >= second);
  if (since(RESEND)) {
    return works(
      "kernel",
      `Linux ${release}: a mount survives a crash of its server (resend), and each thread has its own queue (clone)`,
    );
  }
  return limited(
    "kernel",
    `Linux ${release}: a mount ends with its server` +
      (since(CLONE) ? "" : ", and one thread serves it"),
    `use Linux ${
      RESEND.join(".")
    } or later, or a service that mounts again (docs/boot.md)`,
  );
}

function descriptors(): Finding {
  const line = /^Max open files +(\d+|unlimited) +(\d+|unlimited)/m
    .exec(textOf("/proc/self/limits"));
  const [, soft = "?", hard = "?"] = line ?? [];
  const says = `${soft} per process, ${hard} at most`;
  return Number(soft) < FEW_DESCRIPTORS
    ? limited(
      "descriptors",
      says,
      `ulimit -n ${FEW_DESCRIPTORS} or more, if containers have many files`,
    )
    : works("descriptors", says);
}

function container(): Finding {
  const signs = ["/.dockerenv", "/run/.containerenv"]
    .filter((path) => textOf(path) !== "" || exists(path));
  const label = textOf("/proc/self/attr/current").replace(/\0/g, "").trim();
  const confined = textOf("/sys/module/apparmor/parameters/enabled")
    .startsWith("Y") && label !== "" && label !== "unconfined";
  if (confined) {
    return limited(
      "confinement",
      `AppArmor's profile ${label}`,
      "if it forbids mounting in Docker, --security-opt apparmor=unconfined (docs/docker.md)",
    );
  }
  const ubuntus = exists("/etc/apparmor.d/fusermount3");
  return works(
    "confinement",
    (signs.length > 0 ? "a container" : "no container detected") +
      (ubuntus
        ? "; AppArmor lets fusermount3 mount only in some directories: /etc/apparmor.d/fusermount3"
        : ", no AppArmor profile"),
  );
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
