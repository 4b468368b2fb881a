/** An option that may be given several times, each value read by itself. */
export function collect<Value>(read: (text: string) => Value) {
  return (text: string, before: readonly Value[] = []): Value[] => [...before, read(text)];
}
