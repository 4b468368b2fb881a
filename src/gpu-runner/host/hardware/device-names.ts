import type { InstructionSet, InstructionSetName } from "../../../protocol/fleet/hardware.ts";

/** Whether what an adapter tells of itself is that of an emulation on the CPU. */
export function isSoftwareAdapter(text: string): boolean {
  return /swiftshader|llvmpipe|lavapipe/i.test(text);
}

/** The name of the device that the adapter of this name becomes: as WebGPU tells it, without what hangs over. */
export function toDeviceName(adapterName: string): string {
  return adapterName
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/-+$/, "");
}

interface Naming {
  readonly name: InstructionSetName;
  /** Any of these flags says that the processor has it. */
  readonly flags: RegExp;
  /** The part that a flag stands for is what this captures. */
  readonly parts?: RegExp;
}

/**
 * Flags as Linux spells them (arch/x86/include/asm/cpufeatures.h, Documentation/arch/arm64/elf_hwcaps), and macOS for
 * AVX. AVX-512 is many extensions: which of them a processor has decides what it gains.
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

/** What a processor's flags say that it can compute with; `arch` as Node names it, where NEON is always there on `arm64`. */
export function nameInstructionSets(flags: readonly string[], arch: string): InstructionSet[] {
  const told = arch === "arm64" ? [...flags, "asimd"] : flags;
  return NAMINGS.filter((naming) => told.some((flag) => naming.flags.test(flag))).map(({ name, parts }) => ({
    name,
    parts: [...new Set(told.flatMap((flag) => partOf(flag, parts)))].toSorted(),
  }));
}

function partOf(flag: string, parts: RegExp | undefined): string[] {
  const part = parts?.exec(flag)?.[1];
  return part === undefined ? [] : [part.replace(/^avx_/, "").replaceAll("_", "-").toUpperCase()];
}
