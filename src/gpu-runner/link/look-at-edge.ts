import { judgeClock, type Reached, reachEdge } from "../../checkup/reach-edge.ts";
import type { Troubles } from "../host/troubles.ts";

/** Asks the edge how it is, and tells what is wrong with this machine's clock. */
export async function lookAtEdge(edgeUrl: string, troubles: Troubles): Promise<Reached> {
  const reached = await reachEdge(edgeUrl, { environment: process.env });
  if (reached.kind === "fault" || reached.aheadMs === null) return reached;
  const clock = judgeClock(reached.aheadMs, reached.withinMs);
  if (clock === null) troubles.ended("clock");
  else troubles.tell(clock, "clock");
  return reached;
}
