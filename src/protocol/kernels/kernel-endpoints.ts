import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { idSchema } from "../wire/id.ts";
import { Leaderboard, LeaderboardQuery } from "./leaderboard.ts";
import { Name, PageQuery } from "../wire/page.ts";
import { StoredTuningRecord, TuningListQuery, TuningPage, TuningRecord } from "../jobs/tuning.ts";
import { KernelInput, KernelPage, SubmittedKernel } from "./submitted-kernel.ts";

const byKernelId = z.object({ id: idSchema("kernel") });
const byKernel = z.object({ kernel: Name.meta({ description: "Name of the kernel that all are compared by" }) });
const byTuningId = z.object({ id: idSchema("tuning") });

export const kernelEndpoints = {
  listTunings: defineEndpoint({
    method: "get",
    path: "/v1/tunings",
    tag: "kernels",
    summary: "What searches found to be fastest, by kernel and device, newest first",
    access: "read",
    query: TuningListQuery,
    reply: { status: 200, schema: TuningPage },
  }),
  getTuning: defineEndpoint({
    method: "get",
    path: "/v1/tunings/{id}",
    tag: "kernels",
    summary: "A tuning with every candidate that was tried",
    access: "read",
    params: byTuningId,
    reply: { status: 200, schema: StoredTuningRecord },
    problems: ["not-found"],
  }),
  fetchTuning: defineEndpoint({
    method: "get",
    path: "/v1/link/tunings/{id}",
    tag: "runners",
    summary: "The tuning of a key, as a runner: what another runner with the same fingerprint found",
    access: "runner",
    params: byTuningId,
    reply: { status: 200, schema: TuningRecord },
    problems: ["not-found"],
  }),
  submitKernel: defineEndpoint({
    method: "post",
    path: "/v1/kernels",
    tag: "kernels",
    summary: "Submit a kernel in WGSL, to be checked and timed on your runners",
    description:
      "It is stored unchecked, and a benchmark at its default sizes is queued where a runner can take it: " +
      "`checkJobId` names it. The same submission again gives the kernel that is there already, with status 200.",
    access: "submit",
    asksQueue: true,
    body: KernelInput,
    repeatable: "as-it-is",
    reply: { status: 201, schema: SubmittedKernel },
    problems: ["unknown-kernel", "conflict"],
  }),
  listKernels: defineEndpoint({
    method: "get",
    path: "/v1/kernels",
    tag: "kernels",
    summary: "The kernels that the registered runners announce, then the submitted ones, newest first",
    access: "read",
    query: PageQuery,
    reply: { status: 200, schema: KernelPage },
  }),
  getKernel: defineEndpoint({
    method: "get",
    path: "/v1/kernels/{id}",
    tag: "kernels",
    summary: "Describe a submitted kernel, with its WGSL",
    access: "read",
    params: byKernelId,
    reply: { status: 200, schema: SubmittedKernel },
    problems: ["not-found"],
  }),
  deleteKernel: defineEndpoint({
    method: "delete",
    path: "/v1/kernels/{id}",
    tag: "kernels",
    summary: "Delete a submitted kernel of one's own; its runs stay",
    access: "submit",
    params: byKernelId,
    reply: { status: 204 },
    problems: ["not-found", "conflict"],
  }),
  getLeaderboard: defineEndpoint({
    method: "get",
    path: "/v1/kernels/{kernel}/leaderboard",
    tag: "kernels",
    summary: "The kernels that do the work of this one, ranked by shape, device and clock",
    description: "Of each kernel, the run with the smallest median. Only outputs that were right are ranked.",
    access: "read",
    params: byKernel,
    query: LeaderboardQuery,
    reply: { status: 200, schema: Leaderboard },
    problems: ["not-found"],
  }),
} as const;
