/**
 * What a token of each level costs a person or a program, in works of the site's `powDifficulty`. A level is a price
 * and no proof of a person: a network that trained for minutes reads pictures and recordings
 * (docs/threat-model.md). So the price of level 2 is work as well. A part of it comes before the picture, and the rest
 * runs while the visitor looks at it. Without pictures, a suspicious visitor works as much at once.
 */
export const levelPrices = [0, 1, 4] as const;

export const POW_DIFFICULTY_MAX = 10;

/** The `powDifficulty` of the work that runs beside a picture. */
export function besideDifficulty(powDifficulty: number): number {
  return Math.min(POW_DIFFICULTY_MAX, powDifficulty + stepsTo(levelPrices[2] - levelPrices[1]));
}

/** Difficulty of the work that is still due where the price is `powDifficulty` and work of difficulty `done` is solved. */
export function restDifficulty(powDifficulty: number, done: number): number {
  const rest = 2 ** (powDifficulty / 1.5) - 2 ** (done / 1.5);
  return Math.max(1, stepsTo(rest));
}

/** What a work costs more that stands for a picture, as `powDifficulty`. */
export const INSTEAD_OF_PICTURES_DIFFICULTY = stepsTo(levelPrices[2]);

/** How much `powDifficulty` rises for at least so many times the squarings, in half steps: 1.5 double them. */
function stepsTo(times: number): number {
  return Math.ceil(3 * Math.log2(times)) / 2;
}
