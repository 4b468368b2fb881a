import { readFile } from "node:fs/promises";

/** Used part of the compiler. Its own types declare AssemblyScript's arrays globally, so they are not imported. */
interface Compiler {
  compileString(
    source: string,
    options: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly binary: Uint8Array<ArrayBuffer> | undefined; readonly stderr: { toString(): string } }>;
}
const COMPILER: string = "assemblyscript/asc";

type Options = Readonly<Record<string, unknown>>;

/**
 * Compiles an AssemblyScript source, which imports only AssemblyScript's own library, with the `options` of an
 * asconfig.json. Throws with the compiler's messages.
 */
export async function compileAssembly(source: URL, options: Options): Promise<Uint8Array<ArrayBuffer>> {
  return compileText(source.href, await readFile(source, "utf8"), options);
}

/** Compiles a text, whose name is in the errors. */
export async function compileText(name: string, text: string, options: Options): Promise<Uint8Array<ArrayBuffer>> {
  const compiler = (await import(COMPILER)) as Compiler;
  const { binary, stderr } = await compiler.compileString(text, options);
  if (binary === undefined) throw new Error(`${name} does not compile: ${stderr.toString()}`);
  return binary;
}
