import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { type EdgeRunInput, type EdgeRunReply, withRows } from "../../protocol/edge-run.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { createSeededInputs } from "../../protocol/seeded-inputs.ts";
import { tensorToJson } from "../../protocol/tensor.ts";
import type { Env } from "../config.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { openDatabase } from "../store/database.ts";
import { findAnyVersion } from "../store/model-store.ts";
import { computeRows, forgetNetwork, loadNetwork } from "../wasm/edge-networks.ts";
import { mayRead } from "./runners.ts";

/** `POST /v1/link/edge-runs`: a runner that calibrates a dense network has the edge compute it, too. */
export function bindEdgeRuns(app: Hono<AppEnv>): void {
  bind(app, endpoints.runAtEdge, ({ env, body, principal }) => runAtEdge(env, body, principal?.id ?? ""));
}

async function runAtEdge(env: Env, run: EdgeRunInput, runnerId: string): Promise<EdgeRunReply> {
  const version = await findAnyVersion(openDatabase(env.DB), run.modelVersionId);
  if (version === null || version.edgeParameters === null || !(await mayRead(env, runnerId, version.digest))) {
    throw new ProblemError("not-found", "There is no such model that the edge computes.");
  }
  if (run.fresh) forgetNetwork(version, run.variant);
  const network = await loadNetwork(env, version, run.variant);
  const [input] = createSeededInputs(withRows(version.inputs, run.rows), run.seed);
  if (input === undefined) throw new ProblemError("internal", "A dense network without an input was stored.");
  const { sizeBytes, rowProducts } = network;
  const most = Math.floor(LIMITS.edgeRunProducts / (rowProducts * (input.shape[0] ?? 1)));
  if (run.repetitions > most) {
    throw new ProblemError("invalid-request", "That would keep the edge too long.", {
      errors: [{ pointer: "#/repetitions", message: `must be at most ${most}` }],
    });
  }
  let output = computeRows(network, input);
  for (let done = 1; done < run.repetitions; done++) output = computeRows(network, input);
  return { outputs: { [output.name]: tensorToJson(output) }, sizeBytes, rowProducts };
}
