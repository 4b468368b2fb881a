import type { InstructionSet, InstructionSetName } from "../../../protocol/fleet/hardware.ts";

/** Whether an adapter's description is that of an emulation on the CPU. */
export function isSoftwareAdapter(text: string): boolean {
  return /swiftshader|llvmpipe|lavapipe/i.test(text);
}

/** Whether a device's adapter is an emulation on the CPU. */
export function isEmulated({ vendor, architecture, device, description, isFallbackAdapter }: GPUAdapterInfo): boolean {
  return isFallbackAdapter || isSoftwareAdapter(`${vendor} ${architecture} ${device} ${description}`);
}

/** Name of an adapter's device in WebGPU's form, without trailing separators. */
export function toDeviceName(adapterName: string): string {
  return adapterName
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/-+$/, "");
}

interface Naming {
  readonly name: InstructionSetName;
  /** Any of these flags shows that the processor has it. */
  readonly flags: RegExp;
  /** Captures the part that a flag names. */
  readonly parts?: RegExp;
}

/**
 * Flags as Linux spells them, and macOS for AVX. AVX-512 is many extensions, which determine its gain.
 * Source: arch/x86/include/asm/cpufeatures.h, Documentation/arch/arm64/elf_hwcaps.
 */
const NAMINGS: readonly Naming[] = [
  { name: "SSE4", flags: /^sse4[._][12]$/ },
  { name: "AVX", flags: /^avx(1\.0)?$/, parts: /^(f16c)$/ },
  { name: "AVX2", flags: /^avx2$/, parts: /^(fma|avx_vnni|avx_vnni_int8|avx_vnni_int16|avx_ifma|avx_ne_convert)$/ },
  { name: "AVX-512", flags: /^avx512f$/, parts: /^avx512_?(\w+)$/ },
  { name: "AMX", flags: /^amx_tile$/, parts: /^amx_(\w+)$/ },
  { name: "NEON", flags: /^(neon|asimd)$/, parts: /^(asimdhp|asimddp|asimdrdm|asimdfhm|bf16|i8mm)$/ },
  { name: "SVE", flags: /^sve$/, parts: /^sve(?!2)(\w+)$/ },
  { name: "SVE2", flags: /^sve2$/, parts: /^sve2(?!$)(\w+)$/ },
];

/** Instruction sets from a processor's flags; `arch` as in Node. NEON is always present on `arm64`. */
export function nameInstructionSets(flags: readonly string[], arch: string): InstructionSet[] {
  const present = arch === "arm64" ? [...flags, "asimd"] : flags;
  return NAMINGS.filter((naming) => present.some((flag) => naming.flags.test(flag))).map(({ name, parts }) => ({
    name,
    parts: [...new Set(present.flatMap((flag) => partOf(flag, parts)))].toSorted(),
  }));
}

function partOf(flag: string, parts: RegExp | undefined): string[] {
  const part = parts?.exec(flag)?.[1];
  return part === undefined ? [] : [part.replace(/^avx_/, "").replaceAll("_", "-").toUpperCase()];
}
