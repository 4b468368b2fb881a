import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { judgeDrivers } from "../../../src/checkup/check-vulkan.ts";
import { listListeners } from "../../../src/checkup/find-holder.ts";
import {
  judgeDescriptors,
  judgeMemory,
  judgeProcessMemory,
  nameFolderFault,
  nameGpuFault,
} from "../../../src/checkup/judge-host.ts";
import { findProxy, judgeProxies } from "../../../src/checkup/proxy.ts";
import { judgeClock } from "../../../src/checkup/reach-edge.ts";
import { judgeCpu, judgeRoom } from "../../../src/cli/doctor/check-host.ts";
import { judgeNode } from "../../../src/cli/doctor/check-install.ts";
import { checkLink } from "../../../src/cli/doctor/check-link.ts";
import type { Patient } from "../../../src/cli/doctor/finding.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { plantEdge } from "../../plants/planted-edge.ts";

const MiB = 2 ** 20;

describe("the doctor judges", () => {
  it("Node by what npm needs", () => {
    const versions = ["v18.20.4", "v20.10.0", "v20.11.0", "v20.20.2", "v24.0.0", "bun"];
    expect(versions.map((version) => judgeNode(version, "node").state)).toEqual([
      "failure",
      "failure",
      "ok",
      "ok",
      "ok",
      "failure",
    ]);
  });

  it("a disk and a memory by what is left", () => {
    const rooms = [100, 256, 2_047, 2_048].map((free) => judgeRoom("/data", free * MiB).state);
    expect(rooms).toEqual(["failure", "warning", "warning", "ok"]);
    expect(judgeRoom("/data", 100 * MiB).found).toBe("/data: 100 MiB free");
    expect(judgeMemory(2_048 * MiB, 4_096 * MiB, 2_048 * MiB)).toBe(null);
    expect(judgeMemory(1_000 * MiB, 4_096 * MiB, 2_048 * MiB)?.found).toContain("1,000 of 4,096 MiB");
    expect([40, 96].map((limit) => judgeProcessMemory(limit * MiB)?.cause)).toEqual(["process-memory", undefined]);
  });

  it("open files by the limit in force, which comes first", () => {
    const limits = (text: string) => `Limit  Soft Limit  Hard Limit  Units\nMax open files  ${text}  1048576  files\n`;
    const faults = ["128", "1024", "65536", "unlimited"].map((text) => judgeDescriptors(limits(text), 4_096));
    expect(faults.map((fault) => fault && fault.isMild)).toEqual([undefined, true, null, null]);
    expect([limits("1024"), ""].map((text) => judgeDescriptors(text))).toEqual([null, null]);
  });

  it("a CPU by its instructions and its governor", () => {
    expect(judgeCpu("2 × Xeon", "flags\t\t: fpu avx avx2 fma\n", null).state).toBe("ok");
    expect(judgeCpu("4 × Cortex", "Features\t: fp asimd\n", "performance").state).toBe("ok");
    expect(judgeCpu("2 × Xeon", "flags : fpu avx2\n", "powersave").advice).toContain("cpupower");
    expect(judgeCpu("1 × Atom", "flags : fpu sse4_2\n", null).found).toContain("no AVX2");
  });

  it("a clock only by what is certain of it", () => {
    expect(judgeClock(-1_500, 500)).toBe(null);
    expect(judgeClock(5_000, 500)).toMatchObject({ isMild: true, found: expect.stringContaining("5 s behind the") });
    const ahead = judgeClock(-90_000, 500);
    expect([ahead?.found, ahead?.isMild]).toEqual(["This machine's clock is 90 s ahead of the edge's", undefined]);
    // A reply that took a minute says nothing.
    expect(judgeClock(30_000, 30_500)).toBe(null);
  });

  it("Vulkan by drivers, loader and what the kernel found", () => {
    const sight = { override: null, drivers: [], hasLoader: true, board: null };
    const sound = { path: "/usr/share/vulkan/icd.d/intel.json", fault: null };
    const broken = { path: "/etc/vulkan/icd.d/nvidia.json", fault: "names libGLX_nvidia.so.0, which is not there" };
    expect(judgeDrivers(sight)).toMatchObject({ cause: "vulkan-none", isMild: true });
    expect(judgeDrivers({ ...sight, board: "/dev/dri/renderD128" })).toMatchObject({
      cause: "vulkan-missing",
      advice: expect.stringContaining("container"),
    });
    expect(judgeDrivers({ ...sight, drivers: [sound] })).toBe(sound.path);
    expect(judgeDrivers({ ...sight, drivers: [sound], hasLoader: false })).toMatchObject({
      found: expect.stringContaining("libvulkan.so.1"),
    });
    expect(judgeDrivers({ ...sight, drivers: [sound, broken] })).toMatchObject({ isMild: true });
    expect(judgeDrivers({ ...sight, drivers: [broken] })).toMatchObject({
      cause: "vulkan-driver",
      found: expect.stringContaining("libGLX_nvidia.so.0"),
    });
    expect(judgeDrivers({ ...sight, override: "VK_DRIVER_FILES" })).toMatchObject({
      found: expect.stringContaining("VK_DRIVER_FILES names no"),
    });
  });

  it("what stands in for a GPU", () => {
    expect(nameGpuFault(null, "swiftshader")).toMatchObject({ cause: "gpu-software", isMild: true });
    expect(nameGpuFault("it crashes (SIGSEGV)", "swiftshader").found).toBe(
      "The GPU's driver fails: it crashes (SIGSEGV); in its stead the software GPU swiftshader",
    );
    expect(nameGpuFault(null, null, "it hangs").found).toBe("There is no GPU, and no software GPU either: it hangs");
  });

  it("a folder by the error of its file system", () => {
    const causeOf = (code: string) => nameFolderFault({ code, message: code }, "/data", "--data-dir").cause;
    expect(["ENOSPC", "EDQUOT", "EROFS", "EACCES", "ENOTDIR"].map(causeOf)).toEqual([
      "disk-full",
      "disk-full",
      "read-only",
      "not-yours",
      "folder",
    ]);
  });

  it("which proxy a request takes, as Node chooses it", () => {
    const environment = {
      https_proxy: "http://a:1",
      HTTPS_PROXY: "http://b:2",
      HTTP_PROXY: "http://c:3",
      NO_PROXY: "near.example, .lab.example,far.example:8443",
    };
    const hostOf = (url: string, variables: object = environment) =>
      findProxy(new URL(url), { ...variables })?.url.host ?? null;
    const urls = ["https://x.example", "http://x.example", "wss://x.example", "http://127.0.0.1:8787", "http://[::1]"];
    expect(urls.map((url) => hostOf(url))).toEqual(["a:1", "c:3", "a:1", null, null]);
    const exempt = ["https://near.example", "https://a.lab.example", "https://far.example:8443", "https://far.example"];
    expect(exempt.map((url) => hostOf(url))).toEqual([null, null, null, "a:1"]);
    expect(hostOf("https://x.example", { HTTP_PROXY: "http://c:3" })).toBe("c:3");
    expect(hostOf("https://x.example", { HTTPS_PROXY: "http://c:3", no_proxy: "*" })).toBe(null);
  });

  it("a proxy's variable without its password, and goes on without it", () => {
    const proxyOf = (HTTP_PROXY: string) => findProxy(new URL("http://x.example"), { HTTP_PROXY })?.url.href ?? null;
    for (const text of ["corp:3128", "http://corp:3128", "user:s@cret@corp:3128"]) {
      expect(judgeProxies({ HTTP_PROXY: text })).toBe(null);
      expect(proxyOf(text)).toContain("corp:3128/");
    }
    for (const text of ["socks5://user:s@cret@corp:1080", "user:secret@corp:no-port", "http://us%zzer:secret@corp"]) {
      const fault = judgeProxies({ HTTP_PROXY: text });
      expect(fault?.found).toMatch(/^HTTP_PROXY names no proxy that speaks http: corp/);
      expect(JSON.stringify(fault)).not.toMatch(/us.*er:|cret/);
      expect(proxyOf(text)).toBe(null);
    }
    const environment = { http_proxy: "socks5://corp", HTTP_PROXY: "http://good:1" };
    expect(findProxy(new URL("http://x.example"), environment)?.variable).toBe("HTTP_PROXY");
  });

  it("a WebSocket's way with a credential that the edge knows, and not at all without", async () => {
    const runnerDir = await mkdtemp(join(tmpdir(), "millrace-doctor-"));
    const stateAt = async (link: "stripped" | "unknown" | undefined, credentialOf: (url: string) => string | null) => {
      await using edge = await plantEdge(link === undefined ? {} : { link });
      const edgeUrl = credentialOf(edge.url);
      const stored = { edgeUrl, linkUrl: "ws://x", runnerId: createId("runner"), credential: "mc_planted" };
      await writeFile(join(runnerDir, "credential.json"), edgeUrl === null ? "" : JSON.stringify(stored));
      return (await checkLink({ edgeUrl: edge.url, runnerDir, environment: {}, fetch } as unknown as Patient)).state;
    };
    expect(await stateAt("stripped", () => null)).toBe("skipped");
    expect(await stateAt("stripped", () => "http://other.example")).toBe("skipped");
    expect(await stateAt("unknown", (url) => url)).toBe("skipped");
    expect(await stateAt("stripped", (url) => `${url}/`)).toBe("failure");
    expect(await stateAt(undefined, (url) => `${url}/`)).toBe("ok");
    await rm(runnerDir, { recursive: true });
  });

  it("who listens by the kernel's table", () => {
    const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2253 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12345 1 0 100 0 0 10 0
   1: 0100007F:2253 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 23456 1 0 100 0 0 10 0
   2: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 34567 1 0 100 0 0 10 0`;
    expect(listListeners(table, 8_787)).toEqual(["12345"]);
    expect(listListeners(table, 80)).toEqual(["34567"]);
  });
});
