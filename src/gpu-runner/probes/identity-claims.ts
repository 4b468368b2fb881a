import type { Device } from "../../protocol/hardware.ts";
import { isSoftwareAdapter } from "../gpu/adapter-name.ts";
import type { Gpu } from "../gpu/device.ts";
import type { Claim } from "./claim.ts";

/** Which adapter it is, that it is no emulation where none is claimed, and that each feature is there. */
export function identityClaims(
  { adapter: { info }, device }: Pick<Gpu, "adapter" | "device">,
  claimed: Pick<Device, "fingerprint" | "software" | "features">,
): Claim[] {
  const adapter = [info.vendor, info.architecture, info.device].filter(Boolean).join(" ");
  const isSoftware = info.isFallbackAdapter || isSoftwareAdapter(`${adapter} ${info.description}`);
  const { fingerprint, software, features } = claimed;
  const missing = features.filter((feature) => !device.features.has(feature));
  return [
    {
      claim: "adapter",
      claimed: fingerprint.adapter ?? "none",
      find: async () => ({ found: adapter, ok: fingerprint.adapter === null || fingerprint.adapter === adapter }),
    },
    {
      claim: "software",
      claimed: software ? "an emulation" : "a real GPU",
      // Who calls a GPU an emulation claims less than he has.
      find: async () => ({ found: isSoftware ? "an emulation" : "a real GPU", ok: software || !isSoftware }),
    },
    {
      claim: "features",
      claimed: features.join(", ") || "none",
      find: async () => ({
        found: missing.length === 0 ? "the device was opened with each of them" : `absent: ${missing.join(", ")}`,
        ok: missing.length === 0,
      }),
    },
  ];
}
