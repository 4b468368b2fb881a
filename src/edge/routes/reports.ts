import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { ReportReply } from "../../protocol/report.ts";
import { searchLanded } from "../history/detect/detect-landed.ts";
import { storeReport } from "../history/store-report.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { jobQueue } from "../stubs.ts";
import { readReport } from "./read-report.ts";

export function bindReports(app: Hono<AppEnv>): void {
  bind(app, endpoints.reportPoints, async ({ c, env, principal, query }) => {
    const nowMs = Date.now();
    const report = await readReport(c.req.raw, query, nowMs);
    const stored = await storeReport(env, { ownerId: principal?.id ?? "", tool: query.format, report, nowMs });
    if (!stored.ok) throw new ProblemError(stored.problem.code, stored.problem.detail, stored.problem);
    const { run, series, created } = stored;
    if (created) {
      c.executionCtx.waitUntil(searchLanded(env, nowMs));
      // Whoever looks at the page sees it at once, or at its next reading.
      const announced = Promise.resolve(jobQueue(env).announce({ type: "history", id: null }, env.project));
      c.executionCtx.waitUntil(announced.catch(() => undefined));
    }
    const reply: ReportReply = { run, points: run.points, series };
    return Response.json(reply, { status: created ? 201 : 200, headers: { location: `/v1/runs/${run.id}` } });
  });
}
