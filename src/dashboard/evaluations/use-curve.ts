import { useEffect, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { followJob } from "../../client/follow-job.ts";
import type { Job } from "../../protocol/job.ts";
import type { CurvePoint } from "../../protocol/training.ts";

/** Points that come faster than this are drawn together. */
const DRAWN_EVERY_MS = 200;

/** The learning curve of a training: its result's, and until there is one what its events tell, as they come. */
export function useCurve(client: Client, { id, result }: Pick<Job, "id" | "result">): readonly CurvePoint[] {
  const [told, setTold] = useState<readonly CurvePoint[]>([]);
  const kept = result?.kind === "training" ? result.curve : null;
  const hasEnded = kept !== null;
  useEffect(() => {
    if (hasEnded) return undefined;
    const abort = new AbortController();
    const points = new Map<number, CurvePoint>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = () => {
      timer = undefined;
      setTold([...points.values()].toSorted((a, b) => a.generation - b.generation));
    };
    const follow = async () => {
      for await (const { progress } of followJob(client, id, { signal: abort.signal })) {
        const point = progress?.point;
        if (point === undefined) continue;
        // An attempt that went on from a checkpoint tells some generations again.
        points.set(point.generation, point);
        timer ??= setTimeout(draw, DRAWN_EVERY_MS);
      }
    };
    // What the stream lost comes with the result.
    follow().catch(() => undefined);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [client, id, hasEnded]);
  return kept ?? told;
}
