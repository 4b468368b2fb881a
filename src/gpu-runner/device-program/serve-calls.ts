import { flushCompileCache } from "node:module";
import { ProblemError, reviveProblem, toProblem } from "../../protocol/wire/problem.ts";
import type {
  DeviceCall,
  DeviceCallContext,
  DeviceHandlers,
  DeviceReply,
  DeviceRequest,
} from "../device-host/messages.ts";
import type { UsedPipeline } from "../devices/gpu/pipeline-cache.ts";
import type { EpisodeResults, RollOutElsewhere } from "../rollout/population.ts";

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

/** Questions to the parent that are not answered yet. */
const questions = new Map<number, PromiseWithResolvers<EpisodeResults>>();
let lastQuestion = 0;

function askRollOut(id: number, request: Parameters<RollOutElsewhere>[0]): Promise<EpisodeResults> {
  const question = ++lastQuestion;
  const asked = Promise.withResolvers<EpisodeResults>();
  questions.set(question, asked);
  send({ type: "rollOut", id, question, request });
  return asked.promise.finally(() => questions.delete(question));
}

/** Answers one call: in every case, exactly one result or problem is sent. */
async function answer(handlers: DeviceHandlers, { id, name, input }: DeviceCall, signal: AbortSignal): Promise<void> {
  const context: DeviceCallContext = {
    signal,
    onProgress: (progress) => send({ type: "progress", id, progress }),
    onCheckpoint: (file) => send({ type: "checkpoint", id, file }),
    onRollOut: (request) => askRollOut(id, request),
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
    if (request.type === "answer") return questions.get(request.question)?.resolve(request.results);
    if (request.type === "refusal") return questions.get(request.question)?.reject(reviveProblem(request.problem));
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
