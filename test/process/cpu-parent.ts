/** Starts a device's process, prints its id, and waits to be killed. */
import { tmpdir } from "node:os";
import { pino } from "pino";
import { DeviceHost } from "../../src/gpu-runner/device-host/device-host.ts";

const host = await DeviceHost.start({
  role: "cpu",
  deviceKey: "cpu",
  cacheDir: tmpdir(),
  logger: pino({ level: "silent" }),
});
process.send?.(host.pid);
