import type { PolicyDevice } from "../model-device.ts";
import {
  answerBatch,
  type CreatePolicy,
  EXPIRED,
  type Pending,
  type Policy,
  PROCESS_CLOCK,
  REFUSED,
} from "../policy.ts";

/** A plain server: one request at a time in order of arrival, whatever its budget. */
export const createFifo: CreatePolicy = (device, clock) => openQueue(device, false, clock);

/** The same with timeouts: a request whose budget has passed is dropped before it is computed. */
export const createFifoWithTimeouts: CreatePolicy = (device, clock) => openQueue(device, true, clock);

function openQueue(device: PolicyDevice, dropsLate: boolean, clock = PROCESS_CLOCK): Policy {
  let queue: Pending[] = [];
  let busy = false;

  async function drain(): Promise<void> {
    if (busy) return;
    busy = true;
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      if (dropsLate && clock.now() >= next.request.deadlineMs) next.reply(EXPIRED);
      else await answerBatch(device, [next]);
    }
    busy = false;
  }

  return {
    serve: (request) =>
      new Promise((reply) => {
        queue.push({ request, reply });
        void drain();
      }),
    reset() {
      for (const { reply } of queue) reply(REFUSED);
      queue = [];
    },
  };
}
