/** Programs against the recording. */
import type { Attack } from './attack.ts';

export const audioAttacks: readonly Attack<'audio'>[] = [
  { name: 'always the same count', solve: ({ groups }) => ({ digits: '3'.repeat(groups) }) },
];
