/** How long the head of an answer may take behind the question's last byte: a half-open connection never gives one. */
const ANSWER_LIMIT_MS = 10_000;
/** What the slowest link that counts moves. */
const BYTES_PER_MS = 1_000;

type Question = Omit<RequestInit, "body"> & { readonly body?: Uint8Array<ArrayBuffer> };

/** A `fetch` that gives up where no answer begins in time for the size of what is sent; its body has the signal alone. */
export async function fetchInTime(url: URL, question: Question, signal: AbortSignal): Promise<Response> {
  const waiting = new AbortController();
  const limitMs = ANSWER_LIMIT_MS + (question.body?.byteLength ?? 0) / BYTES_PER_MS;
  const timer = setTimeout(() => waiting.abort(new Error(`no answer within ${Math.round(limitMs)} ms`)), limitMs);
  try {
    return await fetch(url, { ...question, signal: AbortSignal.any([signal, waiting.signal]) });
  } finally {
    clearTimeout(timer);
  }
}
