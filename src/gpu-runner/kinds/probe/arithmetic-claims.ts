import { seededUniform } from "../../../../kernels/seeded-uniform.ts";
import type { Device } from "../../../protocol/fleet/hardware.ts";
import type { KernelContext } from "../../kernels/dispatch/dispatch.ts";
import type { Claim } from "./claim.ts";
import {
  atomicsFound,
  floatsWrong,
  type FloatOperands,
  halvesWrong,
  integersWrong,
  subgroupsFound,
} from "./judge-arithmetic.ts";
import { runClaimKernel } from "./run-claim-kernel.ts";

const SEED = 6;
const OPERANDS = 256;
const GROUPS = 64;
const LANES = 64;

/** Edge cases of integers: wrap-around, sign changes and divisors. */
const EDGES = [0, 1, 2, 31, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff, 0x1234_5678];

/** Claims that integers, floats and atomics compute as WGSL specifies, and so do the announced features. */
export function arithmeticClaims(context: KernelContext, { features }: Pick<Device, "features">): Claim[] {
  const claims: Claim[] = [
    { claim: "integer arithmetic", claimed: "as WGSL has it", find: () => tryIntegers(context) },
    { claim: "float arithmetic", claimed: "as accurate as WGSL has it", find: () => tryFloats(context) },
    { claim: "atomics", claimed: "no update is lost", find: () => tryAtomics(context) },
  ];
  if (features.includes("shader-f16")) {
    claims.push({ claim: "shader-f16", claimed: "arithmetic in halves", find: () => tryHalves(context) });
  }
  if (features.includes("subgroups")) {
    claims.push({ claim: "subgroups", claimed: "sums over whole subgroups", find: () => trySubgroups(context) });
  }
  return claims;
}

async function tryIntegers(context: KernelContext) {
  const given = Uint32Array.from(EDGES.flatMap((a) => EDGES.flatMap((b) => [a, b])));
  const pairs = given.length / 2;
  const kernel = { file: "integers.wgsl", groups: cover(pairs), foundWords: 8 * pairs, given };
  const found = new Uint32Array(await runClaimKernel(context, kernel));
  return tellWrong(integersWrong(given, found), found.length);
}

async function tryFloats(context: KernelContext) {
  const given = drawOperands((value) => value * 1_000);
  const kernel = { file: "floats.wgsl", groups: cover(OPERANDS), foundWords: 6 * OPERANDS, given };
  const found = new Float32Array(await runClaimKernel(context, kernel));
  return tellWrong(floatsWrong(given, found), found.length);
}

async function tryHalves(context: KernelContext) {
  const given = drawOperands((value) => Math.f16round(value * 100));
  const kernel = { file: "halves.wgsl", groups: cover(OPERANDS), foundWords: 4 * OPERANDS, given };
  const found = new Float32Array(await runClaimKernel(context, kernel));
  return tellWrong(halvesWrong(given, found), found.length);
}

async function tryAtomics(context: KernelContext) {
  const kernel = { file: "atomics.wgsl", groups: [GROUPS, 1, 1], foundWords: 4 } as const;
  return atomicsFound(new Uint32Array(await runClaimKernel(context, kernel)), GROUPS * LANES);
}

async function trySubgroups(context: KernelContext) {
  const kernel = { file: "subgroups.wgsl", foundWords: 4 * LANES };
  return subgroupsFound(new Uint32Array(await runClaimKernel(context, kernel)));
}

/** Values of both signs, far from the ends of their type. */
function drawOperands(scale: (value: number) => number): FloatOperands {
  return seededUniform(SEED, 0, 4 * OPERANDS).map((value) => scale(value) || 1);
}

function cover(items: number): readonly [number, number, number] {
  return [Math.ceil(items / LANES), 1, 1];
}

function tellWrong(wrong: string | null, results: number) {
  return { found: wrong ?? `${results} results are right`, ok: wrong === null };
}
