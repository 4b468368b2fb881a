import { readFile } from "node:fs/promises";
import { compileString, type MemoryStream } from "assemblyscript/asc";

/**
 * Compiles an AssemblyScript source, which imports nothing but AssemblyScript's own library, and
 * instantiates it: optimised for speed, with SIMD, without a collector. `Exports` is what the source
 * exports. What it takes with `heap.alloc` is never freed, and views of `memory` end where that grows it.
 * Throws with what the compiler says. Sources end in `.as`, so that TypeScript leaves them alone.
 */
export async function compileAssembly<Exports>(
  source: URL,
): Promise<Exports & { readonly memory: WebAssembly.Memory }> {
  const { binary, stderr } = await compileString(await readFile(source, "utf8"), {
    optimizeLevel: 3,
    shrinkLevel: 0,
    noAssert: true,
    runtime: "stub",
    enable: ["simd", "relaxed-simd"],
  });
  // A failure leaves it undefined, whatever its type says.
  if (!binary) throw new Error(`${source.href} does not compile: ${(stderr as MemoryStream).toString()}`);
  const { instance } = await WebAssembly.instantiate(Uint8Array.from(binary), { env: { abort } });
  return instance.exports as Exports & { readonly memory: WebAssembly.Memory };
}

function abort(): never {
  throw new Error("the AssemblyScript program aborted");
}
