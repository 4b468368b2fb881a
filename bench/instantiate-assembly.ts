import { readFile } from "node:fs/promises";

/** What is used of the compiler. Its own types declare AssemblyScript's arrays as everybody's, so they are not imported. */
interface Compiler {
  compileString(
    source: string,
    options: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly binary: Uint8Array | undefined; readonly stderr: { toString(): string } }>;
}
const COMPILER: string = "assemblyscript/asc";

/**
 * Compiles an AssemblyScript source, which imports nothing but AssemblyScript's own library, and
 * instantiates it: optimised for speed, with SIMD, without a collector. `Exports` is what the source
 * exports. What it takes with `heap.alloc` is never freed, and views of `memory` end where that grows it.
 * Throws with what the compiler says. Sources end in `.as`, so that TypeScript leaves them alone.
 */
export async function compileAssembly<Exports>(
  source: URL,
): Promise<Exports & { readonly memory: WebAssembly.Memory }> {
  const compiler = (await import(COMPILER)) as Compiler;
  const { binary, stderr } = await compiler.compileString(await readFile(source, "utf8"), {
    optimizeLevel: 3,
    shrinkLevel: 0,
    noAssert: true,
    runtime: "stub",
    enable: ["simd", "relaxed-simd"],
  });
  if (binary === undefined) throw new Error(`${source.href} does not compile: ${stderr.toString()}`);
  const { instance } = await WebAssembly.instantiate(Uint8Array.from(binary), { env: { abort } });
  return instance.exports as Exports & { readonly memory: WebAssembly.Memory };
}

function abort(): never {
  throw new Error("the AssemblyScript program aborted");
}
