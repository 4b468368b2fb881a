import type { Device } from "../../../protocol/fleet/hardware.ts";
import type { KernelContext } from "../../kernels/dispatch/dispatch.ts";
import type { Claim } from "./claim.ts";
import { runClaimKernel } from "./run-claim-kernel.ts";

/** Words that `large-binding.wgsl` writes at the ends. */
const FIRST = 0x5eed;
const LAST = 0xfeed;
/** Largest buffer that is worth testing whole; more proves nothing further. */
const LARGEST_BINDING_BYTES = 2 ** 30;

/**
 * Claims of limits, each checked by a kernel that needs the whole limit. `roomBytes` is the most that a buffer may
 * hold.
 */
export function limitClaims(context: KernelContext, { limits }: Pick<Device, "limits">, roomBytes: number): Claim[] {
  const claims: (Claim | null)[] = [
    ...workgroupSizes(limits).map(([name, size]) => claimOf(limits, name, () => tryWorkgroup(context, size))),
    claimOf(limits, "maxComputeWorkgroupStorageSize", (bytes) => tryStorage(context, bytes)),
    claimOf(limits, "maxComputeWorkgroupsPerDimension", (groups) => tryDispatch(context, groups)),
    claimOf(limits, "maxStorageBufferBindingSize", (bytes) => tryBinding(context, bytes, roomBytes)),
  ];
  return claims.filter((claim) => claim !== null);
}

type Limits = Device["limits"];
type Size = readonly [x: number, y: number, z: number];

function claimOf(limits: Limits, name: string, find: (claimed: number) => ReturnType<Claim["find"]>): Claim | null {
  const claimed = limits[name];
  return claimed === undefined ? null : { claim: name, claimed: String(claimed), find: () => find(claimed) };
}

/** Workgroup sizes at the limit of each dimension; the limit of all invocations together applies, too. */
function workgroupSizes(limits: Limits): [string, Size][] {
  const most = limits["maxComputeInvocationsPerWorkgroup"] ?? 1;
  const x = limits["maxComputeWorkgroupSizeX"] ?? 1;
  const y = limits["maxComputeWorkgroupSizeY"] ?? 1;
  const z = limits["maxComputeWorkgroupSizeZ"] ?? 1;
  const wide = Math.min(x, most);
  return [
    ["maxComputeInvocationsPerWorkgroup", [wide, Math.max(1, Math.min(y, Math.floor(most / wide))), 1]],
    ["maxComputeWorkgroupSizeX", [x, 1, 1]],
    ["maxComputeWorkgroupSizeY", [1, y, 1]],
    ["maxComputeWorkgroupSizeZ", [1, 1, z]],
  ];
}

async function tryWorkgroup(context: KernelContext, [x, y, z]: Size) {
  const invocations = x * y * z;
  const kernel = { file: "workgroup-size.wgsl", constants: { x, y, z }, foundWords: invocations };
  const found = new Uint32Array(await runClaimKernel(context, kernel));
  const right = found.reduce((count, value, index) => count + Number(value === index + 1), 0);
  return {
    found: `${right} of ${invocations} invocations ran in a group of ${x} × ${y} × ${z}`,
    ok: right === invocations,
  };
}

async function tryStorage(context: KernelContext, bytes: number) {
  const words = Math.floor(bytes / 4);
  const kernel = { file: "workgroup-storage.wgsl", constants: { words }, foundWords: 2 };
  const [right = 0] = new Uint32Array(await runClaimKernel(context, kernel));
  return { found: `${4 * right} of ${4 * words} bytes hold what is written`, ok: right === words };
}

async function tryDispatch(context: KernelContext, groups: number) {
  const kernel = { file: "dispatch.wgsl", foundWords: 2 };
  const counts: number[] = [];
  for (const grid of [
    [groups, 1, 1],
    [1, groups, 1],
    [1, 1, groups],
  ] as const) {
    const [count = 0, last = 0] = new Uint32Array(await runClaimKernel(context, { ...kernel, groups: grid }));
    counts.push(last === groups - 1 ? count : 0);
  }
  return { found: `${counts.join(", ")} groups ran along x, y and z`, ok: counts.every((count) => count === groups) };
}

async function tryBinding(context: KernelContext, claimedBytes: number, roomBytes: number) {
  const { pool } = context;
  const allowedBytes = context.device.limits.maxStorageBufferBindingSize;
  if (claimedBytes > allowedBytes) return { found: `the device binds no more than ${allowedBytes} bytes`, ok: false };
  const bytes = Math.floor(Math.min(claimedBytes, roomBytes, LARGEST_BINDING_BYTES) / 4) * 4;
  const large = await pool.acquireSurely(bytes, GPUBufferUsage.STORAGE);
  try {
    const kernel = { file: "large-binding.wgsl", foundWords: 3, given: large };
    await runClaimKernel(context, { ...kernel, constants: { writes: 1 } });
    const [length = 0, first, last] = new Uint32Array(
      await runClaimKernel(context, { ...kernel, constants: { writes: 0 } }),
    );
    const ok = 4 * length >= bytes && first === FIRST && last === LAST;
    const reason = bytes < claimedBytes ? "; no more was tried" : "";
    return { found: `both ends of ${4 * length} bytes ${ok ? "hold" : "lose"} what is written${reason}`, ok };
  } finally {
    pool.discard(large);
  }
}
