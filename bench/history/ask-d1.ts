import type { Contender } from "../contest.ts";
import { bindQuestion, flattenRows, windowSql } from "./sample-sql.ts";
import type { Question } from "./questions.ts";
import type { D1Host } from "./start-d1.ts";
import { timeAnswers } from "./time-answers.ts";

/** Samples in D1 behind a Worker that only runs the SQL: the same database and the same way to it as ours. */
export function askD1(host: D1Host): Contender<Question> {
  return async (question) => {
    const request = { sql: windowSql(question), rows: [bindQuestion(question)], atOnce: false };
    return timeAnswers(async () => {
      const { results, rowsRead } = await host.run(request);
      return { percentiles: flattenRows(results), rowsRead };
    });
  };
}
