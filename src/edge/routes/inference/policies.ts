import type { Hono } from "hono";
import { endpoints } from "../../../protocol/endpoints.ts";
import type { ActReply } from "../../../protocol/policies/policy.ts";
import { invalidRequest } from "../../../protocol/wire/parse-input.ts";
import { callerOf } from "../../http/auth.ts";
import { type AppEnv, bind } from "../../http/bind.ts";
import { act, decide, locatePolicy } from "./act.ts";
import { checkRefusals, openPolicyStream } from "./policy-stream.ts";

/** Policies with observations and actions: models that take the path of every inference. */
export function bindPolicies(app: Hono<AppEnv>): void {
  bind(app, endpoints.actPolicy, async (call): Promise<ActReply> => {
    const { params, body } = call;
    const observations = body.observations ?? [body.observation ?? []];
    const pointerOf = (index: number) =>
      body.observations === undefined ? "#/observation" : `#/observations/${index}`;
    const version = await locatePolicy(call, params.id);
    const { inference, outputs } = await act(call, version, observations, pointerOf, body);
    const seed = body.seed ?? drawSeed();
    const actions = outputs.map((each, index) => decide(body.action, each, seed, index));
    const [action] = actions;
    const reply = { ...inference.reply, ...(body.action === "sample" && { seed }) };
    return body.observations === undefined && action !== undefined ? { ...reply, action } : { ...reply, actions };
  });

  bind(app, endpoints.streamPolicy, async (call) => {
    const { c, env, params, query, scope } = call;
    if (c.req.header("upgrade")?.toLowerCase() !== "websocket") {
      throw invalidRequest([{ pointer: "header/upgrade", message: "must be websocket" }]);
    }
    checkRefusals(env.project);
    const version = await locatePolicy(call, params.id);
    const { action, seed = drawSeed(), ...wishes } = query;
    const trace = scope?.context ?? null;
    const stream = { project: env.project, version, action, seed, wishes, trace };
    return openPolicyStream(env, callerOf(c.req.raw), stream);
  });
}

function drawSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]!;
}
