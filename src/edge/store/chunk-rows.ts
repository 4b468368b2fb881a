/** A bound parameter of D1 may hold 2 MB; a character of JSON may take three bytes. */
const CHUNK_LENGTH = 600_000;

/** Rows as texts of JSON arrays for `json_each`, each short enough for one parameter. */
export function chunkRows(rows: readonly unknown[]): string[] {
  const chunks: string[] = [];
  let open: string[] = [];
  let length = 0;
  for (const row of rows) {
    const text = JSON.stringify(row);
    if (open.length > 0 && length + text.length > CHUNK_LENGTH) {
      chunks.push(`[${open.join()}]`);
      open = [];
      length = 0;
    }
    open.push(text);
    length += text.length + 1;
  }
  if (open.length > 0) chunks.push(`[${open.join()}]`);
  return chunks;
}
