/** Takes values that are to be sent, as they come. */
interface LatestSender<Value> {
  /** Returns at once; a value that has not begun to be sent when the next one comes is dropped. */
  offer(value: Value): void;
  /** Once nothing is under way or waits. */
  settle(): Promise<void>;
}

/** Sends the latest of what is offered, one at a time. What cannot be sent is told and left: a later value may pass. */
export function sendLatest<Value>(
  send: (value: Value) => Promise<unknown>,
  onFailure: (error: unknown) => void,
): LatestSender<Value> {
  let waiting: { readonly value: Value } | null = null;
  let running: Promise<void> | null = null;
  const drain = async () => {
    while (waiting !== null) {
      const { value } = waiting;
      waiting = null;
      await send(value).catch(onFailure);
    }
    running = null;
  };
  return {
    offer(value) {
      waiting = { value };
      running ??= drain();
    },
    settle: async () => running ?? undefined,
  };
}
