import { flushCompileCache } from "node:module";
import { ProblemError, toProblem } from "../../protocol/wire/problem.ts";
import type { DeviceCall, DeviceHandlers, DeviceReply, DeviceRequest } from "../device-host/messages.ts";
import type { UsedPipeline } from "../devices/gpu/pipeline-cache.ts";
import type { CallContext } from "../devices/progress.ts";

/** Ways for a device process to reach its parent, besides answering calls. */
export interface DeviceProcess {
  /**
   * Ends this process even where a driver's thread hangs, for which an orderly exit would wait. SIGTERM keeps its
   * default action for the same reason.
   */
  readonly die: (reason: unknown) => never;
  /** Reports a pipeline that was wanted, so that a next life can compile it before a call needs it. */
  readonly noteUsed: (pipeline: UsedPipeline) => void;
}

function die(reason: unknown): never {
  console.error(reason);
  process.kill(process.pid, "SIGKILL");
  throw reason;
}

function send(reply: DeviceReply): void {
  // A parent that has gone receives nothing; `disconnect` then ends this process.
  if (process.connected) process.send?.(reply);
}

/** Answers one call: in every case, exactly one result or problem is sent. */
async function answer(handlers: DeviceHandlers, { id, name, input }: DeviceCall, signal: AbortSignal): Promise<void> {
  const context: CallContext = {
    signal,
    onProgress: (progress) => send({ type: "progress", id, progress }),
    onCheckpoint: (file) => send({ type: "checkpoint", id, file }),
  };
  try {
    const output = await handlers[name](input as never, context);
    send({ type: "result", id, output });
  } catch (error) {
    // An error without a code is our mistake: its text stays on this machine.
    if (!(error instanceof ProblemError)) console.error(error);
    send({ type: "problem", id, problem: toProblem(error) });
  }
}

/** Makes this process, forked with an IPC channel, a device process: it answers calls until its parent goes away or kills it. */
export function serveCalls(open: (self: DeviceProcess) => Promise<DeviceHandlers>): void {
  process.on("SIGINT", () => {}); // Ctrl-C reaches the whole group, and the parent decides.
  process.on("disconnect", () => die("the parent has gone"));
  process.on("uncaughtException", die);

  const handlers = open({ die, noteUsed: (pipeline) => send({ type: "used", pipeline }) });
  // A device that cannot be opened fails each call. Otherwise the cache is written only at an orderly end.
  handlers.then(
    () => flushCompileCache(),
    () => {},
  );
  const running = new Map<number, AbortController>();

  process.on("message", async (request: DeviceRequest) => {
    if (request.type === "abort") {
      running.get(request.id)?.abort();
      return;
    }
    const controller = new AbortController();
    running.set(request.id, controller);
    try {
      await answer(await handlers, request, controller.signal);
    } catch (error) {
      send({ type: "problem", id: request.id, problem: toProblem(error) });
    } finally {
      running.delete(request.id);
    }
  });
}
