import type { Capabilities, Device } from "../../protocol/hardware.ts";
import type { Profile, ProfileFit } from "../../protocol/profile.ts";

type Check = ProfileFit["checks"][number];

/** Tells line by line how a runner fits a profile; the device is the first that passes its lines. */
export function fitProfile(
  profile: Pick<Profile, "name" | "requirements">,
  capabilities: Pick<Capabilities, "hardware" | "devices">,
): ProfileFit {
  const wants = profile.requirements;
  const machine: Check[] = [];
  if (wants.minLogicalCores !== undefined) {
    machine.push(atLeast("logical cores", wants.minLogicalCores, capabilities.hardware.cpu.logicalCores));
  }
  if (wants.minMemoryBytes !== undefined) {
    machine.push(atLeast("memory bytes", wants.minMemoryBytes, capabilities.hardware.memoryBytes));
  }
  const perDevice = capabilities.devices.map((device) => ({ device, checks: checkDevice(wants, device) }));
  const best = perDevice.find(({ checks }) => checks.every(({ ok }) => ok)) ?? perDevice[0];
  const checks = [...machine, ...(best?.checks ?? [])];
  const fits = best !== undefined && checks.every(({ ok }) => ok);
  return { profile: profile.name, fits, deviceKey: fits ? best.device.key : null, checks };
}

function checkDevice(wants: Profile["requirements"], device: Device): Check[] {
  const checks: Check[] = [];
  if (wants.device !== undefined) {
    checks.push({ requirement: "device", wanted: wants.device, found: device.kind, ok: device.kind === wants.device });
  }
  if (wants.allowSoftware === false) {
    const found = device.software ? "a software device" : "a hardware device";
    checks.push({ requirement: "software", wanted: "a hardware device", found, ok: !device.software });
  }
  for (const feature of wants.features ?? []) {
    const ok = device.features.includes(feature);
    checks.push({ requirement: "feature", wanted: feature, found: ok ? feature : "absent", ok });
  }
  return checks;
}

function atLeast(requirement: string, wanted: number, found: number): Check {
  return { requirement, wanted: `at least ${wanted}`, found: String(found), ok: found >= wanted };
}
