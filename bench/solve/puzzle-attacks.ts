/** Programs against "move the piece to where it fits". */
import type { Attack } from './attack.ts';

export const puzzleAttacks: readonly Attack<'puzzle'>[] = [
  {
    name: 'the middle of the picture',
    solve: ({ background, piece }) => ({
      finalX: Math.round((background.width - piece.width) / 2),
      finalY: Math.round((background.height - piece.height) / 2),
    }),
  },
];
