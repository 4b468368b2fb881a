/** Which file of which version, as a device's process knows it. */
export interface ServedVariant {
  readonly modelVersionId: string;
  readonly variant: string;
}

export function modelKeyOf({ modelVersionId, variant }: ServedVariant): string {
  return `${modelVersionId}/${variant}`;
}
