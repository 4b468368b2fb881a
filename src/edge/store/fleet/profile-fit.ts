import type { Capabilities, Device, Hardware } from "../../../protocol/fleet/hardware.ts";
import type { Profile, ProfileFit } from "../../../protocol/fleet/profile.ts";

/** Cores that a runner may use: a container may have fewer than its machine. */
function usableCores({ cpu, container }: Pick<Hardware, "cpu" | "container">): number {
  return Math.min(cpu.logicalCores, container?.cores ?? Number.POSITIVE_INFINITY);
}

export function usableBytes({ memoryBytes, container }: Pick<Hardware, "memoryBytes" | "container">): number {
  return Math.min(memoryBytes, container?.memoryBytes ?? Number.POSITIVE_INFINITY);
}

type Check = ProfileFit["checks"][number];
type Requirements = Profile["requirements"];

/**
 * Reports line by line how a runner fits a profile; the device is the first that passes its lines. Targets are ignored.
 */
export function fitProfile(
  profile: Pick<Profile, "name" | "requirements">,
  { hardware, devices }: Pick<Capabilities, "hardware" | "devices">,
): ProfileFit {
  const wants = profile.requirements;
  const perDevice = devices.map((device) => ({ device, checks: checkDevice(wants, device) }));
  const best = perDevice.find(({ checks }) => checks.every(({ ok }) => ok)) ?? perDevice[0];
  const checks = [...checkMachine(wants, hardware), ...(best?.checks ?? [])];
  if (wants.minGpus !== undefined) {
    // A card's second runtime, such as ONNX Runtime's, is no second card.
    const gpus = perDevice.filter(
      ({ device, checks: own }) => device.backends.includes("wgsl") && own.every(({ ok }) => ok),
    );
    checks.push(atLeast("GPUs", wants.minGpus, gpus.length, "add GPUs, or tell equal ones apart as the log says"));
  }
  const fits = best !== undefined && checks.every(({ ok }) => ok);
  return { profile: profile.name, fits, deviceKey: fits ? best.device.key : null, checks };
}

function checkMachine(wants: Requirements, hardware: Hardware): Check[] {
  const checks: Check[] = [];
  if (wants.minLogicalCores !== undefined) {
    const found = usableCores(hardware);
    const isCut = hardware.cpu.logicalCores >= wants.minLogicalCores;
    const mend = isCut ? "give the runner's container more cores" : "use a machine with more cores";
    checks.push(atLeast("logical cores", wants.minLogicalCores, found, mend));
  }
  if (wants.minMemoryBytes !== undefined) {
    const found = usableBytes(hardware);
    const isCut = hardware.memoryBytes >= wants.minMemoryBytes;
    const mend = isCut ? "raise the memory limit of the runner's container" : "use a machine with more memory";
    checks.push(atLeast("memory bytes", wants.minMemoryBytes, found, mend));
  }
  const named = new Set(hardware.cpu.instructionSets?.map(({ name }) => name));
  for (const wanted of wants.instructionSets ?? []) {
    const ok = named.has(wanted);
    const found = hardware.cpu.instructionSets === undefined ? "not reported by this runner" : "absent";
    const mend = `use a processor with ${wanted}; a virtual machine has to be shown it`;
    checks.push(line("instruction set", wanted, ok ? wanted : found, ok, mend));
  }
  return checks;
}

function checkDevice(wants: Requirements, device: Device): Check[] {
  const checks: Check[] = [];
  if (wants.device !== undefined) {
    const mend =
      wants.device === "gpu" ? "install a GPU's driver, and let MILLRACE_GPU be auto" : "every runner has a CPU";
    checks.push(line("device", wants.device, device.kind, device.kind === wants.device, mend));
  }
  if (wants.allowSoftware === false) {
    const found = device.software ? "a software device" : "a hardware device";
    checks.push(line("software", "a hardware device", found, !device.software, "install the driver of a real GPU"));
  }
  if (wants.minGpuMemoryBytes !== undefined) {
    const wanted = wants.minGpuMemoryBytes;
    const mend = "use a GPU with more memory";
    if (device.memoryBytes !== null) checks.push(atLeast("GPU memory bytes", wanted, device.memoryBytes, mend));
    else {
      const remedy = "install a tool that reports the GPU's memory, such as nvidia-smi";
      checks.push(line("GPU memory bytes", `at least ${wanted}`, "not reported", false, remedy));
    }
  }
  for (const feature of wants.features ?? []) {
    const ok = device.features.includes(feature);
    checks.push(line("feature", feature, ok ? feature : "absent", ok, `use a GPU and a driver with ${feature}`));
  }
  return checks;
}

function atLeast(requirement: string, wanted: number, found: number, mend: string): Check {
  return line(requirement, `at least ${wanted}`, String(found), found >= wanted, mend);
}

function line(requirement: string, wanted: string, found: string, ok: boolean, mend: string): Check {
  return { requirement, wanted, found, ok, mend: ok ? null : mend };
}
