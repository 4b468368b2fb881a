/** What `find` gives for a key, found out once; a failure stays, too. */
export function onceByKey<Value>(
  known: Map<string, Promise<Value>>,
  key: string,
  find: () => Promise<Value>,
): Promise<Value> {
  const value = known.get(key) ?? find();
  known.set(key, value);
  return value;
}
