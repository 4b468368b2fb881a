/** Tells a person how far a table is: over the same line on a terminal, once a table elsewhere. */
export function showProgress(verb: string, name: string, done: number, total: number): void {
  const isEnd = done === total;
  const text = `${verb} ${name.padEnd(20)} ${done.toLocaleString("en")} of ${total.toLocaleString("en")}`;
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}${isEnd ? "\n" : ""}`);
  else if (isEnd) process.stderr.write(`${text}\n`);
}
