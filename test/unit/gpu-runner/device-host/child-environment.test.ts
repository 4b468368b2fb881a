import { expect, it } from "vitest";
import { childEnvironment } from "../../../../src/gpu-runner/device-host/device-child.ts";

it("gives a device's process everything but the runner's secrets, and the additions", () => {
  const own = {
    PATH: "/bin",
    MILLRACE_GPU: "auto",
    MILLRACE_TOKEN: "mt_secret",
    MILLRACE_KEY: "mk_secret",
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=secret",
  };
  expect(childEnvironment(own, { PATH: "/usr/bin", VK_DRIVER_FILES: "x" })).toEqual({
    PATH: "/usr/bin",
    MALLOC_TRIM_THRESHOLD_: "131072",
    MALLOC_MMAP_THRESHOLD_: "131072",
    MALLOC_PERTURB_: "85",
    VK_DRIVER_FILES: "x",
  });
});
