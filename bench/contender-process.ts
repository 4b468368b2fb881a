/** Entry of a contender's process: `node contender-process.ts <module>`, forked with an IPC channel. */
import type { Contender, Entry } from "./contest.ts";
import type { Answer, Question } from "./process-contender.ts";

let entry: Entry | null = null;

async function answer(question: Question): Promise<unknown> {
  if (question.type === "measure") return entry?.measure();
  const { contender } = (await import(process.argv[2] ?? "")) as { contender: Contender<unknown> };
  entry = await contender(question.input);
  return entry.opened;
}

process.on("SIGINT", () => {}); // Ctrl-C reaches the whole group, and the parent decides.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
process.on("message", async (question: Question) => {
  const reply = await answer(question).then(
    (value): Answer => ({ ok: true, value }),
    (error: unknown): Answer => ({ ok: false, reason: error instanceof Error ? error.message : String(error) }),
  );
  process.send?.(reply);
});
