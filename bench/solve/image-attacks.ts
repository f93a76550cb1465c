/** Programs against "choose all pictures that show a …". */
import type { Attack } from './attack.ts';

export const imageAttacks: readonly Attack<'image'>[] = [
  { name: 'always the same three tiles', solve: () => ({ selected: [0, 4, 8] }) },
  {
    name: 'every tile',
    solve: ({ columns, rows }) => ({ selected: Array.from({ length: columns * rows }, (_, at) => at) }),
  },
];
