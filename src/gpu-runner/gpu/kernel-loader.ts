import { readFile } from "node:fs/promises";
import type { KernelSpec } from "../../../kernels/kernel-spec.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { withErrorScopes } from "./error-scopes.ts";

/**
 * Compiles one WGSL file of a kernel. Fails with `kernel-invalid`, whose detail has a line
 * `file:line:column: message` for each error.
 */
export async function loadKernelModule(device: GPUDevice, spec: KernelSpec, file: string): Promise<GPUShaderModule> {
  const code = await readFile(new URL(file, spec.folder), "utf8");
  return compileModule(device, `${spec.name}/${file}`, code);
}

/** Compiles WGSL that is called `label` in messages. Fails like `loadKernelModule`. */
export async function compileModule(device: GPUDevice, label: string, code: string): Promise<GPUShaderModule> {
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
    const lines = errors.map(({ lineNum, linePos, message }) => `${label}:${lineNum}:${linePos}: ${message}`);
    throw new ProblemError("kernel-invalid", lines.join("\n"));
  }
}
