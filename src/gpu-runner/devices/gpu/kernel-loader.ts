import { readFile } from "node:fs/promises";
import type { KernelSpec, KernelVariant } from "../../../../kernels/kernel-spec.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { withErrorScopes } from "./error-scopes.ts";

/** What is told of WGSL that does not compile: a user's may be long, and wrong in every line. */
const MAX_MESSAGES = 20;
const MAX_MESSAGE_LENGTH = 300;

/**
 * Compiles the WGSL of a variant. Fails with `kernel-invalid`, whose detail has a line
 * `file:line:column: message` for each error.
 */
export async function loadKernelModule(
  device: GPUDevice,
  spec: KernelSpec,
  { file, code }: KernelVariant,
): Promise<GPUShaderModule> {
  return compileModule(device, `${spec.name}/${file}`, code ?? (await readFile(new URL(file, spec.folder), "utf8")));
}

/** Compiles WGSL that is called `label` in messages, where `locate` says what a line is. Fails like `loadKernelModule`. */
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

/** A piece of a program, and its name in messages. */
export interface ProgramPart {
  readonly file: string;
  readonly code: string;
}

/**
 * Compiles files one after the other: WGSL has no modules. Fails with `kernel-invalid`, whose lines are those of the
 * files.
 */
export function compileParts(device: GPUDevice, parts: readonly ProgramPart[]): Promise<GPUShaderModule> {
  const code = parts.map((part) => part.code).join("\n");
  return compileModule(device, parts.at(-1)!.file, code, (line) => locateLine(parts, line));
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
