/** `35 %` */
export function toPercent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
