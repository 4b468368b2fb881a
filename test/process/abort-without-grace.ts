import { vi } from "vitest";

/**
 * Aborts a call whose process may take as long as it needs to end it: the host's timer, by which it would kill the process,
 * never fires. A call that does not end by itself is waited for until the test's own limit.
 */
export function abortWithoutGrace(controller: AbortController): void {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  try {
    controller.abort();
  } finally {
    vi.useRealTimers();
  }
}
