/** Names and values, one a line, the values beneath each other. */
export function renderFacts(facts: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(0, ...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `  ${name.padEnd(width)}  ${value}\n`).join("");
}
