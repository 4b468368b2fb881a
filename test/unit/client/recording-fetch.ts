/** A fetch that answers from a script, in order, and keeps every request that it was given. */
export function createRecordingFetch(...answers: readonly ((request: Request) => Response | Promise<Response>)[]) {
  const requests: Request[] = [];
  const left = [...answers];
  const recordingFetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    requests.push(request.clone());
    const answer = left.shift();
    if (answer === undefined) throw new TypeError("fetch failed");
    return answer(request);
  };
  return { fetch: recordingFetch, requests };
}

/** An answer of JSON. */
export function json(body: unknown, status = 200, type = "application/json"): () => Response {
  return () => new Response(JSON.stringify(body), { status, headers: { "content-type": type } });
}

/** An answer of server-sent events that ends behind the last chunk, or stays open. */
export function events(chunks: readonly string[], { open = false } = {}): () => Response {
  return () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
        if (!open) controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}
