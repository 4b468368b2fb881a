/**
 * `node show-adapters.ts [cache folder]`: prints as JSON which adapters the installed drivers offer, and which one
 * opens; with a folder, those of the software GPU that is unpacked there. A program of its own, since drivers crash.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { isSoftwareAdapter } from "./host/hardware/device-names.ts";
import { listAdapters, openGpu } from "./devices/gpu/device.ts";
import { installSoftwareGpu } from "./devices/gpu/software-gpu.ts";

const [cacheDir] = process.argv.slice(2);
if (cacheDir === undefined) {
  const adapters = await listAdapters();
  const opened = await openGpu(() => {}).then(
    ({ adapter: { info } }) => ({
      name: info.device || info.architecture || info.vendor,
      driver: info.description,
      software: info.isFallbackAdapter || isSoftwareAdapter(`${info.device} ${info.description}`),
    }),
    () => null,
  );
  process.stdout.write(`${JSON.stringify({ adapters, opened })}\n`, () => process.exit(0));
} else {
  // The linker reads the software GPU's folder when a process starts.
  const environment = { ...process.env, ...(await installSoftwareGpu(cacheDir)) };
  const child = spawn(process.execPath, [import.meta.filename], { stdio: "inherit", env: environment });
  const [code] = (await once(child, "exit")) as [number | null];
  process.exitCode = code ?? 1;
}
