/** Gives the reader a file to keep; what no disk takes in a name becomes a dash. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name.replaceAll(/[^A-Za-z0-9._-]+/g, "-");
  link.click();
  URL.revokeObjectURL(link.href);
}
