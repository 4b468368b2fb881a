import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { ListedKernel } from "../../protocol/kernels/submitted-kernel.ts";
import { listAll } from "../../client/list-all.ts";

/** The announced kernels, then the submitted ones, newest first. */
export function listKernels(client: Client): Promise<ListedKernel[]> {
  return Array.fromAsync(listAll(client, endpoints.listKernels, { query: { limit: 200 } }));
}

/** A kernel as a job names it: an announced one by its name, a submitted one by its id, with its element type. */
export async function findKernel(
  client: Client,
  wanted: string,
): Promise<{ readonly kernel: string; readonly dtype?: ListedKernel["dtypes"][number] }> {
  const kernels = await listKernels(client);
  const announced = kernels.find(({ name, source }) => source === "announced" && name === wanted);
  if (announced !== undefined) return { kernel: announced.name };
  const submitted = kernels.find(({ name, id }) => id === wanted || name === wanted);
  const [dtype] = submitted?.dtypes ?? [];
  if (submitted?.id !== undefined) return { kernel: submitted.id, ...(dtype !== undefined && { dtype }) };
  const where =
    kernels.length === 0 ? "no runner has connected yet" : "`millrace kernels list` has those that there are";
  throw new ProblemError("unknown-kernel", `There is no kernel ${wanted}: ${where}.`);
}
