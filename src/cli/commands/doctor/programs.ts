import { messageOf } from "../../../base/message_text.ts";
import { imageCodec } from "../../../codecs/image/choose_codec.ts";
import { fails, type Finding, limited, works } from "./finding.ts";

export async function lookAtPrograms(): Promise<Finding[]> {
  return [await ffmpeg(), bash(), await codec()];
}

async function ffmpeg(): Promise<Finding> {
  try {
    const { stdout, success } = await new Deno.Command("ffmpeg", {
      args: ["-hide_banner", "-version"],
      stderr: "null",
    }).output();
    if (!success) throw new Error("it fails");
    const [line = ""] = new TextDecoder().decode(stdout).split("\n");
    return works("ffmpeg", line.replace(/ Copyright.*/, ""));
  } catch {
    return limited(
      "ffmpeg",
      "it is not in PATH: videos cannot be gulped or decoded",
      "install the package ffmpeg",
    );
  }
}

function bash(): Finding {
  try {
    new Deno.Command("bash", { args: ["-c", ":"] }).outputSync();
    return works("bash", "found, for the supervisors of mounts");
  } catch {
    return limited(
      "bash",
      "it is not in PATH: after a server of a mount dies, processes that read the mount cannot be killed until the next one runs",
      "install the package bash",
    );
  }
}

/** Finds the fastest image codec that `auto` would use. */
async function codec(): Promise<Finding> {
  const what = "image codec";
  let why = "";
  for (const name of ["turbojpeg", "sharp", "imagescript"] as const) {
    try {
      const codec = await imageCodec(name);
      const image = { data: new Uint8Array(12), height: 2, width: 2 };
      await codec.decode(await codec.encode({ ...image, channels: 3 }));
      return why === "" ? works(what, name) : limited(
        what,
        `${name}, which is slower: ${why}`,
        "install the native packages (no --omit=optional), and allow them (--allow-ffi)",
      );
    } catch (error) {
      why ||= `${name}: ${messageOf(error)}`;
    }
  }
  return fails(what, why, "reinstall recordfs");
}
