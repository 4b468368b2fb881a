import { LIMITS } from "../../../protocol/limits.ts";
import { VERSION } from "../../../protocol/version.ts";
import { signMessage } from "./sign-message.ts";

/** What came of a message: `gone` where the receiver wants none any more. */
export interface SendOutcome {
  readonly kind: "arrived" | "failed" | "gone";
  readonly text: string;
}

/** Sends a signed message once. Redirects are not followed, and nothing of the answer but its status is read. */
export async function sendMessage(
  { url, secret }: { readonly url: string; readonly secret: string },
  { id, body }: { readonly id: string; readonly body: string },
): Promise<SendOutcome> {
  const signature = await signMessage(secret, { id, body, sentAtMs: Date.now() });
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": `millrace/${VERSION}`, ...signature },
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(LIMITS.webhookTimeoutMs),
    });
    await response.body?.cancel().catch(() => {});
    const kind = response.ok ? "arrived" : response.status === 410 ? "gone" : "failed";
    return { kind, text: `answered ${response.status}` };
  } catch (error) {
    const isLate = error instanceof Error && error.name === "TimeoutError";
    return { kind: "failed", text: isLate ? `no answer in ${LIMITS.webhookTimeoutMs} ms` : "could not be reached" };
  }
}
