import { readFile } from "node:fs/promises";
import { countStateWords, type EnvironmentSpec } from "../../../kernels/environments/environment-spec.ts";
import { countOutputs } from "../../../kernels/rollout/policy-layout.ts";
import { ROLLOUT_FOLDER } from "../../../kernels/rollout/write-prelude.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { PolicyNetwork } from "../../protocol/models/policy-network.ts";

/** Kinds of policies that are also written in AssemblyScript; a layer without inputs is a row of biases. */
const FILES: Readonly<Partial<Record<PolicyNetwork["kind"], string>>> = {
  mlp: "mlp.as",
  direct: "mlp.as",
  graph: "graph.as",
};

/** Whether environment and kind of policy both have a CPU twin. */
export function runsOnCpu({ assembly }: Pick<EnvironmentSpec, "assembly">, kind: PolicyNetwork["kind"]): boolean {
  return assembly !== undefined && FILES[kind] !== undefined;
}

/**
 * AssemblyScript of a kind of policy in an environment: files concatenated after a prelude of sizes, as
 * compose-rollout.ts composes the WGSL. Network widths are not part of it, so one program serves all of a kind. Throws
 * `backend-failed` where one of the two has no twin in AssemblyScript.
 */
export async function composeAssembly(environment: EnvironmentSpec, kind: PolicyNetwork["kind"]): Promise<string> {
  const { assembly, folder, measures, action, name } = environment;
  const policy = FILES[kind];
  if (assembly === undefined || policy === undefined) {
    throw new ProblemError("backend-failed", `A policy '${kind}' in '${name}' runs on wgsl only`);
  }
  const shared = [
    "vector.as",
    "philox.as",
    "arithmetic.as",
    assembly.lanes === 4 ? "vector-lanes.as" : "single-lanes.as",
    ...(measures === 0 ? ["no-measures.as"] : []),
    `${action.kind}-action.as`,
    policy,
    "rollout.as",
    "noise.as",
    "replay.as",
  ];
  const around = [...shared.map((file) => new URL(file, ROLLOUT_FOLDER)), ...(assembly.shared ?? [])];
  const files = [...around, new URL(assembly.file, folder)];
  const parts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return [writeSizes(environment), ...parts].join("\n");
}

function writeSizes(environment: EnvironmentSpec): string {
  const sizes = {
    OBSERVATION_SIZE: environment.observationSize,
    OUTPUTS: countOutputs(environment.action),
    STATE_WORDS: countStateWords(environment),
    MEASURES: environment.measures,
  };
  const lines = [
    ...Object.entries(sizes).map(([name, value]) => `const ${name}: i32 = ${value};`),
    // Expressions in WGSL have no meaning here.
    ...Object.entries(environment.constants ?? {}).flatMap(([name, value]) =>
      typeof value === "string" ? [] : [`const ${name}: ${typeOf(value)} = ${value};`],
    ),
  ];
  return `${lines.join("\n")}\n`;
}

function typeOf(value: number | boolean | string): string {
  if (typeof value === "string") throw new TypeError(`${value} is an expression of WGSL`);
  if (typeof value === "boolean") return "bool";
  return Number.isInteger(value) ? "i32" : "f32";
}
