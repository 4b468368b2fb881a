import { compileAssembly } from "../src/gpu-runner/devices/cpu-simd/compile-assembly.ts";

/** Optimised for speed, with SIMD, without a collector. */
const OPTIONS = {
  optimizeLevel: 3,
  shrinkLevel: 0,
  noAssert: true,
  runtime: "stub",
  enable: ["simd", "relaxed-simd"],
};

/**
 * An AssemblyScript source as a running program with the `Exports` of the source. Memory from `heap.alloc` is never
 * freed, and views of `memory` end when it grows. Throws with the compiler's messages. Sources end in `.as`, so that
 * TypeScript ignores them.
 */
export async function instantiateAssembly<Exports>(
  source: URL,
): Promise<Exports & { readonly memory: WebAssembly.Memory }> {
  const { instance } = await WebAssembly.instantiate(await compileAssembly(source, OPTIONS), { env: { abort } });
  return instance.exports as Exports & { readonly memory: WebAssembly.Memory };
}

function abort(): never {
  throw new Error("the AssemblyScript program aborted");
}
