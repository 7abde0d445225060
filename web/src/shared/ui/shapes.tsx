// The ten answers' shapes. Colour is never the only difference: each answer has a shape and a letter too.

/** Paths in a box of 24, answers A to J. */
const PATHS = [
  "M12 3 22 21H2z",
  "M12 1 23 12 12 23 1 12z",
  "M12 2a10 10 0 1 1 0 20 10 10 0 0 1 0-20z",
  "M3 3h18v18H3z",
  "m12 1 3.4 7 7.6 1-5.5 5.3 1.4 7.7L12 18.3 5.1 22l1.4-7.7L1 9l7.6-1z",
  "M12 2 22.5 9.6 18.5 22h-13L1.5 9.6z",
  "M8 2h8v6h6v8h-6v6H8v-6H2V8h6z",
  "M6.5 2.5h11L23 12l-5.5 9.5h-11L1 12z",
  "M2 3h20L12 21z",
  "M16 2a10 10 0 1 0 6 14A8.5 8.5 0 0 1 16 2z",
];

export function Shape({ index }: { index: number }) {
  return (
    <svg class="shape" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[index % PATHS.length] ?? ""} fill="currentColor" />
    </svg>
  );
}

/** The coloured tile before an answer's text: shape and letter. */
export function Tile({ index, letter }: { index: number; letter: string | undefined }) {
  return (
    <span class={`tile t${index % PATHS.length}`}>
      <Shape index={index} />
      <b>{letter}</b>
    </span>
  );
}
