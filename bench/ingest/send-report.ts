import { endpoints } from "../../src/protocol/endpoints.ts";
import type { Target } from "../hop/start-stack.ts";
import type { IngestPoint } from "./point-batches.ts";

/** A batch as a report of its own: the body of `POST /v1/history/points`. */
export function toReport(run: string, batch: readonly IngestPoint[]): string {
  const measurements = batch.map(({ series, atMs, value }) => ({
    subject: `subject-${series}`,
    metric: "wallMs",
    unit: "ms",
    at: new Date(atMs).toISOString(),
    value,
  }));
  return JSON.stringify({ run, host: { cpu: "bench" }, measurements });
}

/** Sends a report; `known` where its run existed already. Throws where it is not acknowledged. */
export async function sendReport({ url, key }: Target, body: string): Promise<"stored" | "known"> {
  const reply = await fetch(new URL(endpoints.reportPoints.path, url), {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body,
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`status ${reply.status}: ${text}`);
  return reply.status === 200 ? "known" : "stored";
}
