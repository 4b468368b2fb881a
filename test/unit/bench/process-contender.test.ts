import { expect, test, vi } from "vitest";
import { inProcess } from "../../../bench/process-contender.ts";

/** Returns the number of its process as its output. */
const CONTENDER = `
  export const contender = async () => ({
    opened: { output: Float32Array.of(process.pid), adapter: null },
    measure: async () => ({ time: 1 }),
    close: async () => {},
  });
`;
const open = () => inProcess<null>(new URL(`data:text/javascript,${encodeURIComponent(CONTENDER)}`), {})(null);

test("a contender answers from a process of its own", async () => {
  const entry = await open();
  expect(entry.opened.output[0]).not.toBe(process.pid);
  await expect(entry.measure()).resolves.toEqual({ time: 1 });
  await entry.close();
});

test("one that ended between two rounds is reported at once", async () => {
  const entry = await open();
  const pid = entry.opened.output[0] ?? 0;
  process.kill(pid, "SIGKILL");
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"), 10_000);
  await expect(entry.measure()).rejects.toThrow("its process ended (SIGKILL)");
  await expect(entry.measure()).rejects.toThrow("its process ended (SIGKILL)");
  await entry.close();
});
