import { clockOffsetMs, toShifted } from "./shifted-clock.ts";

/** An object's platform by the same clock: its alarms, and when it last heard of a socket. */
export function shiftPlatform(ctx: DurableObjectState): void {
  const { storage } = ctx;
  const [setAlarm, getAlarm] = [storage.setAlarm.bind(storage), storage.getAlarm.bind(storage)];
  const heardAt = ctx.getWebSocketAutoResponseTimestamp.bind(ctx);
  Object.assign(storage, {
    setAlarm: (at: number | Date) => setAlarm(Number(at) - clockOffsetMs()),
    getAlarm: async () => {
      const at = await getAlarm();
      return at === null ? null : at + clockOffsetMs();
    },
  });
  Object.assign(ctx, {
    getWebSocketAutoResponseTimestamp: (socket: WebSocket) => {
      const at = heardAt(socket);
      return at === null ? null : new Date(toShifted(at.getTime()));
    },
  });
}
