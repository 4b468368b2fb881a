/** So that lists above and below a table stand beneath each other, too. */
const NAME_COLUMNS = 12;

/** Names and values, one a line, the values beneath each other. */
export function renderFacts(facts: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(NAME_COLUMNS, ...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `  ${name.padEnd(width)}  ${value}\n`).join("");
}
