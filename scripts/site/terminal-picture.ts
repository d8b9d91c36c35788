/** Draws what a program printed, as a moving picture of a terminal: SVG with CSS animations. */

/** A line that a program printed. */
export interface PrintedLine {
  /** Seconds after the start. */
  readonly at: number;
  readonly text: string;
}

const columns = 110;
const rows = 22;
const [lineHeight, characterWidth, margin] = [20, 8.43, 16];
/** The longest pause that the picture keeps, and how long its end stays, in seconds. */
const [longestPause, endStays] = [1.2, 6];

/** Returns the lines as an SVG that plays in a loop. Readers who prefer no motion see the end. */
export function terminalPicture(printed: readonly PrintedLine[], title: string): string {
  let seconds = 0;
  let before = 0;
  const lines = printed.flatMap(({ at, text }) => {
    seconds += Math.min(at - before, longestPause);
    before = at;
    return wrapped(text).map((part) => ({ at: seconds, text: part }));
  });
  const total = seconds + endStays;
  const percent = (at: number): string => `${((100 * at) / total).toFixed(2)}%`;
  // Lines that appear at the same time scroll together.
  const scrolls = lines.flatMap(({ at }, index) =>
    index >= rows && lines[index + 1]?.at !== at ? [{ at, by: index - rows + 1 }] : [],
  );
  const last = Math.max(0, lines.length - rows);
  const frames = [{ at: 0, by: 0 }, ...scrolls, { at: total, by: last }];
  const times = [...new Set(lines.map(({ at }) => at))];
  const [width, height] = [columns * characterWidth + 2 * margin, rows * lineHeight + 2 * margin];
  const styles = [
    'text { font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d8dee9; white-space: pre }',
    `.all { transform: translateY(${-last * lineHeight}px) }`,
    '@media (prefers-reduced-motion: no-preference) {',
    `.all { animation: scroll ${total.toFixed(1)}s step-end infinite }`,
    `@keyframes scroll { ${frames.map(({ at, by }) => `${percent(at)} { transform: translateY(${-by * lineHeight}px) }`).join(' ')} }`,
    ...times.map(
      (at, index) =>
        `.t${index} { animation: a${index} ${total.toFixed(1)}s step-end infinite } @keyframes a${index} { 0% { opacity: 0 } ${percent(at)} { opacity: 1 } }`,
    ),
    '}',
  ];
  const drawn = lines.map(
    ({ at, text }, index) =>
      `<text class="t${times.indexOf(at)}" x="${margin}" y="${margin + (index + 0.75) * lineHeight}">${escaped(text)}</text>`,
  );
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">`,
    `<style>${styles.join('\n')}</style>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#1b1f27"/>`,
    `<svg x="0" y="${margin / 2}" width="${width}" height="${height - margin}" viewBox="0 ${margin / 2} ${width} ${height - margin}">`,
    `<g class="all">${drawn.join('\n')}</g>`,
    '</svg></svg>',
  ].join('\n')}\n`;
}

function wrapped(text: string): string[] {
  return text.match(new RegExp(`.{1,${columns}}`, 'gu')) ?? [''];
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
