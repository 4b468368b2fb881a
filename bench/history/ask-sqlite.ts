import { DatabaseSync } from "node:sqlite";
import type { Contender } from "../contest.ts";
import type { Question } from "./questions.ts";
import { bindQuestion, flattenRows } from "./sample-sql.ts";
import { timeAnswers } from "./time-answers.ts";

/** Samples in SQLite within this process, without a server in between. */
export function askSqlite(file: string, sqlOf: (question: Question) => string): Contender<Question> {
  return async (question) => {
    const db = new DatabaseSync(file, { readOnly: true });
    const statement = db.prepare(sqlOf(question));
    const entry = await timeAnswers(async () => {
      return { percentiles: flattenRows(statement.all(...bindQuestion(question))), rowsRead: null };
    });
    return { ...entry, close: async () => db.close() };
  };
}
