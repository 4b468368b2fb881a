/** Marks an emulated device: its figures say nothing about a GPU. */
export function SoftwareBadge() {
  return (
    <span class="software" title="An emulation on the CPU: its figures are never compared with those of a GPU">
      software
    </span>
  );
}
