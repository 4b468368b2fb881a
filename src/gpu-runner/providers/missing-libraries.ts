import { ProblemError } from "../../protocol/wire/problem.ts";

/** What a library belongs to, and how it gets onto a machine. */
interface Part {
  readonly part: string;
  readonly pattern: RegExp;
  readonly advice: string;
}

const PARTS: readonly Part[] = [
  {
    part: "NVIDIA's driver",
    pattern: /^libcuda\.so/,
    advice: "Install NVIDIA's driver; in a container, pass it in with the capabilities compute and utility.",
  },
  {
    part: "the CUDA runtime",
    pattern: /^lib(cudart|cublas|cublasLt|curand|cufft|nvrtc)\b/,
    advice: "Install CUDA's libraries of the major version in their names, and name their folder in LD_LIBRARY_PATH.",
  },
  {
    part: "cuDNN",
    pattern: /^libcudnn/,
    advice: "Install cuDNN 9 for this version of CUDA, and name its folder in LD_LIBRARY_PATH.",
  },
  {
    part: "other libraries",
    pattern: /./,
    advice: "Install them with the system's packages, or name their folder in LD_LIBRARY_PATH.",
  },
];

const partOf = (library: string) => PARTS.find(({ pattern }) => pattern.test(library))!;

/** Whether a library comes from NVIDIA, and not with every Linux. */
export function isOfCuda(library: string): boolean {
  return partOf(library) !== PARTS.at(-1)!;
}

/**
 * Fails with `backend-failed` where this process cannot load one of these shared libraries; `errors` says of each part that
 * is missing what to do.
 */
export function requireLibraries(libraries: readonly string[]): void {
  const missing = [...new Set(libraries.flatMap((library) => findMissing(library) ?? []))];
  if (missing.length === 0) return;
  const byPart = PARTS.flatMap(({ part, advice }) => {
    const names = missing.filter((library) => partOf(library).part === part);
    return names.length === 0 ? [] : [{ part, advice, names }];
  });
  const told = byPart.map(({ part, names }) => `${part} (${names.join(", ")})`).join("; ");
  const errors = byPart.map(({ part, advice, names }) => ({ pointer: `#/${names[0]}`, message: `${part}: ${advice}` }));
  throw new ProblemError("backend-failed", `The loader does not find ${told}`, { errors });
}

/** The library that the loader does not find: this one, or one that it needs itself. */
function findMissing(library: string): string | null {
  try {
    process.dlopen({ exports: {} }, library);
    return null;
  } catch (error) {
    // One that is found is no addon of Node, which is another error.
    const [, name = null] = /(\S+): cannot open shared object file/.exec(String(error)) ?? [];
    return name;
  }
}
