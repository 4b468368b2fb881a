import { type ProblemCode, ProblemError } from "../../protocol/problem.ts";
import type { Tensor } from "../../protocol/tensor.ts";
import type { DeviceFleet, FleetDevice } from "../device-fleet.ts";
import type { Answer, ServerRequest } from "./inference-server.ts";
import type { ModelLoader } from "./model-loader.ts";

/** Problems of a device that another one need not have. */
const DEVICE_FAILURES: ReadonlySet<ProblemCode> = new Set(["device-lost", "out-of-memory"]);

/**
 * Answers a request on the device that it was placed on. Where that device is down or fails, ONNX
 * Runtime answers on the CPU, and the answer says so among its faults. Once the signal is aborted it is
 * not begun any more: throws `budget-exceeded`.
 */
export async function serveRequest(
  { fleet, models }: { fleet: Pick<DeviceFleet, "find" | "cpu">; models: Pick<ModelLoader, "ensureReady"> },
  request: ServerRequest & { readonly deviceKey: string },
  tensors: readonly Tensor[],
  arrivedMs: number,
  signal: AbortSignal,
): Promise<Answer> {
  const serveOn = async ({ host, server }: FleetDevice): Promise<Answer> => {
    const { joins, configuration } = await models.ensureReady(request, host);
    if (signal.aborted) throw new ProblemError("budget-exceeded", "The request ended before it began.");
    signal.addEventListener("abort", () => server.cancel(request.requestId), { once: true });
    return server.serve({ ...request, ...configuration, joins, signal }, tensors, arrivedMs);
  };
  const placed = fleet.find(request.deviceKey);
  if (placed === fleet.cpu) return serveOn(placed);
  try {
    if (placed.host.isDown) throw new ProblemError("device-lost", `The device ${request.deviceKey} is started again`);
    return await serveOn(placed);
  } catch (error) {
    if (!(error instanceof ProblemError) || !DEVICE_FAILURES.has(error.problem.code)) throw error;
    const { code, detail } = error.problem;
    const answer = await serveOn(fleet.cpu);
    return { ...answer, faults: [{ code, detail, action: "cpu-backend" }, ...(answer.faults ?? [])] };
  }
}
