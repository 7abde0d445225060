// A bar of a class result. The figure stands beside it in the table's text; the bar only shows it.

/** `share` from 0 to 1 of the widest; `index` is the answer whose colour it has. */
export function Bar({ share, index }: { share: number; index: number }) {
  const width = Math.max(0, Math.min(1, share)) * 100;
  return (
    <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <rect width="100" height="10" fill="var(--line)" />
      <rect width={width} height="10" fill={`var(--a${index % 10})`} />
    </svg>
  );
}
