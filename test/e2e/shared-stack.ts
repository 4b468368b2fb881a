import { it as base } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { type LocalStack, startLocalStack } from "./local-stack.ts";

/** For `it.beforeAll(async ({ sharedStack }) => …)`: one stack with its runner; the files of a worker use it in turn. */
// oxlint-disable-next-line no-empty-pattern -- vitest reads the parameters to find what a fixture needs
export const it = base.extend("sharedStack", { scope: "worker" }, async ({}, { onCleanup }): Promise<LocalStack> => {
  const stack = await startLocalStack();
  onCleanup(() => stack.stop());
  return stack;
});

/**
 * A shared stack as a new and empty project sees it, whose admin key and client it has. Its `stop` closes the project
 * and leaves the stack running. With `lend`, the stack's runner works for the project until then.
 */
export async function openTenant(stack: LocalStack, { lend = true }: { lend?: boolean } = {}): Promise<LocalStack> {
  const { baseUrl, client, runnerId } = stack;
  const project = `tenant-${crypto.randomUUID()}`;
  await client.call(endpoints.createProject, { body: { name: project } });
  const { secret } = await client.call(endpoints.createKey, { body: { name: "test", scopes: ["admin"], project } });
  if (lend) await client.call(endpoints.shareRunner, { params: { id: runnerId } });
  return {
    ...stack,
    adminKey: secret,
    client: createClient({ baseUrl, key: secret }),
    stop: async () => {
      await client.call(endpoints.closeProject, { params: { name: project } });
      if (lend) await client.call(endpoints.unshareRunner, { params: { id: runnerId } });
    },
  };
}
