import { readFile } from "node:fs/promises";
import type { KernelSpec, KernelVariant } from "../../../../kernels/kernel-spec.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { withErrorScopes } from "./error-scopes.ts";

/** Limit of reported WGSL errors: a user's code may be long, and wrong in every line. */
const MAX_MESSAGES = 20;
const MAX_MESSAGE_LENGTH = 300;

/**
 * Compiles the WGSL of a variant. Fails with `kernel-invalid`, whose detail has a line `file:line:column: message` for
 * each error.
 */
export async function loadKernelModule(
  device: GPUDevice,
  spec: KernelSpec,
  variant: KernelVariant,
): Promise<GPUShaderModule> {
  return compileParts(device, await readProgram(spec, variant), `${spec.name}/${variant.file}`);
}

/** File of a program, and its name in messages. */
export interface ProgramPart {
  readonly file: string;
  readonly code: string;
}

/** A variant's files in their order: its own, since directives come first, and those that it shares. */
export async function readProgram(
  { name, folder }: Pick<KernelSpec, "name" | "folder">,
  { file, code, shared = [] }: KernelVariant,
): Promise<ProgramPart[]> {
  const own = { file: `${name}/${file}`, code: code ?? (await readFile(new URL(file, folder), "utf8")) };
  const others = shared.map(async (url) => ({
    file: url.pathname.split("/").slice(-2).join("/"),
    code: await readFile(url, "utf8"),
  }));
  return [own, ...(await Promise.all(others))];
}

/** WGSL has no modules: a program is its files one after the other. */
export function joinParts(parts: readonly ProgramPart[]): string {
  return parts.map(({ code }) => code).join("\n");
}

/** Compiles concatenated files. Fails with `kernel-invalid`, with line numbers of the files. */
export function compileParts(
  device: GPUDevice,
  parts: readonly ProgramPart[],
  label = parts.at(-1)!.file,
): Promise<GPUShaderModule> {
  return compileModule(device, label, joinParts(parts), (line) => locateLine(parts, line));
}

function locateLine(parts: readonly ProgramPart[], line: number): string {
  let first = 1;
  for (const { file, code } of parts) {
    const lines = code.split("\n").length;
    if (line < first + lines) return `${file}:${line - first + 1}`;
    first += lines;
  }
  return `${parts.at(-1)!.file}:${line}`;
}

/**
 * Compiles WGSL with the name `label` in messages; `locate` maps a line to its source. Fails like `loadKernelModule`.
 */
export async function compileModule(
  device: GPUDevice,
  label: string,
  code: string,
  locate = (line: number) => `${label}:${line}`,
): Promise<GPUShaderModule> {
  let messages: readonly GPUCompilationMessage[] = [];
  try {
    return await withErrorScopes(device, async () => {
      const module = device.createShaderModule({ label, code });
      ({ messages } = await module.getCompilationInfo());
      return module;
    });
  } catch (error) {
    const errors = messages.filter(({ type }) => type === "error");
    if (errors.length === 0) throw error;
    const lines = errors
      .slice(0, MAX_MESSAGES)
      .map(({ lineNum, linePos, message }) => `${locate(lineNum)}:${linePos}: ${message}`.slice(0, MAX_MESSAGE_LENGTH));
    throw new ProblemError("kernel-invalid", lines.join("\n"));
  }
}
