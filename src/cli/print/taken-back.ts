/** How a command that changes one thing ends: with the command that takes the change back. */
import { printable } from './printable.ts';

export interface TakenBack {
  /** As it is typed. Absent where nothing was changed. */
  takeBack?: string | undefined;
}

export function takeBackLines({ takeBack }: TakenBack): string[] {
  return takeBack === undefined ? [] : [printable(`Take it back with: ${takeBack}`)];
}
